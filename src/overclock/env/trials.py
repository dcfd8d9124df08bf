"""What the checks of the contract try an environment with: random actions, a step that ends it, other parameters."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.kernel import Environment, EnvState
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
    rngs = Rng.of(3).lanes(SEARCH_LANES)
    (states, actions, ends), firsts = _search(env, _Same(params))(rngs, terminated)
    hits = np.flatnonzero(np.asarray(ends) == terminated)
    if hits.size == 0:
        what = "terminating" if terminated else "continuing"
        raise NotReachedError(f"no {what} step in {SEARCH_LANES} x {SEARCH_STEPS} steps of random play.")
    lane_number = int(hits[0])
    rng = jax.tree.map(lambda leaf: leaf[lane_number], rngs)
    rng = rng.replace(counter=rng.counter + np.uint32(1) + firsts[lane_number].astype(np.uint32))
    return (*jax.tree.map(lambda leaf: leaf[lane_number], (states, actions)), rng)


@dataclasses.dataclass(frozen=True, eq=False)
class _Same:
    """Parameters as a key: their arrays cannot be hashed, and only the very same ones are equal."""

    params: Any

    def __hash__(self) -> int:
        return id(self.params)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.params is other.params


@functools.lru_cache(maxsize=2)
def _search(env: Environment[Any, Any], given: _Same) -> Callable[[Rng, bool], Any]:
    """Random play in every lane, up to the first step of a kind; compiled once for all checks that look for one.

    The parameters are no argument of it: a space may be made of their values, which a traced one does not have.
    """
    unlimited = given.params.replace(max_steps=None)

    def step(carry: Any, _: None) -> tuple[Any, Any]:
        rng, state = carry
        action = sample_action(env, rng, state, unlimited)
        _, after, _, ended, _, _ = env.step(rng, state, action, unlimited)
        return (rng.advance(), after), (state, action, ended)

    def lane(rng: Rng, terminated: Any) -> Any:
        _, state = env.reset(rng, unlimited)
        _, (states, actions, ends) = jax.lax.scan(step, (rng.advance(), state), None, SEARCH_STEPS)
        first = jnp.argmax(ends == terminated)
        return jax.tree.map(lambda leaf: leaf[first], (states, actions, ends)), first

    return jax.jit(jax.vmap(lane, in_axes=(0, None)))


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
