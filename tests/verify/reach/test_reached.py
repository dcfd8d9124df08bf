"""What a ledger and a contract's excuses say together."""

import pytest

from overclock.errors import UsageError
from overclock.verify.reach.excuse import Excuse
from overclock.verify.reach.ledger import Ledger, Outcome, Seen, SeenOutcome
from overclock.verify.reach.reached import NO_PYTHON, NOT_OFFERED, reached, reached_lines

PLACE = {"file": "game/rules.py", "condition": "x > 3", "function": "Game.step"}


def seen(*taken, line=7):
    """Of `x > 3` on a line, with these outcomes taken."""
    outcomes = [Outcome("game/rules.py", line, "x > 3", said, "Game.step") for said in ("is true", "is false")]
    return Seen([SeenOutcome(one, one.outcome in taken) for one in outcomes], [], visible=True)


def ledger(*taken):
    """The ledger of one process that saw that on line 7."""
    found = Ledger()
    found.add(seen(*taken))
    return found


def excuse(outcome="is true", **other):
    return Excuse(**{**PLACE, "outcome": outcome, "reason": "nobody has four", **other})


def test_what_no_comparison_took_is_listed_with_its_place():
    found = reached(ledger("is false"))
    assert not found.complete
    assert reached_lines(found) == ["not reached: game/rules.py:7 `x > 3` is true (in Game.step)"]


def test_an_excuse_takes_it_off_the_list_and_shows_its_reason():
    found = reached(ledger("is false"), [excuse()])
    assert found.complete
    assert reached_lines(found) == ["excused: game/rules.py:7 `x > 3` is true (in Game.step): nobody has four"]


def test_an_excuse_for_what_was_taken_is_a_warning():
    found = reached(ledger("is false", "is true"), [excuse()])
    assert found.complete
    assert "is not needed: a comparison took it" in reached_lines(found)[0]


@pytest.mark.parametrize("wrong", [{"file": "rules.py"}, {"function": "step"}, {"condition": "x > 4"}, {"line": 8}])
def test_an_excuse_that_fits_no_branch_is_no_excuse(wrong):
    found = reached(ledger("is false"), [excuse(**wrong)])
    assert not found.complete
    assert len(found.missing) == 1
    assert "fits no branch of the code that ran" in found.unusable[0]


def test_an_excuse_speaks_of_one_place():
    found = ledger("is false")
    found.add(seen("is false", line=9))
    assert "fits lines 7, 9" in reached(found, [excuse()]).unusable[0]
    assert len(reached(found, [excuse(line=7)]).missing) == 1


@pytest.mark.parametrize("missing", ["reason", "file", "function", "condition", "outcome"])
def test_an_excuse_needs_a_place_and_a_reason(missing):
    with pytest.raises(UsageError, match=missing):
        excuse(**{missing: " "})


def test_a_reference_without_python_is_said_to_be_so_and_nothing_is_missing():
    compiled = Ledger()
    assert (reached(compiled).sentence, reached(compiled).complete) == (NOT_OFFERED, True)
    compiled.add(Seen([], [], visible=False))
    assert (reached(compiled).sentence, reached(compiled).complete) == (NO_PYTHON, True)
