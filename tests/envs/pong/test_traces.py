"""Pong repeats play that was recorded from PufferLib's C, bit for bit, with nothing of PufferLib at hand."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envs.pong import lattice
from envs.pong.traces import COMPARED, Trace, digests

from overclock.envs.pong.env import Pong, PongDraw, PongState
from overclock.envs.pong.library import STATE

HERE = Path(__file__).parent
KINDS = pytest.mark.parametrize("name", ["discrete_1", "discrete_8", "continuous_1", "continuous_8"])


def shown(env, state, reward, terminated):
    fields = {name: getattr(state, name) for name in STATE}
    return {**fields, "obs": env.observe(state, env.default_params()), "reward": reward, "terminal": terminated}


def replayed(trace):
    """What Pong shows for a trace's actions and serves; an ended game is followed by another, as it was there."""
    env = Pong(trace.frameskip, trace.continuous)
    params = env.default_params()

    def lane(actions, serves):
        def step(state, given):
            action, serve = given
            after, reward, terminated = env.transition(state, action, PongDraw(serve=serve), params)
            fresh = env.init(PongDraw(serve=serve), params)
            kept = jax.tree.map(lambda new, old: jnp.where(terminated, new, old), fresh, after)
            return kept, shown(env, after, reward, terminated)

        return jax.lax.scan(step, env.init(PongDraw(serve=serves[0]), params), (actions, serves[1:]))[1]

    outputs = jax.jit(jax.vmap(lane, in_axes=1, out_axes=1))(trace.taken(), trace.serves)
    return {name: np.asarray(values) for name, values in outputs.items()}


@KINDS
def test_recorded_games_are_repeated_bit_for_bit(name):
    trace = Trace.load(HERE / f"{name}.npz")
    assert trace.games >= 5
    assert trace.first_difference(replayed(trace)) is None


def test_recorded_games_are_repeated_where_jax_computes_in_float64():
    trace = Trace.load(HERE / "discrete_8.npz")
    with jax.enable_x64(True):
        found = replayed(trace)
    assert found["obs"].dtype == found["ball_x"].dtype == np.float32
    assert trace.first_difference(found) is None


def test_a_difference_of_one_bit_is_found_and_named():
    trace = Trace.load(HERE / "discrete_8.npz")
    found = replayed(trace)
    found["obs"] = found["obs"].copy()
    found["obs"][249, 3, 2] = np.nextafter(found["obs"][249, 3, 2], np.float32(1))
    assert "steps 249 to 256" in str(trace.first_difference(found))
    assert "at step 250, lane 3, obs is" in str(trace.first_difference(found))


def test_recorded_play_has_points_for_both_sides_and_every_serve():
    for name in ("discrete_1", "discrete_8", "continuous_1", "continuous_8"):
        found = replayed(Trace.load(HERE / f"{name}.npz"))
        assert {-1.0, 0.0, 1.0} < set(found["reward"].ravel().tolist())
        served = found["tick"] == 0
        assert {-1.0, 0.0} == set(found["ball_vy"][served & (found["terminal"] == 0)].tolist())


def test_steps_at_the_edges_are_those_of_the_reference():
    """Half a million of them; all that is kept of the reference is a digest of what it does."""
    states, actions, serves = lattice.edge_situations()
    env = Pong()
    params = env.default_params()

    def one(state, action, serve):
        return shown(env, *env.transition(state, action, PongDraw(serve=serve), params))

    begun = PongState(**{name: jnp.asarray(states[name]) for name in STATE})
    found = jax.jit(jax.vmap(one))(begun, actions, serves)
    (digest,) = digests({name: np.asarray(found[name])[None] for name in COMPARED})
    assert f"{digest:016x}" == (HERE / "edge.txt").read_text().strip()
