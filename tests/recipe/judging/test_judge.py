"""The judge: candidates that do harm are stopped and have failed with a sentence, and this machine goes on."""

import contextlib
import dataclasses
import tempfile
import time
import types
from pathlib import Path

import pytest
from recipe.cartpole_candidates import CORRECT, COUNTER_SURVIVES_RESET, SIGN_ERROR
from recipe.projects import in_float64

from overclock.progress import silent
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.judge import Judge, without_derived
from overclock.recipe.judging.verdict import HELD_OUT
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, Limits
from overclock.recipe.project.twin import project_twin
from overclock.recipe.sandbox import best
from overclock.verify.levels import Settings
from overclock.verify.property.result import BothCoverages, Gate, PropertyLevel, WrongDistribution
from overclock.verify.rollout.result import RolloutLevel
from overclock.verify.sides.process import CouldNotVerifyError

MAKE = "def make() -> tuple[CartPole, CartPoleParams]:\n"
# Each does its harm when the candidate is used, past anything that reads its text: the judge must not rely on hygiene.
HANG = CORRECT.replace(MAKE, f"{MAKE}    while True:\n        pass\n")
FORK = CORRECT.replace(MAKE, f"{MAKE}    import os, time\n    [os.fork() for _ in range(9)]\n    time.sleep(60)\n")
HOG = CORRECT.replace(MAKE, f"{MAKE}    hoard = [bytearray(1 << 26) for _ in range(1 << 10)]\n")
CRASH = CORRECT.replace(MAKE, f"{MAKE}    import os\n    os._exit(0)\n")
# Right in all but one episode of twenty, which start far to the right.
RARE = CORRECT.replace(
    "        return CartPoleState(state=draw.uniform_0)\n",
    "        off = jnp.where(draw.uniform_0[0] > 0.045, 1e-3, 0.0)\n"
    "        return CartPoleState(state=draw.uniform_0 + off.astype(draw.uniform_0.dtype))\n",
)
LOOKS = CORRECT.replace(
    MAKE,
    f"""{MAKE}    import importlib
    for name in ("gymnasium", "overclock.envs.cartpole.env", "overclock.recipe.redteam.cheats"):
        try:
            importlib.import_module(name)
        except (ImportError, OSError):
            continue
        raise RuntimeError(f"found {{name}}")
""",
)
LIES = CORRECT.replace("return state.state.astype(jnp.float32)", "return state.state.astype(jnp.float32)[:3]")


def frozen(text):
    files = {"env.py": text.encode()}
    return Frozen(tree_hash(files), files)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    folder = tmp_path_factory.mktemp("judged") / "cartpole"
    limits = Limits(timeout=30.0, memory_gib=2.0)
    made = new_project(folder, "gymnasium:CartPole-v1", "jax", limits=limits, judging=Judging(episodes=2)).project
    return in_float64(made)  # a second precision would only repeat what is seen here


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
    [(HANG, "gave no answer within"), (FORK, "stopped: more than"), (HOG, "emory"), (CRASH, "ended")],
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
    (sentence,) = found.failure.sentences
    assert sentence.startswith("The candidate broke down: ")
    assert said in sentence, sentence
    assert "\n" not in sentence
    deadline = time.monotonic() + 20.0
    while running(tmp_path) and time.monotonic() < deadline:  # the supervisor of the sandbox is cleaning up
        time.sleep(0.05)
    assert running(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "said"), [(CRASH, "the candidate"), (SIGN_ERROR, "does not step as the reference does")]
)
def test_the_speed_of_what_is_wrong_is_not_told(judge, text, said):
    with pytest.raises(CouldNotVerifyError, match=said):
        judge.speed(frozen(text), (2,))


@pytest.mark.long
def test_two_candidates_are_timed_by_turns_and_then_play_on(judge):
    found = judge.race(frozen(CORRECT), frozen(CORRECT + "# the same\n"), (2,))
    assert found.before.keys() == found.after.keys() == {"2"}
    assert min(found.gains) > 0.0
    with pytest.raises(CouldNotVerifyError, match="does not step as the reference does"):
        judge.race(frozen(CORRECT), frozen(SIGN_ERROR), (2,))


def test_held_out_episodes_catch_what_they_alone_are_shown(project, tmp_path):
    judging = dataclasses.replace(project.judging, episodes=1, held_out=100)
    judge = Judge(dataclasses.replace(project, judging=judging), project.scenarios, tmp_path / "repro")
    assert judge.judge(frozen(RARE), 3, seed=1).passed
    found = judge.judge(frozen(RARE), HELD_OUT, seed=1)
    assert (found.verdict, found.report) == ("fail", None)
    assert "which ones is not told" in found.failure.sentence
    assert judge.judge(frozen(CORRECT), HELD_OUT, seed=1).passed


def test_a_candidate_finds_neither_its_reference_nor_our_own_translations(judge):
    if best().name == "none":
        pytest.skip("no sandbox works here, so nothing can be hidden")
    found = judge.judge(frozen(LOOKS), HELD_OUT, seed=1)
    assert found.passed, found.failure


@pytest.mark.long
def test_an_existing_implementation_that_disagrees_is_heard(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("ALSO", str(tmp_path))
    judging = dataclasses.replace(project.judging, episodes=1, also="recipe.existing_implementation:subject")
    judge = Judge(dataclasses.replace(project, judging=judging), project.scenarios, tmp_path / "repro")
    (tmp_path / "env.py").write_text(SIGN_ERROR)
    found = judge.judge(frozen(CORRECT), 3, seed=1)
    assert found.verdict == "fail"
    wrong = [one.actions for one in found.report.comparisons if not one.passed]
    assert wrong
    assert all(actions.endswith("against recipe.existing_implementation:subject") for actions in wrong)
    (tmp_path / "env.py").write_text(CORRECT)
    (tmp_path / "candidate").mkdir()
    (tmp_path / "candidate" / "env.py").write_text(CORRECT)
    twin = project_twin(project, tmp_path / "candidate", project.scenarios)
    nothing = RolloutLevel(verdict="pass", comparisons=[], exhaustive=None)
    settings = Settings(judge._recorded, episodes=1, seed=1, timeout=120.0, progress=silent)
    assert judge._also(twin, nothing, settings).verdict == "pass"


@pytest.mark.long
def test_outputs_of_another_shape_are_a_difference_and_no_crash_of_ours(judge):
    found = judge.judge(frozen(LIES), 1, seed=1)
    assert found.verdict == "fail"
    assert "obs" in str(found.failure.sentences)


@pytest.mark.long
def test_a_replaced_step_is_judged_where_its_consequence_shows(project, judge, tmp_path):
    assert judge.judge(frozen(COUNTER_SURVIVES_RESET), 0, seed=1).passed
    assert judge.judge(frozen(COUNTER_SURVIVES_RESET), 1, seed=1).passed
    without = dataclasses.replace(project, judging=dataclasses.replace(project.judging, levels=(1, 3)))
    found = Judge(without, project.scenarios, tmp_path).judge(frozen(COUNTER_SURVIVES_RESET), 0, seed=1)
    assert "`step` is derived by the base class" in found.failure.sentence


@pytest.mark.long
def test_a_replaced_step_that_changes_nothing_is_not_accepted_either(judge):
    harmless = COUNTER_SURVIVES_RESET.replace("after.replace(steps=state.steps + 1)", "after")
    assert harmless != COUNTER_SURVIVES_RESET
    found = judge.judge(frozen(harmless), 2, seed=1)
    assert (found.verdict, found.tests_total - found.tests_passed) == ("fail", 1)
    assert found.failure.sentences == [found.failure.sentence]
    assert "[derived]" in found.failure.sentence


def test_a_function_that_nothing_calls_still_fails_level_1():
    def missing(*names, first_failure=None):
        exported = ["c.env:a", "c.env:E.step"]
        gate = Gate(passed=False, exported=exported, not_exercised=list(names), declared_but_not_run=[])
        coverage = BothCoverages(reference=None, performance=None)
        return without_derived(
            PropertyLevel(verdict="fail", modules=[], first_failure=first_failure, gate=gate, coverage=coverage)
        )

    assert missing("c.env:E.step").verdict == "pass"
    assert missing("c.env:E.step", "c.env:a").verdict == "fail"
    assert missing("c.env:E.step", "c.env:a").gate.not_exercised == ["c.env:a"]
    offered = [f"c.env:E.{name}" for name in ("info", "action_mask", "acting", "draw_step", "step")]
    assert missing(*offered).verdict == "pass"
    assert missing("c.env:info", "c.env:E.helper").gate.not_exercised == ["c.env:info", "c.env:E.helper"]
    wrong = WrongDistribution(module="m", precision="float64", field="obs", error=1.0, tolerance=0.0, compared=1)
    assert missing("c.env:E.step", first_failure=wrong).verdict == "fail"


def test_a_hygiene_failure_names_the_place(judge):
    found = judge.judge(frozen(CORRECT.replace("import math\n", "import math\nimport socket\n")), 0, seed=1)
    assert found.verdict == "fail"
    assert found.failure.sentence.startswith("env.py:5:")


def test_a_reference_that_breaks_is_not_the_candidate_s_fault(project, tmp_path):
    gone = dataclasses.replace(project.reference, source="gymnasium:NoSuchPole-v1")
    judge = Judge(dataclasses.replace(project, reference=gone), project.scenarios, tmp_path)
    with pytest.raises(CouldNotVerifyError, match="the reference"):
        judge.judge(frozen(CORRECT), 2, seed=1)


@pytest.mark.parametrize(
    "said", [[], ["In a user's program it plays `reset and step` otherwise than where it is judged."]]
)
def test_what_differs_for_users_is_not_accepted(judge, monkeypatch, said):
    asked = []

    def differences(twin, candidate, episodes, batches, timeout):
        asked.append((candidate.is_dir(), sorted(batches)))
        yield from said

    equal = types.SimpleNamespace(passed=True)
    monkeypatch.setattr("overclock.recipe.judging.judge.compare_rollouts", lambda *given, **more: equal)
    monkeypatch.setattr("overclock.recipe.judging.judge.differences_for_users", differences)
    found = judge.judge(frozen(CORRECT), HELD_OUT, seed=1)
    assert (found.passed, found.tests_passed, found.tests_total) == (not said, 2 - len(said), 2)
    assert ([] if found.failure is None else found.failure.sentences) == said
    assert all(there and len(batches) == 2 for there, batches in asked)
    assert len(asked) == 1
