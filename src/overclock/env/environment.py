"""The contract every environment meets: pure rules on one instance, from which the base class derives the rest.

An environment is a frozen, hashable dataclass. Its fields are static (they decide shapes and compilation);
`Params` is a pytree that may vary inside a batch. Rules never see a random key: randomness is drawn first
(`draw_reset`, `draw_step`) and passed in as data, so a reference's recorded randomness can be replayed.
"""

import functools
from typing import Any, Generic, Self, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from overclock.env.autoreset import select, step_with_autoreset
from overclock.env.options import checked_parameters, hold_values, refuse_unknown_parameters
from overclock.env.overflow import OVERFLOW, overflow_of
from overclock.env.rng import Rng, Section
from overclock.env.spaces import Space
from overclock.env.struct import Struct
from overclock.errors import UsageError

Obs = Any
Key = Rng | jax.Array
STEP_LIMIT = 1 << 31  # steps are counted in int32


class Params(Struct):
    """Numbers of the rules that may differ between members of a batch. `max_steps=None` means no time limit."""

    max_steps: int | None = None

    def replace(self, **changes: Any) -> Self:
        """A copy with some parameters changed; a name or a value that does not fit is refused.

        A tree of axes, shardings or flags in the shape of parameters, whose values are of other types, takes any value.
        """
        refuse_unknown_parameters(self, changes)
        if hold_values(self) and not _uncountable(self.max_steps):
            changes = checked_parameters(self, changes)
            for limit in _uncountable(changes.get("max_steps")):
                raise UsageError(f"max_steps must be 1 to 2**31 - 1, or None for no time limit, got {limit}.")
        return super().replace(**changes)


def _uncountable(limit: Any) -> list[int]:
    """The time limits that steps are not counted to, of one or of every lane; none is read back from a device."""
    known = isinstance(limit, int | np.integer | np.ndarray)
    return [number for number in np.ravel(limit).tolist() if not 1 <= number < STEP_LIMIT] if known else []


class EnvState(Struct):
    """What a running environment is: the state of its rules and the number of steps since reset."""

    rules: Any
    steps: Int[Array, ""]


P = TypeVar("P", bound=Params)
S = TypeVar("S", bound=Struct)


class Environment(Generic[S, P]):
    """Base class. Subclasses are `@dataclass(frozen=True)` and write the rules; users call `reset` and `step`."""

    num_players: int = 1

    # ---- the rules, written by each environment ----

    def default_params(self) -> P:
        """The parameters of the reference."""
        raise NotImplementedError

    def init(self, draw: Any, params: P) -> S:
        """The first state of an episode, from its randomness."""
        raise NotImplementedError

    def transition(
        self, state: S, action: Any, draw: Any, params: P
    ) -> tuple[S, Float[Array, "*players"], Bool[Array, ""]]:
        """One step of the rules: (state, reward, terminated). Never resets, never counts steps."""
        raise NotImplementedError

    def observe(self, state: S, params: P) -> Obs:
        """What the players see of a state."""
        raise NotImplementedError

    def observation_space(self, params: P) -> Space:
        """The space of one player's observation."""
        raise NotImplementedError

    def action_space(self, params: P) -> Space:
        """The space of one player's action."""
        raise NotImplementedError

    def draw_reset(self, rng: Rng, params: P) -> Any:
        """The randomness of one reset, as a small pytree; `()` where there is none."""
        return ()

    def draw_step(self, rng: Rng, state: S, params: P) -> Any:
        """The randomness of one step, as a small pytree; `()` where there is none."""
        return ()

    def action_mask(self, state: S, params: P) -> Bool[Array, "*players actions"] | None:
        """Which actions are legal; None where every action always is."""
        return None

    def acting(self, state: S, params: P) -> Bool[Array, " players"]:
        """Which players move now (games of several players; the others' actions are ignored)."""
        return jnp.ones(self.num_players, jnp.bool_)

    def info(self, state: S, params: P) -> dict[str, Any]:
        """Further facts about a state, with a fixed structure; may be empty."""
        return {}

    def overflow(self, state: S) -> Bool[Array, ""] | None:
        """Whether this state is no longer the reference's for lack of room; None where room cannot run out.

        By default what flags called `overflow` say, anywhere in the state; they stay set until the next reset.
        """
        return overflow_of(state)

    # ---- derived: what users call ----

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def reset(self, key: Key, params: P | None = None) -> tuple[Obs, EnvState]:
        """Start an episode from a jax key or an `Rng`."""
        params = self.default_params() if params is None else params
        state = self.reset_state(Rng.of(key), params)
        return self.observe(state.rules, params), state

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def step_env(
        self, key: Key, state: EnvState, action: Any, params: P | None = None
    ) -> tuple[Obs, EnvState, Float[Array, "*players"], Bool[Array, ""], Bool[Array, ""], dict[str, Any]]:
        """One step without reset: (obs, state, reward, terminated, truncated, info)."""
        params = self.default_params() if params is None else params
        draw = self.draw_step(Rng.of(key).of_section(Section.STEP), state.rules, params)
        state, reward, terminated, truncated = self.advance(state, action, draw, params)
        return (
            self.observe(state.rules, params), state, reward, terminated, truncated, self.facts(state.rules, params)
        )  # fmt: skip

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def step(
        self, key: Key, state: EnvState, action: Any, params: P | None = None
    ) -> tuple[Obs, EnvState, Float[Array, "*players"], Bool[Array, ""], Bool[Array, ""], dict[str, Any]]:
        """One step; a finished episode starts anew, and `info["final_observation"]` keeps its last observation."""
        params = self.default_params() if params is None else params
        rng = Rng.of(key)
        draw = self.draw_step(rng.of_section(Section.STEP), state.rules, params)
        obs, state, _, reward, terminated, truncated, info = step_with_autoreset(
            "same_step", state, None,
            play=lambda before: self.advance(before, action, draw, params),
            restart=lambda over, after: select(over, self.reset_state(rng, params), after),
            observe=lambda running: self.observe(running.rules, params),
            info=lambda running: self.facts(running.rules, params),
        )  # fmt: skip
        return obs, state, reward, terminated, truncated, info

    # ---- derived: building blocks of the vector layer and of verification ----

    def facts(self, state: S, params: P) -> dict[str, Any]:
        """What a step tells in `info`: what `info` says, and `overflow` where room can run out."""
        lost = self.overflow(state)
        return {**self.info(state, params), **({} if lost is None else {OVERFLOW: lost})}

    def reset_state(self, rng: Rng, params: P) -> EnvState:
        """A fresh episode's state from the reset section of an event."""
        return self.begin(self.draw_reset(rng.of_section(Section.RESET), params), params)

    def begin(self, draw: Any, params: P) -> EnvState:
        """A fresh episode's state from given randomness."""
        return EnvState(rules=self.init(draw, params), steps=jnp.int32(0))

    def advance(
        self, state: EnvState, action: Any, draw: Any, params: P
    ) -> tuple[EnvState, Float[Array, "*players"], Bool[Array, ""], Bool[Array, ""]]:
        """One counted step from given randomness: (state, reward, terminated, truncated).

        Rules always see actions of their space's integer type, and values whose type is not weak: the result cannot
        depend on how a caller wrote them.
        """
        action = self._of_space(action, params)
        rules, reward, terminated = self.transition(jax.tree.map(_strong, state.rules), action, draw, params)
        steps = state.steps + jnp.int32(1)
        truncated = jnp.bool_(False) if params.max_steps is None else steps >= params.max_steps
        return EnvState(rules=rules, steps=steps), reward, terminated, truncated

    def _of_space(self, action: Any, params: P) -> Any:
        """Actions as whole numbers of the space's type; others as they are."""
        dtype = getattr(self.action_space(params), "dtype", None)
        if dtype is None or dtype.kind not in "iu" or not isinstance(action, int | np.ndarray | np.generic | jax.Array):
            return jax.tree.map(_strong, action)
        given = jnp.result_type(action)
        return (
            _strong(action)
            if given.kind not in "iub"
            else jnp.asarray(action).astype(jax.dtypes.canonicalize_dtype(dtype))
        )


def _strong(leaf: Any) -> Any:
    """A JAX array whose type is not weak: a weak one takes that of whatever it meets."""
    return jnp.asarray(leaf, leaf.dtype) if getattr(leaf, "weak_type", False) else leaf
