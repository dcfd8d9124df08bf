"""A batch that draws what its reference draws: each lane has NumPy's own stream (`env/pcg64.py`) of its seed.

`reset` with seed k begins the reference's own episode of seed k, and the stream goes on through steps and episodes as
the reference's does. For environments whose draws come in the reference's order; translated ones say whether theirs do
(`numpy_refusal`).
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from overclock.env.autoreset import Autoreset, select, step_with_autoreset
from overclock.env.environment import Environment, EnvState, Obs, Params
from overclock.env.pcg64 import NumpyDraws, Pcg64, require_x64
from overclock.env.struct import Struct
from overclock.errors import UsageError
from overclock.vector.host import HostStep, checked_mask, flatten_state, unflatten_state, whole_seeds
from overclock.vector.vectorize import VectorEnv, vectorize

NOT_TRANSLATED = "nothing says that it draws in the order of a reference, as translated environments do"


class Batch(Struct):
    """Lanes, the streams they draw from, and which of them have ended and not been restarted."""

    lanes: EnvState
    streams: Pcg64
    ended: Bool[Array, " n"]


class NumpyHostVector:
    """A `HostVector` on NumPy's streams."""

    num_players = 1

    def __init__(
        self,
        env: Environment[Any, Any],
        num_envs: int,
        autoreset: Autoreset = "same_step",
        params: Params | None = None,
        seed: int | None = None,
    ) -> None:
        refusal = getattr(env, "numpy_refusal", NOT_TRANSLATED)
        if refusal:
            raise UsageError(f"rng='numpy' is not possible for {type(env).__name__}: {refusal}.")
        require_x64()
        self.venv = vectorize(env, num_envs, autoreset)
        self.num_envs = self.venv.num_envs
        self.autoreset: Autoreset = autoreset
        self.params = env.default_params() if params is None else params
        self.observation_space = env.observation_space(self.params)
        self.action_space = env.action_space(self.params)
        first = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        streams = Pcg64.of_seeds([first + lane for lane in range(num_envs)])
        lanes, streams = _begun(self.venv, streams, self.params)
        self.state = Batch(lanes=lanes, streams=streams, ended=jnp.zeros(num_envs, jnp.bool_))

    @property
    def max_steps(self) -> Any:
        return self.params.max_steps

    def reset(self, seeds: Sequence[int | None] | None = None, mask: np.ndarray | None = None) -> Any:
        mask = checked_mask(mask, self.num_envs)
        streams = self.state.streams
        if seeds is not None:
            given = jnp.asarray([seed is not None for seed in seeds])
            streams = select(given & mask, Pcg64.of_seeds(whole_seeds(seeds, self.num_envs)), streams)
        obs, self.state = _reset(self.venv, self.state, streams, jnp.asarray(mask), self.params)
        return jax.tree.map(np.asarray, obs)

    def step(self, actions: Any) -> HostStep:
        self.state, seen = _step(self.venv, self.state, actions, self.params)
        return HostStep.of(seen)

    def action_mask(self) -> np.ndarray | None:
        axes = self.venv.params_axes(self.params)
        mask = jax.vmap(self.venv.env.action_mask, in_axes=(0, axes))(self.state.lanes.rules, self.params)
        return None if mask is None else np.asarray(mask)

    def get_state(self) -> dict[str, np.ndarray]:
        return flatten_state(self.state)

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        self.state = unflatten_state(state, self.state)


@functools.partial(jax.jit, static_argnums=0)
def _begun(venv: VectorEnv, streams: Pcg64, params: Any) -> tuple[EnvState, Pcg64]:
    """A new episode of every lane, and what its draws leave of the streams."""

    def one(stream: Pcg64, params: Any) -> tuple[EnvState, Pcg64]:
        draws: Any = NumpyDraws(stream)
        return venv.env.begin(venv.env.draw_reset(draws, params), params), draws.stream

    return jax.vmap(one, in_axes=(0, venv.params_axes(params)))(streams, params)


@functools.partial(jax.jit, static_argnums=0)
def _reset(venv: VectorEnv, state: Batch, streams: Pcg64, mask: Bool[Array, " n"], params: Any) -> tuple[Obs, Batch]:
    lanes, streams = select(mask, _begun(venv, streams, params), (state.lanes, state.streams))
    return _observed(venv, lanes, params), Batch(lanes=lanes, streams=streams, ended=state.ended & ~mask)


@functools.partial(jax.jit, static_argnums=0)
def _step(venv: VectorEnv, state: Batch, actions: Any, params: Any) -> tuple[Batch, tuple[Any, ...]]:
    axes = venv.params_axes(params)

    def one(lane: EnvState, action: Any, stream: Pcg64, params: Any) -> tuple[Any, ...]:
        draws: Any = NumpyDraws(stream)
        draw = venv.env.draw_step(draws, lane.rules, params)
        return *venv.env.advance(lane, action, draw, params), draws.stream

    def play(running: Any) -> Any:
        lanes, streams = running
        lanes, reward, *flags, streams = jax.vmap(one, in_axes=(0, 0, 0, axes))(lanes, actions, streams, params)
        return (lanes, streams), reward, *(jnp.broadcast_to(flag, state.ended.shape) for flag in flags)

    def restart(mask: Bool[Array, " n"], running: Any) -> Any:
        # In `next_step` an ended lane is restarted instead of stepped: the step took nothing from its stream.
        streams = state.streams if venv.autoreset == "next_step" else running[1]
        return select(mask, _begun(venv, streams, params), running)

    obs, (lanes, streams), ended, reward, terminated, truncated, info = step_with_autoreset(
        venv.autoreset, (state.lanes, state.streams), state.ended,
        play=play,
        restart=restart,
        observe=lambda running: _observed(venv, running[0], params),
        info=lambda running: jax.vmap(venv.env.facts, in_axes=(0, axes))(running[0].rules, params),
    )  # fmt: skip
    return Batch(lanes=lanes, streams=streams, ended=ended), (obs, reward, terminated, truncated, info)


def _observed(venv: VectorEnv, lanes: EnvState, params: Any) -> Obs:
    return jax.vmap(venv.env.observe, in_axes=(0, venv.params_axes(params)))(lanes.rules, params)
