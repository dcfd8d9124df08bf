"""Whole steps of our games on PyBoy and on our batch: equal in every output and everything inside."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from overclock.env import registry
from overclock.envs.gameboy import modules
from overclock.envs.gameboy.twin import maze, paddle
from overclock.envs.gameboy.twin import programs as programs_twin
from overclock.errors import MissingError
from overclock.gameboy.batch_subject import GameBoySubject
from overclock.gameboy.game import load_game
from overclock.gameboy.programs import ProgramSubject, programs
from overclock.gameboy.pyboy.console import import_pyboy
from overclock.gameboy.pyboy.subject import PyBoyReference
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.playback import play_reference
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.property.level import check_properties
from overclock.verify.sides.patched import Patch, source_of
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")
KINDS = [("maze", None), ("maze", "packed_2bit"), ("paddle", None), ("paddle", "gray"), ("paddle", "rgb")]


@pytest.fixture(autouse=True)
def _pyboy():
    try:
        import_pyboy()
    except MissingError as missing:
        pytest.skip(str(missing))


def sides(game, observation, lanes):
    options = {} if observation is None else {"observation": observation}
    ours = GameBoySubject(lanes, f"overclock.gameboy.vector:GameBoy{game.title()}", options, ["seed"])
    return PyBoyReference(lanes, game, observation), ours


def compare(expected, found, step):
    for theirs, ours in ((expected.outputs, found.outputs), (expected.state, found.state)):
        assert theirs.keys() == ours.keys()
        for name, values in theirs.items():
            assert ours[name].dtype == values.dtype, name
            np.testing.assert_array_equal(ours[name], values, err_msg=f"{name} after step {step}")


def play(game, observation, lanes, steps, seed=0):
    """How many episodes ended."""
    reference, ours = sides(game, observation, lanes)
    numbers, ended = np.random.default_rng(seed), 0
    everyone = np.ones(lanes, np.bool_)
    expected = reference.reset(everyone, numbers.integers(0, 1 << 30, lanes))
    compare(expected, ours.reset(everyone, np.zeros(lanes, np.int64), expected.draws), "reset")
    for step in range(steps):
        actions = numbers.integers(0, reference.describe()["n"], lanes)
        expected = reference.step(actions)
        compare(expected, ours.step(actions), step)
        over = expected.outputs["terminated"] | expected.outputs["truncated"]
        if over.any():
            ended += int(over.sum())
            expected = reference.reset(over, numbers.integers(0, 1 << 30, lanes))
            compare(expected, ours.reset(over, np.zeros(lanes, np.int64), expected.draws), "reset")
    return ended


@pytest.mark.parametrize(("game", "observation"), KINDS)
def test_steps_are_those_of_pyboy(game, observation):
    play(game, observation, 2, 25)


@pytest.mark.long
@pytest.mark.parametrize(("game", "observation"), KINDS)
def test_a_hundred_episodes_are_those_of_pyboy(game, observation):
    ended, seed = 0, 1
    while ended < 100:
        ended += play(game, observation, 8, 400, seed)
        seed += 1


@pytest.mark.parametrize("game", ["maze", "paddle"])
def test_the_registered_twin_compares_everything_and_its_bugs_can_be_planted(game):
    twin = registry.load(registry.spec(f"gameboy-{game}").twin)()
    reference, _ = sides(game, None, 1)
    shown = reference.reset(np.ones(1, np.bool_), np.zeros(1, np.int64))
    compared = {field.name for field in twin.contracts["float32"].fields}
    assert {f"state.{name}" for name in shown.state} <= compared
    assert twin.contracts["float32"].exact
    for patch in twin.plants.values():
        patch.apply(source_of(patch.module)[0])
    plan = registry.load(twin.transfer)
    assert {plan.planted, plan.unseen} - {None} <= set(twin.plants)
    assert (
        dict(plan.reference_env.options)["observation"]
        == load_game(
            game, observation=dict((twin.learnt_as or twin).reference.options).get("observation")
        ).description.observation
    )


@pytest.mark.parametrize("game", ["maze", "paddle"])
def test_level_4_keeps_no_memory_of_what_it_visits(game):
    twin = registry.load(registry.spec(f"gameboy-{game}").twin)().learnt_as
    shown = PyBoyReference(1, **dict(twin.reference.options)).reset(np.ones(1, np.bool_), np.zeros(1, np.int64))
    compared = {field.name for field in twin.contracts["float32"].fields}
    assert {f"state.{name}" for name in shown.state} == {name for name in compared if name.startswith("state.")}
    assert all(values.size == 1 for values in shown.state.values())


def test_a_bug_is_also_in_what_level_4_plays():
    planted = maze().planted("buttons-mixed-up")
    assert planted.learnt_as is not None
    for spec in (planted.performance, planted.learnt_as.performance):
        assert len(dict(spec.options)["patches"]) == 1


@pytest.mark.parametrize(
    ("game", "bug"), [("maze", "lives-do-not-count"), ("maze", "held-too-briefly"), ("paddle", "buttons-mixed-up")]
)
def test_a_planted_bug_is_really_there(game, bug):
    """A plan counts on each: one that changes nothing would be called a bug that returns do not show."""
    lanes, twin = 8, registry.load(registry.spec(f"gameboy-{game}").twin)().learnt_as
    plan = registry.load(twin.transfer)
    assert bug in (plan.planted, plan.unseen)
    _, plain = sides(game, "ram", lanes)
    everyone, numbers = np.ones(lanes, np.bool_), np.random.default_rng(0)
    with ProcessSubject(twin.planted(bug).performance, lanes, "the planted side", 120.0) as planted:
        for side in (plain, planted):
            side.reset(everyone, np.zeros(lanes, np.int64), {"seed": np.arange(1, lanes + 1, dtype=np.int32)})
        for _ in range(400):
            actions = numbers.integers(0, plain.describe()["n"], lanes)
            seen = [side.step(actions).outputs for side in (plain, planted)]
            if any((seen[0][name] != seen[1][name]).any() for name in ("obs", "reward")):
                return
    pytest.fail(f"'{bug}' changed nothing in 400 steps")


def test_pyboy_as_a_gymnasium_environment_plays_the_described_game():
    gymnasium = pytest.importorskip("gymnasium")
    from overclock.gameboy.pyboy.game import make_pyboy_env

    env = make_pyboy_env("paddle")
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    first, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    np.testing.assert_array_equal(first, again)
    total, over = 0.0, False
    for _ in range(load_game("paddle").description.max_steps or 0):
        obs, reward, terminated, truncated, _ = env.step(0)
        assert env.observation_space.contains(obs)
        total += reward
        over = terminated or truncated
        if over:
            break
    assert over
    assert total <= 0  # a paddle that stands still loses every ball sooner or later
    env.close()


ROM_BUG = Patch("overclock.gameboy.native_console", "name: registers[name] for", "name: registers[name] & ~0x20 for")


def few(*names):
    """Some of the micro-ROMs' scenarios."""
    return [one for one in load_scenarios(maze().scenarios or "") if one.name in names]


def test_every_micro_rom_belongs_to_level_1_or_to_level_2():
    numbers = [module.boundary()["number"] for module in modules.MAZE if module.name in modules.GROUPS]
    first = np.concatenate(numbers).tolist()
    second = [step.action for one in load_scenarios(maze().scenarios or "") for step in one.steps]
    assert sorted(first + second) == list(range(len(programs())))
    assert all(programs()[number].name.startswith("instructions_") for number in first)


def test_level_1_runs_the_instructions_and_short_games():
    result = check_properties(paddle())
    assert result.verdict == "pass"
    assert result.gate.not_exercised == []
    assert {module.name for module in result.modules} == {*modules.GROUPS, "spaces", "start", "observe", "step"}


def test_level_1_sees_a_wrong_flag_and_names_the_instructions():
    twin = dataclasses.replace(paddle(), learnt_as=None, plants={"no-half-carry": ROM_BUG}).planted("no-half-carry")
    result = check_properties(twin)
    assert result.verdict == "fail"
    assert result.first_failure is not None
    assert (result.first_failure.module, result.first_failure.field) == ("arithmetic", "registers")


def test_level_2_runs_micro_roms_of_the_other_parts():
    twin, scenarios = maze(), few("interrupts", "timer-1", "sound")
    recorded = play_reference(programs_twin(), scenarios)
    assert check_interactions(twin, scenarios=scenarios, recorded=recorded).verdict == "pass"
    other = SubjectSpec.of(ProgramSubject, console="gameboy.wrong_console:HardwareConsole")
    other = other.with_environment(PYTHONPATH=str(Path(__file__).parents[1]))
    wrong = dataclasses.replace(twin, scripted_as=dataclasses.replace(programs_twin(), performance=other))
    result = check_interactions(wrong, scenarios=scenarios, recorded=recorded)
    assert result.verdict == "fail"
    assert [one.name for one in result.scenarios if one.verdict == "fail"]
