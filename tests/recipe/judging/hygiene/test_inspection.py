"""The grader's side of an inspection: nothing that a worker does is a pass but an answer that is one."""

import os
import sys
from pathlib import Path

import pytest
from recipe.hygiene.answers import CLEAN

from overclock.recipe.judging.hygiene import Limits, inspect_candidate, inspector_spec
from overclock.recipe.judging.hygiene.inspection import inspect_through
from overclock.verify.sides.subject import SubjectSpec

BABBLE = """
import os

for stream in range(3, 20):
    try:
        os.write(stream, b"x" * 99)
    except OSError:
        pass
"""


def rules(findings) -> set[str]:
    return {finding.rule for finding in findings}


def test_a_worker_with_a_clean_answer_passes():
    tests = str(Path(__file__).parents[3])
    spec = SubjectSpec("recipe.hygiene.answers:Fine").with_environment(PYTHONPATH=os.pathsep.join([tests, *sys.path]))
    assert inspect_candidate(spec) == []


@pytest.mark.parametrize("env", ["import os\nos._exit(0)", "import sys\nsys.exit(0)"], ids=["_exit", "exit"])
def test_a_worker_that_ends_has_failed_whatever_its_exit_code(candidate, env):
    (finding,) = inspect_candidate(inspector_spec(candidate(env=env)))
    assert finding.rule == "worker"
    assert "ended during `inspect`" in finding.sentence


def test_a_worker_that_babbles_has_failed(candidate):
    (finding,) = inspect_candidate(inspector_spec(candidate(env=BABBLE)))
    assert finding.rule == "worker"


def test_a_worker_that_hangs_has_failed(candidate):
    spec = inspector_spec(candidate(env="import time\ntime.sleep(600)"))
    (finding,) = inspect_candidate(spec, timeout=6.0)
    assert finding.rule == "worker"
    assert "no answer within 6 s" in finding.sentence


def test_an_answer_that_we_cannot_even_read_is_a_failure(candidate, monkeypatch):
    def unreadable(*_):
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    monkeypatch.setattr("overclock.recipe.judging.hygiene.inspection.ProcessSubject", unreadable)
    assert rules(inspect_candidate(inspector_spec(candidate()))) == {"worker"}


class Liar:
    """A worker that answers as it likes."""

    def __init__(self, report, *clocks):
        self.answers = {"inspect": [report], "clock": list(clocks)}

    def ask(self, call):
        return self.answers[call].pop(0)


NOW = [5.0] * 3


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        (NOW, [95.0] * 3, "clock"),
        (NOW, [5.0, 5.0, -95.0], "clock"),
        (NOW, [float("nan")] * 3, "clock"),
        (NOW, [float("inf")] * 3, "clock"),
        (NOW, [5.0], "answer"),
        (NOW, None, "answer"),
        (NOW, ["now"] * 3, "answer"),
        ([True] * 3, NOW, "answer"),
    ],
)
def test_clocks_must_agree_with_ours(before, after, rule):
    assert rules(inspect_through(Liar(CLEAN, before, after), Limits())) == {rule}


def test_a_clock_that_stands_while_ours_runs_is_seen(monkeypatch):
    for seconds, expected in ((0.5, set()), (10.0, {"clock"})):
        moments = iter([0.0, 0.1, 0.1 + seconds, 0.2 + seconds])
        monkeypatch.setattr(
            "overclock.recipe.judging.hygiene.inspection.time.monotonic", lambda moments=moments: next(moments)
        )
        assert rules(inspect_through(Liar(CLEAN, NOW, NOW), Limits())) == expected


def test_what_an_answer_says_is_not_lost_beside_the_clocks():
    found = inspect_through(Liar({**CLEAN, "tampered": ["time.time"]}, NOW, [95.0] * 3), Limits())
    assert rules(found) == {"clock", "tampering"}
