"""PufferLib's C Pong beside ours: one step from everywhere, what the twin's planted bugs change, how it is obtained.

Skipped where the reference cannot be had: no network, no compiler.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envs.pong import lattice
from envs.pong.traces import COMPARED

from overclock.env import select
from overclock.envs.pong import library, plants, transfer, twin
from overclock.envs.pong.env import Pong, PongDraw, PongParams, PongState
from overclock.envs.pong.library import STATE
from overclock.envs.pong.reference import PongReference
from overclock.envs.pong.vector import PufferLibVector
from overclock.errors import MissingError
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.playback import play_reference
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.selfcheck import check_reference

VARIANTS = [twin.twin, twin.frameskip_8, twin.continuous, twin.continuous_8]
variants = pytest.mark.parametrize("build", VARIANTS, ids=lambda build: build.__name__)


@pytest.fixture(autouse=True, scope="module")
def _reference():
    try:
        library.Lanes(1)
    except MissingError as error:
        pytest.skip(str(error))


def jax_steps(frameskip=1, continuous=False):
    """One compiled step of many lanes, and how to compare it with the reference's."""
    env = Pong(frameskip, continuous)
    params = env.default_params()

    @jax.jit
    @jax.vmap
    def step(state, action, serve):
        after, reward, terminated = env.transition(state, action, PongDraw(serve=serve), params)
        fields = {name: getattr(after, name) for name in STATE}
        return {**fields, "obs": env.observe(after, params), "reward": reward, "terminal": terminated.astype(jnp.int32)}

    def require_equal(states, actions, serves):
        lanes = library.Lanes(len(states), frameskip, continuous)
        lanes.set(states)
        lanes.step_all(actions, serves)
        theirs = lanes.get()
        begun = PongState(**{name: jnp.asarray(states[name]) for name in STATE})
        ours = step(begun, actions[:, None] if continuous else actions, serves)
        for name in COMPARED:
            same = np.asarray(ours[name]).view(np.int32) == np.ascontiguousarray(theirs[name]).view(np.int32)
            assert same.all(), (name, states[np.flatnonzero(~same.reshape(len(states), -1).all(axis=1))[0]])

    return require_equal


def test_the_constants_are_those_of_pufferlibs_class():
    ours = {field.name: getattr(PongParams(), field.name) for field in dataclasses.fields(PongParams)}
    theirs = library.constants()
    assert ours == {**{name: theirs[name] for name in ours if name != "max_steps"}, "max_steps": None}


@variants
def test_every_variant_of_the_reference_is_the_same_as_itself(build):
    found = check_reference(build(), lanes=4, steps=60)
    assert found.passed
    assert found.set_state == "restores"


@variants
def test_a_few_games_are_equal_bit_for_bit(build):
    small = dataclasses.replace(build(), lanes=16)
    frameskip = dict(small.reference.options)["frameskip"]
    contract = dataclasses.replace(small.contracts["float32"], step_limit=400 if frameskip == 1 else 200)
    short = dataclasses.replace(small, contracts={"float32": contract})
    result = compare_rollouts(short, 16, "free_running", "float32", "uniform", uniform, num_lanes=16)
    assert result.passed
    assert all(field.largest_error == 0.0 for field in result.fields.values())


@pytest.mark.parametrize("frameskip", [1, 3, 8])
def test_any_fraction_of_a_direction_from_any_situation(frameskip):
    """Random floats, which play seldom reaches: every rounding of every operation must be the same."""
    generator, count = np.random.default_rng(frameskip), 50_000
    states = np.zeros(count, library.SHOWN)
    for name, low, high in (
        ("paddle_yl", -35, 605), ("paddle_yr", -35, 605), ("ball_x", -12, 480), ("ball_y", -13, 621),
        ("ball_vy", -13, 13), ("seen_x", -2, 468), ("seen_y", -13, 621), ("seen_yl", -35, 605),
    ):  # fmt: skip
        states[name] = generator.uniform(low, high, count)
    near = generator.random(count) < 0.5
    states["paddle_yr"] = np.where(near, np.clip(states["ball_y"] - 20, -35, 605), states["paddle_yr"])
    states["ball_vx"] = generator.choice([-10.0, 10.0], count)
    states["score_l"], states["score_r"] = generator.integers(0, 21, (2, count))
    directions = generator.uniform(-1, 1, count).astype(np.float32)
    jax_steps(frameskip, continuous=True)(states, directions, generator.integers(0, 2, count).astype(np.int32))


@pytest.mark.long
def test_one_step_is_equal_from_everywhere_on_the_lattice():
    """Every reachable ball, and every paddle that it can meet; see lattice.py for what exactly."""
    balls = lattice.reachable_balls()
    require_equal, checked = jax_steps(), 0
    for states, actions, serves in lattice.every_situation(balls):
        require_equal(states, actions, serves)
        checked += len(states)
    assert len(balls) == 1_504_304
    assert checked == 107_724_627


@pytest.mark.long
@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("frameskip", [1, 8])
def test_ten_thousand_games_are_equal_bit_for_bit(frameskip, continuous):
    """Random play to the end, synchronised by nothing but serves and actions; every field after every step.

    As level 3 does it, but without processes in between: 20 million steps take a minute.
    """
    lanes, games = 2000, 5  # games in every lane
    env, reference = Pong(frameskip, continuous), library.Lanes(lanes, frameskip, continuous)
    params, generator = env.default_params(), np.random.default_rng((frameskip, continuous))

    @jax.jit
    @jax.vmap
    def step(state, action, serve):
        after, reward, terminated = env.transition(state, action, PongDraw(serve=serve), params)
        fields = {name: getattr(after, name) for name in STATE}
        shown = {
            **fields,
            "obs": env.observe(after, params),
            "reward": reward,
            "terminal": terminated.astype(jnp.int32),
        }
        return select(terminated, env.init(PongDraw(serve=serve), params), after), shown

    serves = generator.integers(0, 2, lanes).astype(np.int32)
    for lane in range(lanes):
        reference.reset(lane, int(serves[lane]))
    state = jax.vmap(lambda serve: env.init(PongDraw(serve=serve), params))(serves)
    finished = np.zeros(lanes, np.int32)
    while (finished < games).any():
        serves = generator.integers(0, 2, lanes).astype(np.int32)
        if continuous:
            actions = generator.uniform(-1, 1, lanes).astype(np.float32)
        else:
            actions = generator.integers(0, 3, lanes).astype(np.int32)
        reference.step_all(actions, serves)
        state, ours = step(state, actions[:, None] if continuous else actions, serves)
        theirs = reference.get()
        for name in COMPARED:
            assert np.asarray(ours[name]).tobytes() == np.ascontiguousarray(theirs[name]).tobytes(), name
        finished += theirs["terminal"]
        for lane in np.flatnonzero(theirs["terminal"]):
            reference.reset(int(lane), int(serves[lane]))


@pytest.fixture(scope="module")
def played():
    scenarios = load_scenarios(str(twin.twin().scenarios))
    return scenarios, play_reference(twin.twin(), scenarios)


@pytest.mark.parametrize("plant", [None, *sorted(plants.COMMON)])
def test_scenarios_see_every_planted_bug_and_nothing_else(played, plant, monkeypatch):
    """Random play seldom sees the rarest, a ball that just touches a paddle: not once in 64 games."""
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # games above are compiled as users have them
    scenarios, recorded = played
    side = twin.twin() if plant is None else twin.twin().planted(plant)
    level = check_interactions(side, scenarios=scenarios, recorded=recorded, metamorphic=False)
    assert level.verdict == ("pass" if plant is None else "fail")


def test_the_plan_of_level_4_names_bugs_of_the_twin():
    for plan in (transfer.FRAMESKIP_1, transfer.FRAMESKIP_8, transfer.CONTINUOUS, transfer.CONTINUOUS_8):
        assert {plan.planted, plan.unseen} < set(twin.PLANTS)


def test_serves_follow_from_seed_and_step_in_any_lane():
    one, other = PongReference(3), PongReference(3)
    seeds = np.array([5, 6, 7])
    everyone = np.ones(3, np.bool_)
    for subject, order in ((one, slice(None)), (other, slice(None, None, -1))):
        subject.reset(everyone, seeds[order])
    for _ in range(20):
        forwards = one.step(np.zeros(3, np.int32)).draws["serve"]
        assert (forwards == other.step(np.zeros(3, np.int32)).draws["serve"][::-1]).all()


def test_pufferlibs_own_speed_plays_games_to_their_end():
    vector = PufferLibVector(16, frameskip=8)
    games = [vector.play(1000), vector.play(1000)]  # the second goes on where the first ended
    assert 32_000 / 400 < sum(games) < 32_000 / 100  # 201 steps a game, on average
    assert abs(games[0] - games[1]) < 40


def test_threads_share_the_lanes_of_a_step():
    """Where the player's own paddle is does not depend on chance: both have the same."""
    one, four = PufferLibVector(10), PufferLibVector(10, threads=4)
    one.reset()
    four.reset()
    same = np.arange(10, dtype=np.int32) % 3
    for _ in range(12):
        a, b = one.step(same), four.step(same)
        np.testing.assert_array_equal(a.obs[:, 1], b.obs[:, 1])
    assert len(np.unique(four.step(same).obs[:, 1])) == 3  # those who stay, and those who go up or down
