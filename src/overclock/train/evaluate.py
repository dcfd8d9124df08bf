"""How good a policy is: the first N episodes of every lane, neither more nor fewer.

Counting whichever episodes end first would favour short ones, so every lane plays until it has finished its N.
Randomness is fixed by one seed per lane: it starts the lane's environment, and the policy's noise at step t of episode
e depends only on (seed, e, t). Two policies, or two implementations of an environment, evaluated with the same seeds
therefore meet the same luck. With one episode per lane the pairing is perfect; later episodes of a lane begin where
its environment's own stream happens to be.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from overclock.env.overflow import OVERFLOW
from overclock.env.rng import Rng, Section
from overclock.env.spaces import structure
from overclock.env.struct import Struct
from overclock.errors import UsageError
from overclock.train.host.lanes import HostLanes
from overclock.train.networks.agent import Agent, AgentParams
from overclock.train.policy import Policy
from overclock.vector.vectorize import VectorEnv

DEFAULT_STEP_LIMIT = 100_000  # per episode, where the environment itself sets none


@dataclasses.dataclass(frozen=True, eq=False)
class Episodes:
    """Returns and lengths, one row per lane (in the order of its seeds), one column per episode.

    `overflowed` counts the episodes in which room ran out, which are not the reference's; None where it cannot.
    """

    returns: np.ndarray
    lengths: np.ndarray
    overflowed: int | None = None


def evaluate_policy(
    policy: Policy,
    venv: VectorEnv,
    seeds: Sequence[int],
    episodes: int = 1,
    params: Any = None,
    deterministic: bool = True,
    step_limit: int | None = None,
) -> Episodes:
    """Play a policy in a JAX batch with one lane per seed; `deterministic` takes its likeliest actions.

    `step_limit` bounds the steps per episode; by default it is the environment's own time limit.
    """
    if venv.autoreset != "same_step" or venv.num_envs != len(seeds):
        raise UsageError(
            f"Evaluation needs vectorize(env, {len(seeds)}, 'same_step') for {len(seeds)} seeds, "
            f"got {venv.num_envs} lanes and '{venv.autoreset}'."
        )
    params = venv.default_params() if params is None else params
    _check(policy, venv.env.observation_space(params), episodes)
    if step_limit is None:
        step_limit = DEFAULT_STEP_LIMIT if params.max_steps is None else int(np.max(params.max_steps))
    table = _play(policy.agent, venv, episodes, deterministic, step_limit, policy.params, params, seed_words(seeds))
    return _finished(table, step_limit)


def evaluate_on_host(
    policy: Policy,
    envs: Any,
    seeds: Sequence[int],
    episodes: int = 1,
    deterministic: bool = True,
    step_limit: int = DEFAULT_STEP_LIMIT,
) -> Episodes:
    """The same on a `HostVector` or a Gymnasium `VectorEnv`, a reference for example, by a loop in Python."""
    lanes = HostLanes(envs)
    _check(policy, lanes.observation_space, episodes)
    obs, words = lanes.reset(seeds), seed_words(seeds)
    table = Table.empty(lanes.num_envs, episodes)
    memory, start = policy.first_memory(lanes.num_envs), np.ones(lanes.num_envs, np.bool_)
    for _ in range(episodes * step_limit):
        memory, actions = _decide(
            policy.agent, policy.params, memory, obs, start, lanes.action_mask(), words, table, deterministic
        )
        step = lanes.step(actions)
        obs, table = step.obs, _note(table, step.reward, step.ended, step.counted, step.overflow)
        # A lane that only restarts has its first observation after this call, one that restarts next has not.
        start = ~step.counted if lanes.autoreset == "next_step" else step.ended
        if np.min(table.episode) >= episodes:
            break
    return _finished(table, step_limit)


class Table(Struct):
    """Finished episodes of every lane, and the one being played."""

    returns: Float[Array, "n episodes"]
    lengths: Int[Array, "n episodes"]
    episode: Int[Array, " n"]
    step: Int[Array, " n"]
    so_far: Float[Array, " n"]
    overflowed: Int[Array, " n"] | None = None

    @classmethod
    def empty(cls, lanes: int, episodes: int) -> "Table":
        """The table before the first step, with no episode in it."""
        zero = jnp.zeros(lanes, jnp.int32)
        sheet = jnp.zeros((lanes, episodes), jnp.int32)
        return cls(sheet.astype(jnp.float32), sheet, zero, zero, zero.astype(jnp.float32))

    def counted(self) -> Int[Array, " n"]:
        """How many episodes of every lane ran out of room so far."""
        return jnp.zeros_like(self.episode) if self.overflowed is None else self.overflowed


@jax.jit
def _note(table: Table, reward: Any, ended: Any, counted: Any, lost: Any = None) -> Table:
    """The table after one step; episodes beyond the last column are played but not written down."""
    so_far, step = table.so_far + jnp.where(counted, reward, 0), table.step + counted
    columns = jnp.arange(table.returns.shape[1])
    here = (ended & counted)[:, None] & (table.episode[:, None] == columns)
    return Table(
        returns=jnp.where(here, so_far[:, None], table.returns),
        lengths=jnp.where(here, step[:, None], table.lengths),
        episode=table.episode + (ended & counted),
        step=jnp.where(ended, 0, step),
        so_far=jnp.where(ended, 0, so_far).astype(jnp.float32),
        overflowed=None if lost is None else table.counted() + (jnp.any(here, axis=1) & lost),
    )


@functools.partial(jax.jit, static_argnames=("agent", "deterministic"))
def _decide(
    agent: Agent,
    params: AgentParams,
    memory: Any,
    obs: Any,
    start: Any,
    mask: Any,
    words: UInt32[Array, "n 2"],
    table: Table,
    deterministic: bool,
) -> tuple[Any, Any]:
    if deterministic:
        return agent.act(params, memory, obs, start, mask)
    rng = Rng.of(jnp.concatenate([words, table.episode[:, None].astype(jnp.uint32)], axis=1))
    rng = rng.replace(counter=table.step.astype(jnp.uint32)).of_section(Section.ACTION)
    return agent.act(params, memory, obs, start, mask, rng)


@functools.partial(jax.jit, static_argnames=("agent", "venv", "episodes", "deterministic", "step_limit"))
def _play(
    agent: Agent,
    venv: VectorEnv,
    episodes: int,
    deterministic: bool,
    step_limit: int,
    params: AgentParams,
    env_params: Any,
    words: UInt32[Array, "n 2"],
) -> Table:
    def unfinished(carry: tuple[Any, ...]) -> Any:
        return (jnp.min(carry[-2].episode) < episodes) & (carry[-1] < episodes * step_limit)

    def step(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        state, obs, start, memory, table, steps = carry
        mask = venv.action_mask(state, env_params)
        memory, actions = _decide(agent, params, memory, obs, start, mask, words, table, deterministic)
        obs, state, reward, terminated, truncated, info = venv.step(state, actions, env_params)
        ended = terminated | truncated
        table = _note(table, reward, ended, jnp.ones_like(ended), info.get(OVERFLOW))
        return state, obs, ended, memory, table, steps + 1

    obs, state = venv.reset(Rng.of(words), env_params)
    start, memory = jnp.ones(venv.num_envs, jnp.bool_), agent.first_memory(venv.num_envs)
    table = Table.empty(venv.num_envs, episodes)
    if jax.eval_shape(jax.vmap(venv.env.overflow), state.lanes.rules) is not None:
        table = table.replace(overflowed=table.counted())
    first = (state, obs, start, memory, table, jnp.int32(0))
    return jax.lax.while_loop(unfinished, step, first)[-2]


def seed_words(seeds: Sequence[int]) -> UInt32[Array, "n 2"]:
    """The two 32-bit words of every seed: `Rng.of` of a row is `Rng.of` of its seed."""
    numbers = np.array([int(seed) & 0xFFFFFFFFFFFFFFFF for seed in seeds], np.uint64)
    return jnp.asarray(np.stack([numbers & np.uint64(0xFFFFFFFF), numbers >> np.uint64(32)], axis=-1).astype(np.uint32))


def _check(policy: Policy, space: Any, episodes: int) -> None:
    if isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 1:
        raise UsageError(f"episodes must be a whole number of at least 1, got {episodes!r}.")

    def shapes(of: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf.shape, structure(of))

    if shapes(space) != shapes(policy.agent.observation_space):
        raise UsageError(
            f"The policy sees observations of shape {shapes(policy.agent.observation_space)}, "
            f"this environment shows {shapes(space)}."
        )


def _finished(table: Table, step_limit: int) -> Episodes:
    returns, lengths, episode = (np.asarray(leaf) for leaf in (table.returns, table.lengths, table.episode))
    late = np.flatnonzero(episode < returns.shape[1])
    if late.size:
        raise UsageError(
            f"Lane {late[0]} finished {episode[late[0]]} of {returns.shape[1]} episodes in "
            f"{returns.shape[1] * step_limit} steps; raise step_limit, or give the environment a time limit."
        )
    return Episodes(returns, lengths, None if table.overflowed is None else int(np.sum(table.overflowed)))
