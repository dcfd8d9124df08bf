"""Our side of a twin: any JAX environment as a Subject that replays given draws (or makes its own)."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.backends import Backend
from overclock.env import registry
from overclock.env.autoreset import select
from overclock.env.environment import Environment, EnvState
from overclock.env.overflow import OVERFLOW
from overclock.env.rng import Rng, Section
from overclock.env.spaces import Box, Discrete, MultiDiscrete
from overclock.results import encode
from overclock.vector.fused import lane_map, require_kernel
from overclock.vector.host import flatten_state
from overclock.verify.exhaustive.cells import Cells
from overclock.verify.exhaustive.jax_cells import next_limit
from overclock.verify.sides.patched import Patch, load_patched
from overclock.verify.sides.subject import Arrays, Observed


class JaxSubject:
    """A batch of one environment; state fields are the names of the rules' state, plus `steps`."""

    backend: Backend | None = None

    def __init__(
        self,
        num_envs: int,
        env_id: str,
        static: dict[str, Any] | None = None,
        params: dict[str, Any] | None = None,
        patches: list[dict[str, str]] | None = None,
        backend: Backend | None = None,
    ) -> None:
        """`static` and `params` override defaults; `patches` plant known bugs in the source before it is imported.

        `backend` computes what is compared, resets and steps from given draws: XLA, unless told. Draws of its own are
        always XLA's.
        """
        load_patched([Patch(**patch) for patch in patches or []])
        env, defaults = registry.make(env_id, **(static or {}))
        if backend in ("c", "cuda"):
            require_kernel(env, backend)
        self.backend = backend
        self._begin(num_envs, env, defaults.replace(**(params or {})))

    def _begin(self, num_envs: int, env: Environment[Any, Any], params: Any) -> None:
        """Compile a batch of `env`; a subclass may get it from elsewhere than the registry."""
        self.num_envs, self._env, self._params = num_envs, env, params
        self._checks: Any = None
        self._rng = rng = Rng.of(0).lanes(num_envs)
        self._jit_draw_reset = jax.jit(
            jax.vmap(lambda r: self._env.draw_reset(r.of_section(Section.RESET), self._params))
        )
        self._jit_draw_step = jax.jit(
            jax.vmap(lambda r, s: self._env.draw_step(r.of_section(Section.STEP), s, self._params))
        )
        self._reset_like = jax.eval_shape(self._jit_draw_reset, rng)
        self._lanes: EnvState = jax.jit(jax.vmap(lambda r: self._env.reset_state(r, self._params)))(rng)
        self._step_like = jax.eval_shape(self._jit_draw_step, rng, self._lanes.rules)
        backend = self.backend or "xla"
        self._jit_reset = jax.jit(functools.partial(lane_map, self._reset_lane, backend=backend))
        self._jit_step = jax.jit(functools.partial(lane_map, self._step_lane, backend=backend))
        self._jit_reset_limit = jax.jit(jax.vmap(next_limit(self._reset_by)))
        self._jit_step_limit = jax.jit(jax.vmap(next_limit(self._step_by)))

    @property
    def rules(self) -> tuple[Any, Any]:
        """The environment and its parameters, for checks of single functions."""
        return self._env, self._params

    def describe(self) -> dict[str, Any]:
        space = self._env.action_space(self._params)
        more: dict[str, Any] = {"calls": ["metamorphic", *(["cells"] if self._draws_one_number() else [])]}
        if self._env.num_players > 1:
            more["players"] = self._env.num_players
        if isinstance(space, Discrete):
            return {"kind": "discrete", "n": space.n, **more}
        if isinstance(space, Box):
            low, high = space.bounds()
            return {"kind": "box", "low": low, "high": high, **more}
        if isinstance(space, MultiDiscrete):  # whole numbers between bounds
            high = np.asarray(space.nvec, space.dtype) - 1
            return {"kind": "box", "low": np.zeros_like(high), "high": high, **more}
        raise NotImplementedError(f"no action source for {space}")

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`; without draws, from its own randomness for the seeds."""
        if draws is None:
            words = np.stack([seeds & 0xFFFFFFFF, seeds >> 32], axis=-1).astype(np.uint32)
            self._rng = select(jnp.asarray(mask), Rng.of(jnp.asarray(words)), self._rng)
            draws = flatten_state(self._jit_draw_reset(self._rng))
            self._rng = self._rng.advance()
        self._lanes, outputs = self._jit_reset(mask, _draw(draws, self._reset_like), self._lanes)
        return self._observed(outputs, draws)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`; without draws, from its own randomness."""
        if draws is None:
            draws = flatten_state(self._jit_draw_step(self._rng, self._lanes.rules))
            self._rng = self._rng.advance()
        draw = _draw(draws, self._step_like)
        self._lanes, outputs = self._jit_step(self._lanes, jnp.asarray(actions), draw)
        return self._observed(outputs, draws)

    def set_state(self, state: Arrays) -> None:
        rules = unflatten({name: values for name, values in state.items() if name != "steps"}, self._lanes.rules)
        self._lanes = EnvState(rules=rules, steps=jnp.asarray(state["steps"], jnp.int32))

    def cells(self, values: np.ndarray, actions: np.ndarray | None) -> Cells:
        """A reset of every lane (without actions) or a step with these numbers, and the limits that they met."""
        numbers, everyone = jnp.asarray(values), np.ones(self.num_envs, np.bool_)
        if actions is None:
            limits, only_compared = self._jit_reset_limit(numbers)
            shown = self.reset(everyone, everyone, dict.fromkeys(_names(self._reset_like), values))
        else:
            limits, only_compared = self._jit_step_limit(numbers, self._lanes, jnp.asarray(actions))
            shown = self.step(actions, dict.fromkeys(_names(self._step_like), values))
        return Cells(shown, np.asarray(limits)[:, None], np.asarray(only_compared))

    def _draws_one_number(self) -> bool:
        """Whether a reset and a step have at most one number each, wide enough for those of a reference."""
        draws = [jax.tree.leaves(like) for like in (self._reset_like, self._step_like)]
        wide = all(leaf.shape == (self.num_envs,) and leaf.dtype == np.float64 for leaves in draws for leaf in leaves)
        return wide and max(map(len, draws)) == 1

    def metamorphic(self, check: str, strays: dict[str, Any] | None = None) -> dict[str, Any]:
        """One of the checks of this environment against itself (see metamorphic.py); `strays` are the same in all."""
        from overclock.verify.interaction.metamorphic import SelfChecks  # most subjects are never asked

        self._checks = self._checks or SelfChecks(
            self._env, self._params, strays=strays or {}, backend=self.backend or "xla"
        )
        return encode(self._checks.run(check))

    def _reset_lane(self, chosen: Any, draw: Any, lane: EnvState) -> tuple[EnvState, dict[str, Any]]:
        lane = select(chosen, self._env.begin(draw, self._params), lane)
        return lane, self._seen(lane)

    def _step_lane(self, lane: EnvState, action: Any, draw: Any) -> tuple[EnvState, dict[str, Any]]:
        lane, reward, terminated, truncated = self._env.advance(lane, action, draw, self._params)
        return lane, {**self._seen(lane), "reward": reward, "terminated": terminated, "truncated": truncated}

    def _reset_by(self, number: Any) -> Any:
        lane = self._env.begin(_of_numbers(self._reset_like, number), self._params)
        return lane, self._seen(lane)

    def _step_by(self, number: Any, lane: EnvState, action: Any) -> Any:
        return self._step_lane(lane, action, _of_numbers(self._step_like, number))

    def _seen(self, lane: EnvState) -> dict[str, Any]:
        mask = self._env.action_mask(lane.rules, self._params)
        seen = {"obs": self._env.observe(lane.rules, self._params)}
        more = {"action_mask": mask, OVERFLOW: self._env.facts(lane.rules, self._params).get(OVERFLOW)}
        return {**seen, **{name: value for name, value in more.items() if value is not None}}

    def _observed(self, outputs: dict[str, Any], draws: Arrays) -> Observed:
        return Observed({name: np.asarray(value) for name, value in outputs.items()}, self._state(), draws)

    def _state(self) -> Arrays:
        return {**flatten_state(self._lanes.rules), "steps": np.asarray(self._lanes.steps)}


def _draw(draws: Arrays, like: Any) -> Any:
    """A reference's draws as those of the rules; randomness that the rules do not take would be lost unnoticed."""
    unknown = sorted(draws.keys() - set(_names(like)))
    if unknown:
        raise ValueError(f"the reference draws {', '.join(unknown)}, which the rules do not take")
    return unflatten(draws, like)


def _of_numbers(like: Any, number: Any) -> Any:
    """A draw whose every number is this one."""
    return jax.tree.map(lambda _: number, like)


def _names(like: Any) -> list[str]:
    paths, _ = jax.tree_util.tree_flatten_with_path(like)
    return [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in paths]


def unflatten(arrays: Arrays, like: Any) -> Any:
    """Named arrays (float64 from a reference, say) in the structure and the dtypes of `like`."""
    leaves, treedef = jax.tree.flatten(like)
    names = _names(like)
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ValueError(f"no value was given for {', '.join(missing)}")
    return jax.tree.unflatten(
        treedef, [jnp.asarray(arrays[name], leaf.dtype) for name, leaf in zip(names, leaves, strict=True)]
    )
