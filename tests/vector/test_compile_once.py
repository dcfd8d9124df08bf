"""Values never cause a new compilation, and equal environments share what is compiled."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams

from overclock.env import Rng
from overclock.vector import EpisodeStatistics, Fresh, JaxHostVector, Optimistic, Pool, vectorize

TRACES: list[str] = []


@dataclasses.dataclass(frozen=True)
class Traced(Countdown):
    """Notes every time JAX looks at its rules."""

    name: str = ""

    def transition(self, state, action, draw, params):
        TRACES.append("transition")
        return super().transition(state, action, draw, params)

    def init(self, draw, params):
        TRACES.append("init")
        return super().init(draw, params)


@pytest.mark.parametrize("resets", [Fresh(), Optimistic(2), Pool(2)], ids=str)
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_stepping_compiles_once_whatever_the_values(autoreset, resets):
    def fresh():
        return vectorize(Traced(name=f"{autoreset} {resets}"), 4, autoreset, resets)

    _, state = fresh().reset(jax.random.key(0), CountdownParams(max_steps=3))
    for step in range(8):
        params = CountdownParams(max_steps=3 + step, pace=1 + step % 2, bonus=0.5 * step)
        actions = [jnp.full(4, step % 3, jnp.int32), np.full(4, step % 3, np.int32)][step % 2]
        _, state, *_ = fresh().step(state, actions, params)
        if step == 0:
            TRACES.clear()
    fresh().reset(jax.random.key(7), CountdownParams(max_steps=9))
    assert TRACES == []


def test_single_environments_compile_once():
    env = Traced(name="single")
    rng = Rng.of(0)
    _, state = env.reset(rng)
    env.step(rng, state, jnp.int32(0))
    TRACES.clear()
    for seed in range(5):
        _, state = Traced(name="single").reset(Rng.of(seed))
        _, state, *_ = Traced(name="single").step(Rng.of(seed + 9), state, jnp.int32(seed % 3))
    assert TRACES == []


def test_other_static_fields_compile_anew():
    for shortest in (20, 30):
        TRACES.clear()
        obs, _ = vectorize(Traced(shortest=shortest, spread=1, name="other"), 2).reset(jax.random.key(0))
        assert obs[:, 0].tolist() == [shortest, shortest]
        assert TRACES


def test_statistics_and_host_vectors_share_the_compiled_step():
    def host():
        return JaxHostVector(EpisodeStatistics(vectorize(Traced(name="host"), 3)), seed=1)

    first = host()
    first.reset([1, 2, 3])
    first.step(np.zeros(3, np.int32))
    TRACES.clear()
    second = host()
    second.reset([4, None, 6])
    second.step(np.ones(3, np.int64))
    assert TRACES == []
