"""Pong by its own rules: the contract, exact divisions, serves, the end of a game, parameters that differ by lane."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import overclock
from overclock.env.check import CHECKS, both_flags_may_come_together
from overclock.envs.pong.env import Pong, PongDraw, PongParams, PongState, ratio
from overclock.errors import UsageError
from overclock.vector import vectorize

FLOATS = {"paddle_yl": 285, "paddle_yr": 285, "ball_x": 100, "ball_y": 304, "ball_vx": 10, "ball_vy": 0}
SEEN = {"seen_yl": 285, "seen_yr": 285, "seen_x": 100, "seen_y": 304, "seen_vx": 10, "seen_vy": 0}
COUNTS = dict.fromkeys(("score_l", "score_r", "tick", "n_bounces"), 0)


def state(**changes):
    floats = {name: np.float32(value) for name, value in {**FLOATS, **SEEN}.items()}
    counts = {name: np.int32(value) for name, value in COUNTS.items()}
    merged = {**floats, **counts}
    return PongState(**{**merged, **{name: merged[name].dtype.type(value) for name, value in changes.items()}})


def step(begun, action=0, serve=1, env=Pong(), params=PongParams()):
    return jax.jit(env.transition)(begun, jnp.asarray(action), PongDraw(serve=jnp.int32(serve)), params)


def test_the_contract_holds_at_the_end_of_a_game():
    """The checks look for an end within a thousand steps, and find one if a single point wins."""
    both_flags_may_come_together(Pong(), PongParams(max_score=1))


@pytest.mark.parametrize("check", CHECKS[:4], ids=lambda check: check.__name__)
def test_the_shapes_of_the_contract_hold_with_other_options(check):
    check(Pong(2, continuous=True), PongParams())


@pytest.mark.parametrize("unit", [500.0, 640.0, 20.0, 26.0])
def test_observations_are_divided_and_not_multiplied_by_a_reciprocal(unit):
    values = np.concatenate([np.arange(-13, 641), np.random.default_rng(0).uniform(-13, 641, 4096)]).astype(np.float32)
    expected = values / np.float32(unit)
    fixed = jax.vmap(lambda value: ratio(value, unit))
    for way in (lambda all: ratio(all, unit), fixed, jax.jit(fixed), lambda all: jax.jit(ratio)(all, unit)):
        np.testing.assert_array_equal(np.asarray(way(values)), expected, strict=True)
    # The reason for `ratio`: where this no longer differs, it can go.
    assert (np.asarray(jax.jit(lambda all: all / unit)(values)) != expected).any()


def test_the_first_observation_is_that_of_the_serve():
    env, params = overclock.make("pong")
    first = env.observe(env.init(PongDraw(serve=jnp.int32(0)), params), params)
    assert np.asarray(first).tolist() == np.array([0.5, 0.5, 0.2, 0.475, 1, 12 / 26, 0, 0], np.float32).tolist()


def test_serves_go_down_or_level_and_never_up():
    env, _ = overclock.make("pong")
    _, begun = vectorize(env, 512).reset(jax.random.key(0))
    assert set(np.asarray(begun.lanes.rules.ball_vy).tolist()) == {-1.0, 0.0}


def test_a_point_leaves_the_observation_from_before_it_for_one_step():
    env, params = Pong(), PongParams()
    begun = state(ball_x=460, paddle_yr=500, seen_x=450)
    after, reward, terminated = step(begun)
    assert (float(reward), bool(terminated), int(after.score_l)) == (-1.0, False, 1)
    assert np.array_equal(env.observe(after, params), env.observe(begun, params))
    assert float(after.ball_x) == 100.0
    later, *_ = step(after)
    assert float(env.observe(later, params)[2]) == np.float32(110) / np.float32(500)


def test_the_last_point_ends_the_game_and_serves_no_ball():
    after, reward, terminated = step(state(ball_x=8, ball_vx=-10, paddle_yl=500, score_r=20, tick=7, n_bounces=3))
    assert (float(reward), bool(terminated), int(after.score_r)) == (1.0, True, 21)
    assert (float(after.ball_x), int(after.tick), int(after.n_bounces)) == (-2.0, 8, 3)


def test_the_draw_of_a_step_matters_only_after_a_point_that_is_not_the_last():
    def speeds(begun):
        return {float(step(begun, serve=serve)[0].ball_vy) for serve in (0, 1)}

    missed = {"ball_x": 460, "paddle_yr": 500, "ball_vy": 2}
    assert speeds(state(ball_vy=2)) == {2.0}
    assert speeds(state(**missed)) == {-1.0, 0.0}
    assert speeds(state(**missed, score_l=20)) == {2.0}


def test_frames_after_a_point_do_not_take_place():
    after, reward, _ = step(state(ball_x=430, paddle_yr=605), action=1, env=Pong(8))
    assert float(reward) == -1.0
    assert (float(after.ball_x), float(after.paddle_yr), int(after.tick)) == (100.0, 285.0, 0)
    assert float(after.seen_x) == 460.0


def test_eight_frames_are_eight_times_one_frame():
    begun = state(ball_x=300, ball_y=30, ball_vy=-7)
    after, *_ = step(begun, action=2, env=Pong(8))
    for _ in range(8):
        begun, *_ = step(begun, action=2)
    expected = begun.replace(tick=np.int32(1))
    assert [float(x) for x in jax.tree.leaves(after)] == [float(x) for x in jax.tree.leaves(expected)]


def test_continuous_directions_are_cut_at_one():
    after, *_ = step(state(), action=np.array([3.5], np.float32), env=Pong(continuous=True))
    assert float(after.paddle_yr) == 293.0


def test_lanes_may_have_different_parameters():
    params = jax.vmap(lambda score: PongParams(max_score=score))(jnp.array([1, 21]))
    begun, draw = state(ball_x=460, paddle_yr=500), PongDraw(serve=jnp.int32(0))
    played = jax.vmap(lambda values: Pong(8).transition(begun, jnp.int32(0), draw, values))(params)
    assert np.asarray(played[2]).tolist() == [True, False]


def test_a_frameskip_below_one_is_refused():
    with pytest.raises(UsageError, match="from 1 up, got 0"):
        Pong(0)
