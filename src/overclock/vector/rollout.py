"""Rollouts: T steps of a batch under a policy, compiled as one program."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from overclock.env.environment import Obs
from overclock.env.overflow import OVERFLOW, OnOverflow, checked_on_overflow, refuse_overflow, room_of
from overclock.env.rng import Section
from overclock.vector.fused import fastest_backend, fused_rollout
from overclock.vector.fused.scan import whole_steps
from overclock.vector.transition import LaneTransition, Transition
from overclock.vector.vectorize import VectorEnv, VectorState, random_policy

Policy = Callable[..., Any]
"""`policy(venv, rng, obs, mask, params) -> actions` for the whole batch; `rng` is batched, for its ACTION section."""


def keep_everything(transition: Transition) -> Any:
    """Store whole transitions: the default of `rollout(keep=...)`."""
    return transition


def rollout(
    venv: VectorEnv,
    state: VectorState,
    num_steps: int,
    policy: Policy = random_policy,
    params: Any = None,
    keep: Callable[[Transition], Any] = keep_everything,
    unroll: int = 1,
    overflow: OnOverflow = "error",
) -> tuple[VectorState, Any]:
    """Step the batch `num_steps` times; returns the final state and `keep(transition)` of every step, stacked in time.

    Under `backend="c"` or `"cuda"` a random rollout that keeps everything is one kernel; `fused_rollout` is that kernel
    with a lane's own policy, summaries and buffers. Any other policy sees the whole batch, so it steps one by one.

    What `keep` leaves out is never stored. `obs` of a transition is what the policy saw, before the step.
    Every call outside `jit` compiles anew, so call it from a jitted function, or as
    `jax.jit(rollout, static_argnames=("venv", "num_steps", "policy", "keep", "unroll"))`.

    Outside `jit`, a lane that runs out of room (`info["overflow"]`) is an OverflowedError unless `overflow` is "info".
    Compiled code cannot raise: there, keep `info["overflow"]` and look at it.
    """
    num_steps, overflow = whole_steps(num_steps, "rollout"), checked_on_overflow(overflow)
    venv.require_lanes(state)
    params = venv.default_params() if params is None else params
    plain = isinstance(venv, VectorEnv) and policy is random_policy and keep is keep_everything
    if plain and fastest_backend(venv) != "xla":
        return fused_rollout(venv, state, num_steps, keep=LaneTransition.of_batch, params=params, overflow=overflow)[:2]

    def step(carry: tuple[VectorState, Obs], _: None) -> tuple[tuple[VectorState, Obs], Any]:
        state, obs = carry
        mask = venv.action_mask(state, params)
        action = policy(venv, state.rng.of_section(Section.ACTION), obs, mask, params)
        after_obs, state, reward, terminated, truncated, info = venv.step(state, action, params)
        kept = keep(Transition(obs, action, reward, terminated, truncated, info))
        return (state, after_obs), (kept, jnp.any(info[OVERFLOW]) if OVERFLOW in info else None)

    (state, _), (kept, lost) = jax.lax.scan(step, (state, venv.observe(state, params)), None, num_steps, unroll=unroll)
    if overflow == "error" and lost is not None and not isinstance(lost, Tracer):
        refuse_overflow(np.asarray(lost).any(), "a lane of this rollout", room_of(venv.env))
    return state, kept
