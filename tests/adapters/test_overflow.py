"""Room that runs out is an error in every adapter, where it returns to the host; `overflow="info"` only tells it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Dealer, Duel

from overclock.adapters.dlpack import hand_over
from overclock.adapters.envpool import EnvPool
from overclock.adapters.gymnasium import GymnasiumEnv, make_vec
from overclock.adapters.gymnax import GymnaxV0, GymnaxV1
from overclock.adapters.pufferlib import PufferVec
from overclock.errors import OverflowedError
from overclock.vector import host_vector

SHORT = Dealer(tape_words=1)  # action 1 needs two words


@dataclasses.dataclass(frozen=True)
class Cramped(Duel):
    """A duel whose points have room up to 0."""

    def overflow(self, state):
        return jnp.max(state.points) > 0


def step_single(overflow):
    env = GymnasiumEnv(SHORT, overflow=overflow)
    env.reset(seed=0)
    return lambda action: env.step(action)[-1]["overflow"]


def step_vector(autoreset):
    def made(overflow):
        envs = make_vec(SHORT, 2, autoreset, overflow=overflow)
        envs.reset(seed=0)
        return lambda action: envs.step(np.array([0, action]))[-1]["overflow"][1]

    return made


def step_envpool(overflow):
    pool = EnvPool(host_vector(SHORT, 3, "next_step"), overflow=overflow)
    pool.reset()
    return lambda action: pool.step(np.array([action]), np.array([1]))[-1]["overflow"][0]


def step_pufferlib(overflow):
    vec = PufferVec(SHORT, 2, overflow=overflow)
    vec.reset(seed=0)

    def step(action):
        vec.step(np.array([0, action]))
        return vec.host.state.lanes.rules.overflow[1]

    return step


def step_gymnax(view):
    def made(overflow):
        env = view(SHORT, overflow=overflow)
        _, state = env.reset(jax.random.key(0))
        return lambda action: env.step(jax.random.key(1), state, action)[-1]["overflow"]

    return made


def step_brax(overflow):
    BraxEnv = pytest.importorskip("overclock.adapters.brax").BraxEnv
    env = BraxEnv(SHORT, overflow=overflow)
    state = env.reset(jax.random.key(0))
    return lambda action: env.step(state, jnp.eye(3)[action]).info["overflow"]


def step_pettingzoo(overflow):
    PettingZooParallel = pytest.importorskip("overclock.adapters.pettingzoo").PettingZooParallel
    env = PettingZooParallel(Cramped(), overflow=overflow)
    env.reset(seed=0)

    def step(action):
        if not action:
            return False  # a duel has no step that nobody wins
        return env.step(dict.fromkeys(env.agents, action))[-1]["player_0"]["overflow"]

    return step


def step_dlpack(overflow):
    env = GymnaxV1(SHORT, overflow="info")
    _, state = env.reset(jax.random.key(0))

    def step(action):
        *_, info = env.step(jax.random.key(1), state, action)
        return hand_over(info, overflow=overflow)["overflow"]

    return step


ADAPTERS = {
    "gymnasium": step_single,
    **{f"gymnasium vector {mode}": step_vector(mode) for mode in ("same_step", "next_step", "off")},
    "envpool": step_envpool,
    "pufferlib": step_pufferlib,
    "gymnax 0": step_gymnax(GymnaxV0),
    "gymnax 1": step_gymnax(GymnaxV1),
    "brax": step_brax,
    "pettingzoo": step_pettingzoo,
    "dlpack": step_dlpack,
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_running_out_of_room_is_an_error_by_default(adapter):
    step = ADAPTERS[adapter]("error")
    assert not step(0)
    with pytest.raises(OverflowedError, match="more room than it has"):
        step(1)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_running_out_of_room_is_only_told_where_that_is_asked_for(adapter):
    assert ADAPTERS[adapter]("info")(1)


def test_inside_jit_a_view_of_gymnax_only_tells():
    env = GymnaxV0(SHORT)
    _, state = env.reset(jax.random.key(0))
    assert jax.jit(lambda state: env.step(jax.random.key(1), state, 1)[-1])(state)["overflow"]
