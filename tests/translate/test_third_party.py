"""The list of other people's environments is complete: every row is pinned, and says what is expected and why."""

import importlib.util
import re
import tomllib
from pathlib import Path

ROWS = tomllib.loads((Path(__file__).parent / "third_party.toml").read_text())["environment"]
ENOUGH = 20  # of the survey's that must translate
PINNED = re.compile(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*")


def script():
    path = Path(__file__).parents[2] / "scripts" / "third_party.py"
    spec = importlib.util.spec_from_file_location("third_party", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rows_have_names_of_their_own_and_pinned_versions():
    assert len({row["name"] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert all(PINNED.fullmatch(one) for one in (row["package"], *row.get("needs", ()))), row["name"]


def test_enough_translate_and_the_others_say_why_not():
    assert sum(row["expected"] == "translated" for row in ROWS) >= ENOUGH
    assert all(row.get("because") for row in ROWS if row["expected"] != "translated")


def test_a_refusal_for_another_reason_is_not_as_expected():
    as_expected = script().as_expected
    row = {"expected": "refused", "because": "a dict", "found": "refused"}
    assert as_expected({**row, "reason": "env.py:3: a dict has a key only sometimes"})
    assert not as_expected({**row, "reason": "env.py:3: np.unique"})
    assert not as_expected({**row, "found": "translated"})


def test_what_is_installed_is_known_in_any_spelling():
    normal = script().normal
    assert normal("gymnasium_2048==0.1.2") == normal("Gymnasium-2048==0.1.2")
    assert normal("popgym==1.0.7") != normal("popgym==1.0.6")
