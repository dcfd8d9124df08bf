"""Rollouts by `lax.scan`: T steps of a batch under a policy, compiled as one program."""

from collections.abc import Callable
from typing import Any

import jax
from jaxtyping import Array, Bool, Float

from overclock.env.kernel import Obs
from overclock.env.rng import Section
from overclock.env.struct import Struct
from overclock.vector.vectorize import VectorEnv, VectorState, random_policy

Policy = Callable[..., Any]
"""`policy(venv, rng, obs, mask, params) -> actions` for the whole batch; `rng` is batched, for its ACTION section."""


class Transition(Struct):
    """One step of a batch: what was seen, what was done, what came of it."""

    obs: Obs
    action: Any
    reward: Float[Array, "n *players"]
    terminated: Bool[Array, " n"]
    truncated: Bool[Array, " n"]
    info: dict[str, Any]


def keep_everything(transition: Transition) -> Any:
    """The default of `rollout(keep=...)`."""
    return transition


def rollout(
    venv: VectorEnv,
    state: VectorState,
    num_steps: int,
    policy: Policy = random_policy,
    params: Any = None,
    keep: Callable[[Transition], Any] = keep_everything,
    unroll: int = 1,
) -> tuple[VectorState, Any]:
    """Step the batch `num_steps` times; returns the final state and `keep(transition)` of every step, stacked in time.

    What `keep` leaves out is never stored. `obs` of a transition is what the policy saw, before the step.
    Every call outside `jit` compiles anew, so call it from a jitted function, or as
    `jax.jit(rollout, static_argnames=("venv", "num_steps", "policy", "keep", "unroll"))`.
    """
    params = venv.default_params() if params is None else params

    def step(carry: tuple[VectorState, Obs], _: None) -> tuple[tuple[VectorState, Obs], Any]:
        state, obs = carry
        mask = venv.action_mask(state, params)
        action = policy(venv, state.rng.of_section(Section.ACTION), obs, mask, params)
        after_obs, state, reward, terminated, truncated, info = venv.step(state, action, params)
        return (state, after_obs), keep(Transition(obs, action, reward, terminated, truncated, info))

    (state, _), kept = jax.lax.scan(step, (state, venv.observe(state, params)), None, num_steps, unroll=unroll)
    return state, kept
