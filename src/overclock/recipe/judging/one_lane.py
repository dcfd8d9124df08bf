"""A candidate's rules as the programs of one lane: each is traced for a single instance, and JAX batches the trace.

The candidate's Python code then sees the same abstract values whatever a batch, a loop or a device looks like around
it, so that it cannot be another program at the batch that is timed than at the one that is compared.
"""

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from overclock.env.environment import Environment
from overclock.errors import OverclockError
from overclock.recipe.judging.hygiene.programs import digest

RULES = ("draw_reset", "init", "draw_step", "transition", "observe", "action_mask", "acting", "info", "overflow")
Programs = dict[str, str]
"""The digest of every program that was traced, by its rule and the types of what it was given."""
TRACED = "_programs_traced"


class AnotherProgramError(OverclockError):
    """A rule was traced twice for arguments of the same types and is not the same program."""


def one_lane(env: Environment[Any, Any], programs: Programs | None = None) -> Environment[Any, Any]:
    """The same environment, whose rules are traced for one lane each time they are called.

    `programs`: those that are known already; every further one is added, and AnotherProgramError is raised if a rule
    is not the same program again.
    """
    made = object.__new__(_class(type(env)))
    made.__dict__.update(vars(env))
    made.__dict__[TRACED] = programs
    return made


@functools.cache
def _class(base: type) -> type:
    """A subclass of an environment's class, one for each, so that equal environments stay equal."""
    names = {"__module__": base.__module__, "__qualname__": base.__qualname__, "__doc__": base.__doc__}
    return type(base.__name__, (base,), {**names, **{name: _rule(base, name) for name in RULES}})


def _rule(base: type, name: str) -> Callable[..., Any]:
    inner = getattr(base, name)

    @functools.wraps(inner)
    def rule(self: Any, *given: Any, **named: Any) -> Any:
        return _traced(self, name, inner, (given, named))

    return rule


def _traced(env: Any, name: str, inner: Callable[..., Any], given: Any) -> Any:
    """The results of a rule's program; what is no JAX array (numbers of parameters, tables) is a part of it."""
    leaves, tree = jax.tree.flatten(given)
    arrays = [leaf for leaf in leaves if isinstance(leaf, jax.Array)]

    def program(*values: Any) -> Any:
        rest = iter(values)
        whole = [next(rest) if isinstance(leaf, jax.Array) else leaf for leaf in leaves]
        positional, named = jax.tree.unflatten(tree, whole)
        return inner(env, *positional, **named)

    types = [jax.typeof(leaf) for leaf in arrays]  # under vmap, those of one lane
    abstract = [jax.ShapeDtypeStruct(one.shape, one.dtype, weak_type=one.weak_type) for one in types]
    closed, shape = jax.make_jaxpr(program, return_shape=True)(*abstract)
    if (known := vars(env)[TRACED]) is not None:
        eager = jax.config.jax_disable_jit  # pyright: ignore[reportAttributeAccessIssue]
        _same(known, f"{name} of {tree}, {_kinds(leaves)}{', eager' * eager}", name, digest(closed))
    # A constant result comes back as a Python number, which has no `astype` and another `~`.
    results = [
        value if isinstance(value, jax.Array) else jnp.asarray(value, aval.dtype)
        for value, aval in zip(jaxpr_as_fun(closed)(*arrays), closed.out_avals, strict=True)
    ]
    return jax.tree.unflatten(jax.tree.structure(shape), results)


def _same(known: Programs, key: str, name: str, found: str) -> None:
    if known.setdefault(key, found) != found:
        raise AnotherProgramError(f"`{name}` is another program when it is traced again for the same types.")


def _kinds(leaves: list[Any]) -> str:
    """The types of arrays and the values of everything else, as text."""
    return ", ".join(map(_kind, leaves))


def _kind(leaf: Any) -> str:
    if isinstance(leaf, jax.Array):
        one = jax.typeof(leaf)
        return f"{one.str_short()}{'~' if one.weak_type else ''}"
    if isinstance(leaf, np.ndarray):
        return f"{leaf.dtype}{leaf.shape}{hashlib.sha256(leaf.tobytes()).hexdigest()}"
    return f"{type(leaf).__name__} {leaf!r}"
