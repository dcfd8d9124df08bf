"""The judge: candidates that do harm are stopped and have failed with a sentence, and this machine goes on."""

import contextlib
import dataclasses
import tempfile
import time
from pathlib import Path

import pytest
from recipe.story import SURVIVES, TRUTH

from overclock.recipe.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judge import Judge, without_derived
from overclock.recipe.new import new_project
from overclock.recipe.project import Judging, Limits
from overclock.verify.process import CouldNotVerifyError

MAKE = "def make() -> tuple[CartPole, CartPoleParams]:\n"
# Each does its harm when the candidate is used, past anything that reads its text: the judge must not rely on hygiene.
HANG = TRUTH.replace(MAKE, f"{MAKE}    while True:\n        pass\n")
FORK = TRUTH.replace(MAKE, f"{MAKE}    import os, time\n    [os.fork() for _ in range(9)]\n    time.sleep(60)\n")
HOG = TRUTH.replace(MAKE, f"{MAKE}    hoard = [bytearray(1 << 26) for _ in range(1 << 10)]\n")
CRASH = TRUTH.replace(MAKE, f"{MAKE}    import os\n    os._exit(0)\n")
LIES = TRUTH.replace("return state.state.astype(jnp.float32)", "return state.state.astype(jnp.float32)[:3]")


def frozen(text):
    files = {"env.py": text.encode()}
    return Frozen(tree_hash(files), files)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    folder = tmp_path_factory.mktemp("judged") / "cartpole"
    limits = Limits(timeout=30.0, memory_gib=2.0)
    return new_project(folder, "gymnasium:CartPole-v1", "jax", limits=limits, judging=Judging(episodes=2)).project


@pytest.fixture(scope="module")
def judge(project, tmp_path_factory):
    return Judge(project, project.scenarios, tmp_path_factory.mktemp("run") / "repro")


def running(folder):
    """Processes that were started for something in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(folder).encode() in place.read_bytes():
                found.append(place.parent.name)
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [(HANG, "gave no answer within"), (FORK, "stopped: more than"), (HOG, "memory"), (CRASH, "ended")],
    ids=["hangs", "forks", "hoards", "exits"],
)
def test_a_harmful_candidate_fails_with_one_sentence_and_nothing_of_it_is_left(
    project, tmp_path, monkeypatch, text, said
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where candidates are unpacked
    limits = dataclasses.replace(project.limits, timeout=8.0 if text is HANG else project.limits.timeout)
    judge = Judge(dataclasses.replace(project, limits=limits), project.scenarios, tmp_path / "repro")
    found = judge.judge(frozen(text), 2, seed=1)
    assert (found.verdict, found.tests_passed) == ("fail", 0)
    (sentence,) = found.failure["sentences"]
    assert sentence.startswith("The candidate broke down: ")
    assert said in sentence, sentence
    assert "\n" not in sentence
    deadline = time.monotonic() + 20.0
    while running(tmp_path) and time.monotonic() < deadline:  # the keeper of the sandbox is cleaning up
        time.sleep(0.05)
    assert running(tmp_path) == []


def test_its_speed_cannot_be_measured_either(judge):
    with pytest.raises(CouldNotVerifyError, match="the candidate"):
        judge.speed(frozen(CRASH))


def test_outputs_of_another_shape_are_a_difference_and_no_crash_of_ours(judge):
    found = judge.judge(frozen(LIES), 1, seed=1)
    assert found.verdict == "fail"
    assert "obs" in str(found.failure["sentences"])


def test_a_replaced_step_is_judged_where_its_consequence_shows(project, judge, tmp_path):
    assert judge.judge(frozen(SURVIVES), 0, seed=1).passed
    assert judge.judge(frozen(SURVIVES), 1, seed=1).passed
    without = dataclasses.replace(project, judging=dataclasses.replace(project.judging, levels=(1, 3)))
    found = Judge(without, project.scenarios, tmp_path).judge(frozen(SURVIVES), 0, seed=1)
    assert "`step` is derived by the base class" in found.failure["sentence"]


def test_a_replaced_step_that_changes_nothing_is_not_accepted_either(judge):
    harmless = SURVIVES.replace("after.replace(steps=state.steps + 1)", "after")
    assert harmless != SURVIVES
    found = judge.judge(frozen(harmless), 2, seed=1)
    assert (found.verdict, found.tests_total - found.tests_passed) == ("fail", 1)
    assert found.failure["sentences"] == [found.failure["sentence"]]
    assert "[derived]" in found.failure["sentence"]


def test_a_function_that_nothing_calls_still_fails_level_1():
    gate = {"exported": ["c.env:a", "c.env:E.step"], "declared_but_not_run": [], "passed": False}
    result = {"first_failure": None, "verdict": "fail", "gate": {**gate, "not_exercised": ["c.env:E.step"]}}
    assert without_derived(result)["verdict"] == "pass"
    more = {**result, "gate": {**gate, "not_exercised": ["c.env:E.step", "c.env:a"]}}
    assert without_derived(more)["verdict"] == "fail"
    assert without_derived(more)["gate"]["not_exercised"] == ["c.env:a"]
    wrong = {**result, "first_failure": {"field": "obs"}}
    assert without_derived(wrong)["verdict"] == "fail"


def test_a_hygiene_failure_names_the_place(judge):
    found = judge.judge(frozen(TRUTH.replace("import math\n", "import math\nimport socket\n")), 0, seed=1)
    assert found.verdict == "fail"
    assert found.failure["sentence"].startswith("env.py:5:")


def test_a_reference_that_breaks_is_not_the_candidate_s_fault(project, tmp_path):
    gone = dataclasses.replace(project.reference, source="gymnasium:NoSuchPole-v1")
    judge = Judge(dataclasses.replace(project, reference=gone), project.scenarios, tmp_path)
    with pytest.raises(CouldNotVerifyError, match="the reference"):
        judge.judge(frozen(TRUTH), 2, seed=1)
