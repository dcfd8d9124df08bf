"""Our environments behind gymnax's interface: the five values of gymnax 0.x and the six of gymnax 1.x.

`GymnaxV0` is what PureJaxRL-style code and rejax expect, `GymnaxV1` what gymnax 1.x, its wrappers included, expects::

    env, params = overclock.make("cartpole")
    view = GymnaxV0(env)
    obs, state = view.reset(key, view.default_params)
    obs, state, reward, done, info = view.step(key, state, action, view.default_params)

Both reset automatically. No end of an episode is lost in the five values: `info` has `terminated`, `truncated`,
`final_observation` and `discount`, which is 0 on termination only (gymnax 0.x made it 0 at time limits too).
gymnax itself need not be installed. A step outside of `jit` that runs out of room raises (`overflow="info"`: it does
not, `info["overflow"]` says it in any case).
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from overclock.adapters.gymnax_spaces import to_gymnax_space
from overclock.env.environment import Environment, EnvState, Obs, Params
from overclock.env.overflow import OVERFLOW, OnOverflow, checked_on_overflow, refuse_overflow, room_of
from overclock.env.spaces import Discrete, structure
from overclock.errors import UsageError

NO_TIME_LIMIT = int(np.iinfo(np.int32).max)


class _GymnaxNames:
    """gymnax's name for `Params.max_steps`, for reading (rejax does) and for `replace`."""

    max_steps: int | None

    @property
    def max_steps_in_episode(self) -> Any:
        return NO_TIME_LIMIT if self.max_steps is None else self.max_steps

    def replace(self, **changes: Any) -> Any:
        if "max_steps_in_episode" in changes:
            changes["max_steps"] = changes.pop("max_steps_in_episode")
        return super().replace(**changes)  # pyright: ignore[reportAttributeAccessIssue]


@functools.cache
def _with_gymnax_names(cls: type[Params]) -> type[Params]:
    return type(f"Gymnax{cls.__name__}", (_GymnaxNames, cls), {})


class _GymnaxView:
    """What the two views share. Not a frozen dataclass: gymnax's vector wrapper replaces `reset` and `step`."""

    def __init__(self, env: Environment[Any, Any], overflow: OnOverflow = "error") -> None:
        if env.num_players > 1:
            raise UsageError(
                f"{type(env).__name__} has {env.num_players} players and gymnax knows one; "
                "pass `overclock.adapters.against.against(env)`."
            )
        self.env, self.overflow = env, checked_on_overflow(overflow)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other) and isinstance(other, _GymnaxView)
            and (self.env, self.overflow) == (other.env, other.overflow)
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((type(self), self.env, self.overflow))

    @property
    def default_params(self) -> Params:
        """The environment's parameters; they also answer to gymnax's `max_steps_in_episode`."""
        params = self.env.default_params()
        return _with_gymnax_names(type(params))(**vars(params))

    @property
    def name(self) -> str:
        """What gymnax calls an environment by: the name of its class."""
        return type(self.env).__name__

    @property
    def num_actions(self) -> int:
        """How many actions a discrete environment has; the length of the action in others."""
        space = self.env.action_space(self.env.default_params())
        if isinstance(space, Discrete):
            return space.n
        return sum(int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(structure(space)))

    def action_space(self, params: Any = None) -> Any:
        """The action space, gymnax style."""
        return to_gymnax_space(self.env.action_space(self._params(params)))

    def observation_space(self, params: Any = None) -> Any:
        """The observation space, gymnax style."""
        return to_gymnax_space(self.env.observation_space(self._params(params)))

    @functools.partial(jax.jit, static_argnames="self")
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Obs, EnvState]:
        """Start an episode from a jax key: (obs, state)."""
        return self.env.reset(key, self._params(params))

    def reset_env(self, key: jax.Array, params: Any = None) -> tuple[Obs, EnvState]:
        """gymnax's inner name for `reset`."""
        return self.env.reset(key, self._params(params))

    def get_obs(self, state: EnvState, params: Any = None, key: jax.Array | None = None) -> Obs:
        """The observation of a state."""
        return self.env.observe(state.rules, self._params(params))

    def action_mask(self, state: EnvState, params: Any = None) -> Bool[Array, " actions"] | None:
        """Which actions are legal, or None where all always are; gymnax itself has no word for it."""
        return self.env.action_mask(state.rules, self._params(params))

    def _params(self, params: Any) -> Any:
        return self.env.default_params() if params is None else params


def _compiled(step: Any) -> Any:
    """A compiled step. Called outside of `jit` and `vmap`, it raises OverflowedError where room runs out."""
    compiled = jax.jit(step, static_argnames="self")

    @functools.wraps(step)
    def checked(self: _GymnaxView, *args: Any, **keywords: Any) -> Any:
        found = compiled(self, *args, **keywords)
        if self.overflow == "error":
            refuse_overflow(found[-1].get(OVERFLOW), "this environment", room_of(self.env))
        return found

    return checked


class GymnaxV0(_GymnaxView):
    """gymnax 0.x: `step` returns `obs, state, reward, done, info`."""

    @_compiled
    def step(
        self, key: jax.Array, state: EnvState, action: Any, params: Any = None
    ) -> tuple[Obs, EnvState, Float[Array, ""], Bool[Array, ""], dict[str, Any]]:
        return _five(self.env.step(key, state, action, self._params(params)))

    @_compiled
    def step_env(
        self, key: jax.Array, state: EnvState, action: Any, params: Any = None
    ) -> tuple[Obs, EnvState, Float[Array, ""], Bool[Array, ""], dict[str, Any]]:
        """One step of the rules without reset, in the order of gymnax."""
        return _five(self.env.step_env(key, state, action, self._params(params)))


class GymnaxV1(_GymnaxView):
    """gymnax 1.x: `step` returns `obs, state, reward, terminated, truncated, info`."""

    @_compiled
    def step(
        self, key: jax.Array, state: EnvState, action: Any, params: Any = None
    ) -> tuple[Obs, EnvState, Float[Array, ""], Bool[Array, ""], Bool[Array, ""], dict[str, Any]]:
        obs, state, reward, terminated, truncated, info = self.env.step(key, state, action, self._params(params))
        return obs, state, reward, terminated, truncated, _flagged(info, terminated, truncated)

    @_compiled
    def step_env(
        self, key: jax.Array, state: EnvState, action: Any, params: Any = None
    ) -> tuple[Obs, EnvState, Float[Array, ""], Bool[Array, ""], dict[str, Any]]:
        """One step without reset: `obs, state, reward, terminated, info`, the time limit left to `is_truncated`."""
        obs, state, reward, terminated, truncated, info = self.env.step_env(key, state, action, self._params(params))
        return obs, state, reward, terminated, _flagged(info, terminated, truncated)

    def is_truncated(self, state: EnvState, params: Any = None) -> Bool[Array, ""]:
        """Whether a state has reached the time limit."""
        limit = self._params(params).max_steps
        return jnp.bool_(False) if limit is None else state.steps >= limit

    def observe(self, key: jax.Array, state: EnvState, action: Any, params: Any = None) -> Obs:
        """gymnax 1.x's name for `get_obs`."""
        return self.get_obs(state, params, key)


def _flagged(info: dict[str, Any], terminated: Bool[Array, ""], truncated: Bool[Array, ""]) -> dict[str, Any]:
    discount = jnp.where(terminated, 0.0, 1.0).astype(jnp.float32)
    return {**info, "terminated": terminated, "truncated": truncated, "discount": discount}


def _five(six: tuple[Any, ...]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    obs, state, reward, terminated, truncated, info = six
    return obs, state, reward, terminated | truncated, _flagged(info, terminated, truncated)
