"""`scripts/short_docstrings.py` finds docstrings that repeat a name, and `--check` fails on them."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts/short_docstrings.py"


def checked(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--check", folder], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout


def test_short_docstrings_are_listed_with_their_place(tmp_path):
    (tmp_path / "a.py").write_text('"""A module with enough words."""\n\n\ndef f():\n    """Does f for you."""\n')
    code, said = checked(tmp_path)
    assert code == 1
    assert said.splitlines()[0] == f"{tmp_path}/a.py:4: Does f for you."


def test_other_docstrings_and_none_pass(tmp_path):
    (tmp_path / "a.py").write_text('def f():\n    """Return what f is for."""\n\n\ndef g():\n    pass\n')
    assert checked(tmp_path) == (0, "")
