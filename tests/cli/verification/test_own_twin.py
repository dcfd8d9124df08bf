"""`overclock verify` of a user's own twin: importing it cannot end the command, nor print into its JSON."""

import json

import pytest

from overclock.cli import main

ENDS = "import os\nos._exit(0)\n"
PRINTS = "import os\nprint('splash')\nos.write(1, b'splash')\ndef twin():\n    return 3\n"


@pytest.mark.parametrize(
    ("text", "code", "sentence"), [(ENDS, 4, "ended its own process"), (PRINTS, 2, "returns a int")]
)
def test_a_twin_that_ends_the_process_or_prints_is_one_sentence(tmp_path, capfd, text, code, sentence):
    (tmp_path / "twin.py").write_text(text)
    assert main(["verify", str(tmp_path), "--json", "--output", str(tmp_path / "page")]) == code
    assert sentence in json.loads(capfd.readouterr().out)["error"]
