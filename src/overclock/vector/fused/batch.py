"""A `VectorEnv` on a kernel: its step, and whole rollouts, as `lane_scan`s of one lane's program."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from overclock.backends import Backend, Kernel
from overclock.env.environment import Obs
from overclock.env.overflow import OVERFLOW, OnOverflow, checked_on_overflow, refuse_overflow, room_of
from overclock.env.rng import Rng, Section
from overclock.vector.fused.scan import Body, depends, keeps_its_form, lane_scan, trace, whole_steps
from overclock.vector.fused.support import fastest_backend
from overclock.vector.lane import Lane, lane_step, sample_action
from overclock.vector.transition import LaneTransition

if TYPE_CHECKING:
    from overclock.vector.vectorize import VectorEnv, VectorState

LanePolicy = Callable[[Rng, Obs, Any, Any], Any]
"""`policy(rng, obs, mask, params) -> action` of one lane; `rng` is of the ACTION section."""


def kernel_step(venv: "VectorEnv", backend: Kernel, state: "VectorState", actions: Any, params: Any) -> Any:
    """`VectorEnv.step` as one call of a kernel."""
    actions = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], actions)
    body, lanes, split = lane_program(venv, state, params)
    lane, outputs = lane_scan(body, lanes, actions, 1, constant=split.own, shared=split.shared, backend=backend)
    obs, reward, terminated, truncated, info = jax.tree.map(lambda leaf: leaf[0], outputs)
    return obs, _state_of(lane, state), reward, terminated, truncated, info


def lane_program(venv: "VectorEnv", state: "VectorState", params: Any) -> tuple[Body, Lane, "SplitParams"]:
    """One step with a given action, as the body of a `lane_scan`, with the state and the parameters it takes."""
    split = SplitParams(venv, params)

    def body(lane: Lane, action: Any, own: Any, shared: Any) -> tuple[Lane, Any]:
        obs, lane, *rest = lane_step(venv.env, venv.autoreset, lane, action, split.join(own, shared))
        return lane, (obs, *rest)

    return body, _lanes_of(state), split


def fused_rollout(
    venv: "VectorEnv",
    state: "VectorState",
    num_steps: int,
    *,
    policy: LanePolicy | None = None,
    keep: Callable[[LaneTransition], Any] | None = None,
    fold: tuple[Any, Callable[[Any, LaneTransition], Any]] | None = None,
    window: int | None = None,
    into: Any = None,
    params: Any = None,
    overflow: OnOverflow = "error",
) -> tuple["VectorState", Any, Any]:
    """Play `num_steps` steps in one kernel: (state, what was kept of each step, what was folded).

    - `policy(rng, obs, mask, params)` decides for one lane; random without one.
    - `keep(transition)` is what is stored of a lane's step, [num_steps, lanes, ...]; nothing without one. With
      `window`, only the last so many steps are kept, step t in row t % window. `into` are arrays to write to.
    - `fold = (first, step)` sums up instead of storing: `step(sums, transition) -> sums` for one lane, from `first`
      (with the lanes as its first axis).

    Outside `jit`, a lane that runs out of room is an OverflowedError unless `overflow` is "info", as in `rollout`.
    All functions see one lane, without its batch axis. `venv.backend` says what runs it: a kernel of C or CUDA, or XLA.
    """
    backend, num_steps = fastest_backend(venv), whole_steps(num_steps, "fused_rollout")
    venv.require_lanes(state)
    checked_on_overflow(overflow)
    params = venv.default_params() if params is None else params
    first, add = fold if fold is not None else ((), lambda sums, _: sums)
    split = SplitParams(venv, params)
    seen = _seen(venv, state, split, backend)

    def body(carry: Any, _: Any, own: Any, shared: Any) -> tuple[Any, Any]:
        lane, kept, sums, lost = carry
        obs = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape[1:], leaf.dtype), seen) if kept is None else kept
        here = split.join(own, shared)
        rng, mask = lane.rng.of_section(Section.ACTION), venv.env.action_mask(lane.lane.rules, here)
        action = sample_action(venv.env, rng, mask, here) if policy is None else policy(rng, obs, mask, here)
        after, lane, reward, terminated, truncated, info = lane_step(venv.env, venv.autoreset, lane, action, here)
        transition = LaneTransition(obs, action, reward, terminated, truncated, info, after)
        added = add(sums, transition)
        keeps_its_form(sums, added, "The step of fold")
        if lost is not None:
            lost = lost | info[OVERFLOW]
        return (lane, None if kept is None else after, added, lost), () if keep is None else keep(transition)

    lost = _nothing_lost(venv, state) if overflow == "error" else None
    carry = (_lanes_of(state), seen, first, lost)
    if not _observation_counts(body, carry, split):  # then any will do, and none is kept from step to step
        carry = (carry[0], None, first, lost)
    (lane, _, sums, lost), kept = lane_scan(
        body, carry, None, num_steps, constant=split.own, shared=split.shared, window=window, into=into, backend=backend
    )
    refuse_overflow(lost, room=room_of(venv.env))
    return _state_of(lane, state), kept, sums


def _nothing_lost(venv: "VectorEnv", state: "VectorState") -> Any:
    """A flag for every lane, to note an overflow in; None where room cannot run out, or where nobody could be told."""
    if isinstance(state.rng.k0, Tracer):
        return None
    flags = jax.eval_shape(jax.vmap(venv.env.overflow), state.lanes.rules)
    return None if flags is None else jnp.zeros(venv.num_envs, jnp.bool_)


def _seen(venv: "VectorEnv", state: "VectorState", split: "SplitParams", backend: Backend) -> Any:
    """What is seen before the first step, by the same arithmetic as what is seen later: XLA's may round otherwise."""

    def body(rules: Any, _: Any, own: Any, shared: Any) -> tuple[Any, Any]:
        return rules, venv.env.observe(rules, split.join(own, shared))

    _, seen = lane_scan(body, state.lanes.rules, None, 1, constant=split.own, shared=split.shared, backend=backend)
    return jax.tree.map(lambda leaf: leaf[0], seen)


def _observation_counts(body: Any, carry: Any, split: "SplitParams") -> bool:
    """Whether anything but the next observation depends on what was seen before a step."""
    program, signature, _ = trace(body, carry, split.own, split.shared, None)
    before, seen, *_ = (len(jax.tree.leaves(part)) for part in carry)
    own = list(range(before, before + seen))
    others = [i for i in range(len(signature.carry) + len(signature.ys)) if i not in own]
    return depends(program, others, own)


def _lanes_of(state: "VectorState") -> Lane:
    return Lane(lane=state.lanes, rng=state.rng, ended=state.ended)


def _state_of(lane: Lane, before: "VectorState") -> "VectorState":
    return before.replace(lanes=lane.lane, rng=lane.rng, ended=lane.ended)


class SplitParams:
    """Parameters as a kernel takes them: written into it where they are plain numbers, else per lane or shared."""

    def __init__(self, venv: "VectorEnv", params: Any) -> None:
        axes = jax.tree.leaves(venv.params_axes(params), is_leaf=lambda leaf: leaf is None)
        with_none, self._tree = jax.tree.flatten(params, is_leaf=lambda leaf: leaf is None)
        kinds = [
            "own"
            if axis == 0
            else "known"
            if leaf is None or isinstance(leaf, bool | int | float | np.generic)
            else "shared"
            for axis, leaf in zip(axes, with_none, strict=True)
        ]
        self._kinds, self._leaves = kinds, with_none
        self.own = [leaf for kind, leaf in zip(kinds, with_none, strict=True) if kind == "own"]
        self.shared = [leaf for kind, leaf in zip(kinds, with_none, strict=True) if kind == "shared"]

    def join(self, own: list[Any], shared: list[Any]) -> Any:
        """The parameters of one lane."""
        sources = {"own": iter(own), "shared": iter(shared)}
        leaves = [
            leaf if kind == "known" else next(sources[kind])
            for kind, leaf in zip(self._kinds, self._leaves, strict=True)
        ]
        return jax.tree.unflatten(self._tree, leaves)
