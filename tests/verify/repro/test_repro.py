"""A repro's folder: complete or absent, replayable, with a test, a scenario and the facts for a repair."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from verify.subjects_shrink import changed
from verify.subjects_shrink import twin as house

import overclock
from overclock.errors import UsageError
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.repro import files as repro_files
from overclock.verify.repro.episode import Episode
from overclock.verify.repro.files import sources, write_repro
from overclock.verify.repro.replay import replay, step_table
from overclock.verify.repro.repro import load_repro, parse_repro
from overclock.verify.repro.shrink import Shrunk, shrink, shrink_rollout
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError

EPISODE = Episode(7, (2, 0, 1, 2, 2, 0, 1, 0, 3))


def shrunk_house(bug: str = "door", options: str = "masked", **more) -> Shrunk:
    return shrink(house(options).planted(bug), EPISODE, "free_running", "float64", **more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The repro of two keys and a door, from a reset."""
    shrunk = shrunk_house(from_reset=True)
    return write_repro(tmp_path_factory.mktemp("run") / "repro", shrunk, house("masked"), plant="door")


def test_the_file_says_everything(folder):
    content = json.loads((folder / "repro.json").read_text())
    assert content["schema"] == "overclock.repro/1"
    assert content["command"] == f"overclock repro {folder} --plant door"
    assert (content["actions"], content["setup"]["seed"], content["step"]) == ([1, 1, 3], 0, 3)
    assert (content["field"], content["reference"], content["performance"]) == ("reward", 2.0, 3.0)
    assert content["last_matching"]["reference"]["keys"] == content["last_matching"]["performance"]["keys"] == 2
    assert (content["found"]["step"], content["found"]["actions"]) == (9, list(EPISODE.actions))
    assert content["minimal"]
    assert "numpy" in content["versions"]
    assert [shown.get("reward") for shown in content["expected"]] == [None, 0.0, 0.0, 2.0]


def test_a_repro_still_diverges_with_the_bug_and_no_longer_without(folder):
    repro = load_repro(folder)
    with_bug = replay(repro, house("masked").planted("door"))
    assert with_bug.verdict == "still diverges"
    assert "reward is 3.0 after 3 actions, the reference says 2.0" in with_bug.sentence
    without = replay(repro, house("masked"))
    assert without.verdict == "no longer diverges"
    assert without.finding is None


def test_another_divergence_is_not_taken_for_a_repair(folder):
    replayed = replay(load_repro(folder), house("masked").planted("start"))
    assert replayed.verdict == "still diverges"
    assert "not where the repro was recorded (reward after 3 actions)" in replayed.sentence


def test_the_step_table_shows_both_sides_around_the_divergence(folder):
    planted = house("masked").planted("door")
    rows = step_table(replay(load_repro(folder), planted), planted)
    assert sorted({row.step for row in rows}) == [1, 2, 3]
    (different,) = [row for row in rows if row.different]
    assert (different.step, different.action, different.field) == (3, 3, "reward")
    assert (different.reference, different.performance) == (2.0, 3.0)


def test_a_changed_reference_is_no_verdict(folder):
    with pytest.raises(CouldNotVerifyError, match=r"the reference changed: after the reset state.warmth used to be"):
        replay(load_repro(folder), changed())


def test_other_draws_than_recorded_are_no_verdict(folder):
    text = (folder / "repro.json").read_text().replace('"draws": {"start": 0.', '"draws": {"start": 1.', 1)
    with pytest.raises(CouldNotVerifyError, match="the reference changed: after the reset its draws used to be"):
        replay(parse_repro(text), house("masked"))


def test_a_field_that_the_contract_no_longer_names_is_no_verdict(folder):
    text = (folder / "repro.json").read_text().replace('"field": "reward"', '"field": "score"', 1)
    with pytest.raises(CouldNotVerifyError, match="says nothing about score in float64"):
        replay(parse_repro(text), house("masked"))


def test_the_scenario_is_one_of_level_2(folder):
    (scenario,) = load_scenarios(str(folder / "scenarios"))
    assert scenario.name == "repro-reward-after-3-actions"
    clean = check_interactions(house("masked"), scenarios=[scenario], metamorphic=False)
    assert clean.verdict == "pass"
    planted = check_interactions(house("masked").planted("door"), scenarios=[scenario], metamorphic=False)
    assert planted.verdict == "fail"
    assert planted.scenarios[0].first_mismatch.field == "reward"


def test_a_reset_that_differs_makes_a_scenario_too(tmp_path):
    target = write_repro(tmp_path, shrunk_house("start"), house("masked"))
    (scenario,) = load_scenarios(str(target / "scenarios"))
    planted = check_interactions(house("masked").planted("start"), scenarios=[scenario], metamorphic=False)
    assert planted.scenarios[0].first_mismatch.step == 0
    prompt = (target / "prompt.md").read_text()
    assert "The reset itself differs" in prompt


def test_the_prompt_has_the_facts_of_the_paper(folder):
    prompt = (folder / "prompt.md").read_text()
    for fact in (
        "failed at step 9",
        "reward = 3.0 (performance) vs 2.0 (reference)",
        "Steps 0-8 matched",
        "State at step 8 (last matching):",
        "- keys = 2",
        "Action taken at step 9: 3",
        "Actions: [1, 1, 3]",
        f"`overclock repro {folder} --plant door`",
        "test_reward_after_3_actions.py",
        "Diagnose the root cause.",
    ):
        assert fact in prompt


def test_the_place_in_the_source_is_named_without_importing_it():
    (place,) = sources("cartpole-v1", "state.x_dot", 1)
    path, _, function = place.partition(" ")
    file, line = path.split(":")
    assert function == "CartPole.transition"
    text = (Path(overclock.__file__).parents[1] / file).read_text().splitlines()
    assert "def transition(" in text[int(line) - 1]
    assert sources("cartpole-v1", "state.x", 0)[0].endswith("CartPole.init")
    assert sources("cartpole-v1", "obs", 3)[-1].endswith("CartPole.observe")


def test_the_ready_made_test_passes_once_the_bug_is_gone(folder):
    (test,) = folder.glob("test_*.py")
    here = Path(overclock.__file__).parents[1], Path(__file__).parents[2]
    with_bug = run_test(test, *here, HOUSE_BUG="door")
    assert with_bug.returncode == 1, with_bug.stdout + with_bug.stderr
    assert "AssertionError: verify.subjects_shrink:twin still diverges: reward is 3.0" in with_bug.stdout
    without = run_test(test, *here)
    assert without.returncode == 0, without.stdout + without.stderr


def test_values_that_json_lacks_survive(tmp_path):
    shrunk = shrunk_house("obs", "")
    target = write_repro(tmp_path, shrunk, house())
    content = json.loads((target / "repro.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert content["performance"] == ["nan", "nan"]
    assert content["error"] == "inf"
    assert replay(load_repro(target), house().planted("obs")).finding is not None


def test_folders_are_numbered_and_whole(folder, tmp_path, monkeypatch):
    shrunk = shrunk_house()
    assert write_repro(tmp_path / "r", shrunk, house("masked")).name == "1"
    (tmp_path / "r" / "7").mkdir()
    assert write_repro(tmp_path / "r", shrunk, house("masked")).name == "8"
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["1", "7", "8"]

    def broken(*_):
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(os, "rename", broken)
    with pytest.raises(RuntimeError):
        write_repro(tmp_path / "r", shrunk, house("masked"))
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["1", "7", "8"]


def test_a_folder_that_somebody_else_has_just_written_is_left_alone(tmp_path, monkeypatch):
    shrunk, rename = shrunk_house(), os.rename

    def too_late(source, target):
        if Path(target).name == "1":
            Path(target).mkdir()
            (Path(target) / "theirs").touch()
        rename(source, target)

    monkeypatch.setattr(os, "rename", too_late)
    target = write_repro(tmp_path, shrunk, house("masked"))
    assert target.name == "2"
    assert "/2" in json.loads((target / "repro.json").read_text())["command"]
    assert [path.name for path in (tmp_path / "1").iterdir()] == ["theirs"]


def test_an_impossible_place_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(repro_files, "_files", lambda *_: {})
    with pytest.raises(UsageError, match=r"Cannot write a repro to .* choose another place"):
        write_repro(tmp_path / "file" / "repro", None, house())  # pyright: ignore[reportArgumentType]


GOOD = {
    "schema": "overclock.repro/1", "twin": "cartpole-v1", "precision": "float64", "mode": "per_step", "field": "obs",
    "step": 1, "setup": {"seed": 0}, "actions": [0], "draws": [{}], "expected": [{}, {}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"schema": "overclock.list/1"}, "its schema is not overclock.repro/1"),
        ({"setup": None}, "its setup is not an object"),
        ({"setup": {"seed": 0, "state": [1]}}, "its draws or its state are not objects"),
        ({"draws": [3]}, "its draws or its state are not objects"),
        ({"setup": {}}, "it says nothing about 'seed'"),
        ({"actions": ["left"]}, "its actions are not a list of numbers"),
        ({"actions": [0, 1]}, "do not fit its actions"),
        ({"precision": "float16"}, "its precision float16 or its mode per_step is unknown"),
        ({"mode": "sometimes"}, "is unknown"),
        ({"step": "late"}, "is no repro"),
    ],
)
def test_a_wrong_file_is_one_sentence(change, complaint):
    assert parse_repro(json.dumps(GOOD)).episode == Episode(0, (0,), ({}, {}))
    with pytest.raises(UsageError, match=complaint) as caught:
        parse_repro(json.dumps({**GOOD, **change}))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_json_is_one_sentence(tmp_path):
    (tmp_path / "repro.json").write_text("{")
    with pytest.raises(UsageError, match="is no repro"):
        load_repro(tmp_path)


# ---- CartPole, from the comparison to the test that a repair must pass ----


@pytest.fixture(scope="module")
def polemass(tmp_path_factory) -> Path:
    """The historic bug, as a comparison finds it."""
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    from overclock.envs.cartpole.twin import twin

    planted = twin().planted("polemass-plus")
    result = compare_rollouts(planted, 4, "free_running", "float64", "uniform", uniform, num_lanes=4)
    shrunk = shrink_rollout(planted, result)
    assert shrunk is not None
    return write_repro(tmp_path_factory.mktemp("cartpole"), shrunk, planted, "polemass-plus")


def test_the_historic_bug_is_at_most_two_actions(polemass):
    content = json.loads((polemass / "repro.json").read_text())
    assert len(content["actions"]) <= 2
    assert content["field"] == "state.x_dot"
    assert "overclock/envs/cartpole/env.py:" in (polemass / "prompt.md").read_text()


def run_test(file: Path, *sources: Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources)), **variables}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # none of them is needed, and some import JAX
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(file.parent), str(file)]
    return subprocess.run(
        command, cwd=file.parent, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_ready_made_test_fails_with_the_bug_in_the_source(polemass, tmp_path):
    (test,) = polemass.glob("test_*.py")
    alone = tmp_path / test.name  # it needs nothing beside it
    shutil.copy(test, alone)
    source = Path(overclock.__file__).parent
    wrong = tmp_path / "src" / "overclock"
    shutil.copytree(source, wrong, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    rules = wrong / "envs/cartpole/env.py"
    right = "jnp.asarray(params.masspole, dtype) * params.length"
    assert right in rules.read_text()
    rules.write_text(rules.read_text().replace(right, right.replace("*", "+")))
    with_bug = run_test(alone, wrong.parent)
    assert with_bug.returncode == 1, with_bug.stdout + with_bug.stderr
    assert "still diverges: state.x_dot is" in with_bug.stdout
