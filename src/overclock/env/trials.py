"""What the checks of the contract try an environment with: random actions, a step that ends it, other parameters."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from overclock.env.environment import Environment, EnvState
from overclock.env.rng import Rng, Section
from overclock.errors import OverclockError

SEARCH_LANES, SEARCH_STEPS = 64, 1000  # random play in which a terminating step is looked for


class NotReachedError(OverclockError):
    """A check needs a situation that random play did not reach; nothing is wrong, nothing is shown."""


def sample_action(env: Environment[Any, Any], rng: Rng, state: EnvState, params: Any) -> Any:
    """A random legal action (one per player where there are several) for one instance."""
    space, mask = env.action_space(params), env.action_mask(state.rules, params)
    rng = rng.of_section(Section.ACTION)
    if env.num_players == 1:
        return space.sample(rng, 0, mask)
    samples = [
        space.sample(rng, player * space.sites, None if mask is None else mask[player])
        for player in range(env.num_players)
    ]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *samples)


def find_step(env: Environment[Any, Any], params: Any, terminated: bool) -> tuple[EnvState, Any, Rng]:
    """A state, action and randomness of random play whose step terminates (or does not)."""
    if terminated and never_ends(env, params):
        raise NotReachedError("no step terminates: in the program of a step the flag is a constant.")
    hits, lanes = _looked(env, _Same(params), terminated)
    if not hits.any():
        what = "terminating" if terminated else "continuing"
        raise NotReachedError(f"no {what} step in {SEARCH_LANES} x {SEARCH_STEPS} steps of random play.")
    return jax.tree.map(lambda leaf: leaf[int(hits.argmax())], lanes)


def never_ends(env: Environment[Any, Any], params: Any) -> bool:
    """Whether `terminated` is the constant False in the program of a step, so that there is nothing to look for."""

    def terminated(rng: Rng) -> Any:
        _, state = env.reset(rng, params)
        return env.step(rng, state, sample_action(env, rng, state, params), params)[3]

    (flag,) = jax.make_jaxpr(terminated)(Rng.of(0)).jaxpr.outvars
    return isinstance(flag, Literal) and not flag.val


@dataclasses.dataclass(frozen=True, eq=False)
class _Same:
    """Parameters as a key: their arrays cannot be hashed, and only the very same ones are equal."""

    params: Any

    def __hash__(self) -> int:
        return id(self.params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.params is other.params


@functools.lru_cache(maxsize=4)
def _looked(env: Environment[Any, Any], given: _Same, terminated: bool) -> tuple[Any, tuple[EnvState, Any, Rng]]:
    """(the lanes whose last step was of the kind, that step); several checks ask for the same one."""
    hits, lanes = _search(env, given)(Rng.of(3).lanes(SEARCH_LANES), terminated)
    return np.asarray(hits), lanes


@functools.lru_cache(maxsize=2)
def _search(env: Environment[Any, Any], given: _Same) -> Callable[[Rng, bool], Any]:
    """Random play of all lanes up to the first step of a kind in any; compiled once for all checks that look for one.

    The parameters are no argument of it: a space may be made of their values, which a traced one does not have.
    """
    unlimited = given.params.replace(max_steps=None)

    def step(rng: Rng, state: EnvState) -> Any:
        action = sample_action(env, rng, state, unlimited)
        _, after, _, ended, _, _ = env.step(rng, state, action, unlimited)
        return ended, (state, action, rng), (rng.advance(), after)

    def play(rngs: Rng, terminated: Any) -> Any:
        def goes_on(carry: Any) -> Any:
            taken, ended, *_ = carry
            return (taken < SEARCH_STEPS) & ~jnp.any(ended == terminated)

        def turn(carry: Any) -> Any:
            return (carry[0] + 1, *jax.vmap(step)(*carry[-1]))

        rngs, states = begun = jax.vmap(lambda rng: (rng.advance(), env.reset(rng, unlimited)[1]))(rngs)
        actions = jax.vmap(lambda rng, state: sample_action(env, rng, state, unlimited))(rngs, states)
        none = jnp.full(SEARCH_LANES, ~jnp.bool_(terminated))
        _, ended, lanes, _ = jax.lax.while_loop(goes_on, turn, (0, none, (states, actions, rngs), begun))
        return ended == terminated, lanes

    return jax.jit(play)


def other_values(params: Any) -> Any:
    """Parameters of the same types, every number another one; static fields too, where numbers do not belong."""
    fields = {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}
    numbers = {name: _other(value) for name, value in fields.items() if isinstance(value, bool | int | float)}
    return jax.tree.map(_other, params).replace(**numbers)


def _other(value: Any) -> Any:
    dtype = jnp.result_type(value)
    if dtype == jnp.bool_:
        return not value if isinstance(value, bool) else ~value
    if jnp.issubdtype(dtype, jnp.integer):
        return value + 1
    if jnp.issubdtype(dtype, jnp.floating):
        return (value + 1e-3) * 0.999  # a probability stays one
    return value
