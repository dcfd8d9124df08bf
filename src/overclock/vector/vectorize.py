"""`vectorize(env, n)`: many instances of one environment as one pure function, with automatic resets.

The vector's state owns its randomness, so stepping needs no key, and a saved state continues exactly where it stopped.
"""

import dataclasses
import functools
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from overclock.backends import BatchBackend
from overclock.env.autoreset import Autoreset, select, step_with_autoreset
from overclock.env.environment import Environment, EnvState, Key, Obs, Params
from overclock.env.rng import Rng, Section
from overclock.env.struct import Struct
from overclock.errors import UsageError
from overclock.vector.fused import kernel_step, refuse_strategies, require_kernel
from overclock.vector.lane import sample_action
from overclock.vector.resets import Fresh, Resets, ResetStore


class VectorState(Struct):
    """Everything a batch of running environments is: lanes, their randomness, and what the reset strategy keeps."""

    lanes: EnvState
    rng: Rng
    ended: Bool[Array, " n"]  # lanes whose episode is over and not yet restarted (next_step and off)
    store: ResetStore


@dataclasses.dataclass(frozen=True)
class VectorEnv:
    """A batch of `num_envs` instances. Build it with `vectorize`."""

    env: Environment[Any, Any]
    num_envs: int
    autoreset: Autoreset = "same_step"
    resets: Resets = Fresh()
    backend: BatchBackend = "auto"

    def default_params(self) -> Params:
        """The parameters of the reference, shared by all lanes."""
        return self.env.default_params()

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def reset(self, key: Key, params: Any = None) -> tuple[Obs, VectorState]:
        """Start every lane. A key (or one-stream `Rng`) is split into one stream per lane; a batched `Rng` is kept."""
        params = self.default_params() if params is None else params
        rng = Rng.of(key)
        rng = rng.lanes(self.num_envs) if rng.k0.ndim == 0 else rng
        if rng.k0.shape != (self.num_envs,):
            raise UsageError(f"Got streams of shape {rng.k0.shape} for {self.num_envs} lanes.")
        axes = self.params_axes(params)
        lanes = jax.vmap(self.env.reset_state, in_axes=(0, axes))(rng, params)
        state = VectorState(
            lanes=lanes,
            rng=rng.advance(),
            ended=jnp.zeros(self.num_envs, jnp.bool_),
            store=self.resets.prepare(self.env, rng, params, axes),
        )
        return self.observe(state, params), state

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def step(
        self, state: VectorState, actions: Any, params: Any = None
    ) -> tuple[Obs, VectorState, Float[Array, "n *players"], Bool[Array, " n"], Bool[Array, " n"], dict[str, Any]]:
        """Step every lane: (obs, state, reward, terminated, truncated, info).

        - `same_step`: an ended lane's `obs` is the first of its next episode; `info["final_observation"]` has the last.
        - `next_step`: `obs` is the last observation; the next call ignores that lane's action, restarts it and
          returns its first observation with reward 0 and both flags False.
        - `off`: nothing restarts; call `reset_lanes`. Lanes that ended keep running under the rules.

        `info["final_observation"]` is dense and present in every mode: it is what the rules produced at this step.
        The environment's own `info` belongs to the same state, so an episode's last facts are never lost.
        """
        if any(np.shape(leaf)[:1] != (self.num_envs,) for leaf in jax.tree.leaves(actions)):
            got = [np.shape(leaf) for leaf in jax.tree.leaves(actions)]
            raise UsageError(f"Actions need one entry for each of {self.num_envs} lanes, got shape {got}.")
        self.require_lanes(state)
        params = self.default_params() if params is None else params
        if self.backend in ("c", "cuda"):
            return kernel_step(self, self.backend, state, actions, params)
        axes = self.params_axes(params)

        def play(running: Any) -> Any:
            lanes, store = running
            draws = jax.vmap(self.env.draw_step, in_axes=(0, 0, axes))(
                state.rng.of_section(Section.STEP), lanes.rules, params
            )
            lanes, reward, *flags = jax.vmap(self.env.advance, in_axes=(0, 0, 0, axes))(lanes, actions, draws, params)
            # Under vmap a constant flag comes back unbatched; the contract is one flag per lane.
            return (lanes, store), reward, *(jnp.broadcast_to(flag, (self.num_envs,)) for flag in flags)

        def restart(mask: Any, running: Any) -> Any:
            lanes, store = running
            fresh, store = self.resets.supply(self.env, store, state.rng, mask, params, axes)
            return select(mask, fresh, lanes), store

        obs, (lanes, store), ended, reward, terminated, truncated, info = step_with_autoreset(
            self.autoreset, (state.lanes, state.store), state.ended,
            play=play,
            restart=restart,
            observe=lambda running: self._observe(running[0], params, axes),
            info=lambda running: jax.vmap(self.env.facts, in_axes=(0, axes))(running[0].rules, params),
        )  # fmt: skip
        after = VectorState(lanes=lanes, rng=state.rng.advance(), ended=ended, store=store)
        return obs, after, reward, terminated, truncated, info

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def reset_lanes(
        self, state: VectorState, mask: Bool[Array, " n"], rng: Rng | None = None, params: Any = None
    ) -> tuple[Obs, VectorState]:
        """Restart the lanes in `mask`, from their own streams or, where given, from those of a batched `rng`.

        What the reset strategy stores is kept; `reset` with a batched `Rng` restarts every lane and prepares it anew.
        """
        params = self.default_params() if params is None else params
        streams = state.rng if rng is None else select(mask, rng, state.rng)
        fresh = jax.vmap(self.env.reset_state, in_axes=(0, self.params_axes(params)))(streams, params)
        # Lanes outside the mask keep their place in their stream: restarting one lane must not change another's future.
        state = state.replace(
            lanes=select(mask, fresh, state.lanes),
            rng=select(mask, streams.advance(), state.rng),
            ended=state.ended & ~mask,
        )
        return self.observe(state, params), state

    def observe(self, state: VectorState, params: Any = None) -> Obs:
        """What the lanes see now."""
        params = self.default_params() if params is None else params
        return self._observe(state.lanes, params, self.params_axes(params))

    def action_mask(self, state: VectorState, params: Any = None) -> Bool[Array, "n *players actions"] | None:
        """Which actions are legal in each lane; None where every action always is."""
        params = self.default_params() if params is None else params
        return jax.vmap(self.env.action_mask, in_axes=(0, self.params_axes(params)))(state.lanes.rules, params)

    def sample_actions(self, state: VectorState, params: Any = None) -> Any:
        """A uniformly random legal action per lane, from the lanes' own streams (their ACTION section)."""
        params = self.default_params() if params is None else params
        return random_policy(self, state.rng.of_section(Section.ACTION), None, self.action_mask(state, params), params)

    def params_axes(self, params: Any) -> Any:
        """Per leaf of `params`, 0 where it has a leading batch axis (compared with the defaults), else None."""
        default = self.default_params()

        def axis(given: Any, usual: Any) -> int | None:
            if given is None or np.ndim(given) == np.ndim(0 if usual is None else usual):
                return None
            if np.shape(given)[0] != self.num_envs:
                raise UsageError(f"A batched parameter has {np.shape(given)[0]} entries for {self.num_envs} lanes.")
            return 0

        return jax.tree.map(axis, params, default, is_leaf=lambda leaf: leaf is None)

    def require_lanes(self, state: Any) -> None:
        """Refuse the state of a batch of another size."""
        found = np.shape(state.rng.k0)  # wrapped states have it, too
        if found != (self.num_envs,):
            raise UsageError(f"The state has {found[0] if found else 'no'} lanes, the batch has {self.num_envs}.")

    def _observe(self, lanes: EnvState, params: Any, axes: Any) -> Obs:
        return jax.vmap(self.env.observe, in_axes=(0, axes))(lanes.rules, params)


def vectorize(
    env: Environment[Any, Any],
    num_envs: int,
    autoreset: Autoreset = "same_step",
    resets: Resets | None = None,
    backend: BatchBackend = "auto",
) -> VectorEnv:
    """Run `num_envs` instances of `env` as one pure function.

    `backend` says what runs it. `"xla"`: JAX's own compiler. `"c"` and `"cuda"`: one kernel generated from the same
    rules, for this processor or an NVIDIA GPU, for steps and rollouts. `"auto"`: XLA for single steps (they fuse with
    the policy's network, and can be differentiated), and the kernel for whole rollouts where it can be made.
    """
    if not isinstance(env, Environment):
        raise UsageError(f"vectorize needs an environment, the first value of overclock.make(id), got {env!r}.")
    if resets is not None and not isinstance(resets, Resets):
        raise UsageError(f"resets must be Fresh(), Pool(size) or Optimistic(ratio), got {resets!r}.")
    if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
        raise UsageError(f"num_envs must be a positive whole number, got {num_envs!r}.")
    if autoreset not in get_args(Autoreset):
        raise UsageError(f"autoreset must be 'same_step', 'next_step' or 'off', got {autoreset!r}.")
    if backend not in get_args(BatchBackend):
        raise UsageError(f"backend must be one of {', '.join(map(repr, get_args(BatchBackend)))}, got {backend!r}.")
    venv = VectorEnv(env, int(num_envs), autoreset, Fresh() if resets is None else resets, backend)
    if backend in ("c", "cuda"):
        refuse_strategies(venv)
        require_kernel(env, backend)
    return venv


def random_policy(venv: VectorEnv, rng: Rng, obs: Obs, mask: Any, params: Any) -> Any:
    """Uniform over the legal actions of every lane (and player), ignoring the observation."""

    def one_lane(lane_rng: Rng, lane_mask: Any) -> Any:
        return sample_action(venv.env, lane_rng, lane_mask, params)

    return jax.vmap(one_lane, in_axes=(0, None if mask is None else 0))(rng, mask)
