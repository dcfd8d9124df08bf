"""Episode statistics are what a plain recount of rewards and flags gives, in every mode, stepped or rolled out."""

import copy
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Duel
from vector.lanes import assert_equal

from overclock.env import Params
from overclock.vector import EpisodeStatistics, Pool, rollout, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

LANES, STEPS = 5, 24
ROLLOUT = jax.jit(rollout, static_argnames=("venv", "num_steps", "policy", "keep", "unroll"))


def recount(reward: np.ndarray, terminated: np.ndarray, truncated: np.ndarray, autoreset: str) -> dict[str, np.ndarray]:
    """`return`, `length` and `ended` of every step, and the number of episodes, from what a batch reported."""
    returns, lengths = np.zeros_like(reward), np.zeros(terminated.shape, np.int32)
    ended = np.zeros(terminated.shape, bool)
    for lane in range(terminated.shape[1]):
        total, length, idle = np.zeros_like(reward[0, 0]), 0, False
        for t in range(len(terminated)):
            if idle:
                total, length = np.zeros_like(total), 0
                idle = autoreset == "off"
                continue
            total, length = total + reward[t, lane], length + 1
            returns[t, lane], lengths[t, lane] = total, length
            ended[t, lane] = terminated[t, lane] | truncated[t, lane]
            if ended[t, lane]:
                total, length, idle = np.zeros_like(total), 0, autoreset != "same_step"
    return {"return": returns, "length": lengths, "ended": ended}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
@pytest.mark.parametrize(
    ("env", "params"), [(Countdown(), CountdownParams(max_steps=5)), (Duel(), Params(max_steps=4))]
)
def test_statistics_equal_a_recount(env, params, autoreset):
    venv = EpisodeStatistics(vectorize(env, LANES, autoreset))
    _, state = venv.reset(jax.random.key(1), params)
    after, steps = ROLLOUT(venv, state, num_steps=STEPS, params=params)
    reward, terminated, truncated = (np.asarray(x) for x in (steps.reward, steps.terminated, steps.truncated))
    expected = recount(reward, terminated, truncated, autoreset)
    assert expected["ended"].sum() >= LANES
    assert_equal(steps.info["episode"], expected)
    assert_equal(after.episodes, expected["ended"].sum(axis=0).astype(np.int32))
    assert expected["length"].max() <= params.max_steps

    # Stepping gives the same as rolling out, and the wrapper changes nothing else.
    bare = vectorize(env, LANES, autoreset)
    inner = state.inner
    for t in range(STEPS):
        action = np.asarray(steps.action)[t]
        _, state, *_, info = venv.step(state, action, params)
        _, inner, *_ = bare.step(inner, action, params)
        assert_equal(info["episode"], {name: values[t] for name, values in expected.items()})
    assert_equal(state, after)
    assert_equal(state.inner, inner)


def test_restarted_lanes_forget_their_unfinished_episode():
    params = CountdownParams(max_steps=3)
    venv = EpisodeStatistics(vectorize(Countdown(shortest=50), 3, "off"))
    _, state = venv.reset(jax.random.key(0), params)
    act = jnp.ones(3, jnp.int32)
    for _ in range(2):
        _, state, *_ = venv.step(state, act, params)
    obs, state = venv.reset_lanes(state, jnp.array([True, False, False]), params=params)
    assert_equal(obs, venv.observe(state, params))
    assert state.lengths.tolist() == [0, 2, 2]
    assert float(state.returns[0]) == 0
    _, state, *_, info = venv.step(state, act, params)
    assert info["episode"]["length"].tolist() == [1, 3, 3]
    assert info["episode"]["ended"].tolist() == [False, True, True]
    assert state.episodes.tolist() == [0, 1, 1]


def test_two_equal_wrappers_are_one_to_jax():
    def wrapper():
        return EpisodeStatistics(vectorize(Countdown(), 3, "next_step", Pool(2)))

    assert wrapper() == wrapper()
    assert hash(wrapper()) == hash(wrapper())
    traces = []

    def keep(transition):
        traces.append(1)
        return transition.reward

    for seed in range(3):
        _, state = wrapper().reset(jax.random.key(seed))
        ROLLOUT(wrapper(), state, num_steps=4, keep=keep)
    assert len(traces) == 1


def test_wrappers_survive_copy_and_pickle():
    venv = EpisodeStatistics(vectorize(Countdown(), 3))
    assert copy.deepcopy(venv) == venv
    assert pickle.loads(pickle.dumps(venv)) == venv
    assert venv.num_envs == 3
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = venv.no_such_thing
