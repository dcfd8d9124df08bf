"""Our side of a twin: any registered JAX environment as a Subject that replays given draws."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env import registry
from overclock.env.kernel import EnvState, select
from overclock.env.rng import Rng
from overclock.env.spaces import Box, Discrete
from overclock.vector.host import flatten_state
from overclock.verify.subject import Arrays, Observed


class JaxSubject:
    """A batch of one environment; state fields are the names of the rules' state, plus `steps`."""

    def __init__(self, num_envs: int, env_id: str, static: dict[str, Any] | None = None) -> None:
        self.num_envs = num_envs
        self._env, self._params = registry.make(env_id, **(static or {}))
        rng = Rng.of(0).lanes(num_envs)
        self._reset_like = jax.eval_shape(jax.vmap(lambda r: self._env.draw_reset(r, self._params)), rng)
        self._lanes: EnvState = jax.jit(jax.vmap(lambda r: self._env.reset_state(r, self._params)))(rng)
        self._step_like = jax.eval_shape(
            jax.vmap(lambda r, s: self._env.draw_step(r, s, self._params)), rng, self._lanes.rules
        )
        self._jit_reset = jax.jit(jax.vmap(self._reset_lane))
        self._jit_step = jax.jit(jax.vmap(self._step_lane))

    def describe(self) -> dict[str, Any]:
        """As `Subject.describe`."""
        space = self._env.action_space(self._params)
        if isinstance(space, Discrete):
            return {"kind": "discrete", "n": space.n}
        if isinstance(space, Box):
            low, high = space.bounds()
            return {"kind": "box", "low": low, "high": high}
        raise NotImplementedError(f"no action source for {space}")

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`; the randomness must be given."""
        self._lanes, obs = self._jit_reset(mask, _unflatten(draws or {}, self._reset_like), self._lanes)
        return Observed({"obs": np.asarray(obs)}, self._state(), draws or {})

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`."""
        draw = _unflatten(draws or {}, self._step_like)
        self._lanes, outputs = self._jit_step(self._lanes, jnp.asarray(actions), draw)
        return Observed({name: np.asarray(value) for name, value in outputs.items()}, self._state(), draws or {})

    def set_state(self, state: Arrays) -> None:
        """As `Subject.set_state`."""
        rules = _unflatten({name: values for name, values in state.items() if name != "steps"}, self._lanes.rules)
        self._lanes = EnvState(rules=rules, steps=jnp.asarray(state["steps"], jnp.int32))

    def _reset_lane(self, chosen: Any, draw: Any, lane: EnvState) -> tuple[EnvState, Any]:
        lane = select(chosen, self._env.begin(draw, self._params), lane)
        return lane, self._env.observe(lane.rules, self._params)

    def _step_lane(self, lane: EnvState, action: Any, draw: Any) -> tuple[EnvState, dict[str, Any]]:
        lane, reward, terminated, truncated = self._env.advance(lane, action, draw, self._params)
        obs = self._env.observe(lane.rules, self._params)
        return lane, {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}

    def _state(self) -> Arrays:
        return {**flatten_state(self._lanes.rules), "steps": np.asarray(self._lanes.steps)}


def _unflatten(arrays: Arrays, like: Any) -> Any:
    """Named arrays (float64 from a reference, say) in the structure and the dtypes of `like`."""
    paths, treedef = jax.tree_util.tree_flatten_with_path(like)
    names = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in paths]
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ValueError(f"no value was given for {', '.join(missing)}")
    return jax.tree.unflatten(
        treedef, [jnp.asarray(arrays[name], leaf.dtype) for name, (_, leaf) in zip(names, paths, strict=True)]
    )
