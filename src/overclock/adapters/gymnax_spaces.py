"""Our spaces in gymnax's shape: `sample(key)`, a traceable `contains(x)`, and the attributes gymnax's own have.

gymnax is not needed. Where it is installed these are also instances of its classes, because its wrappers and rejax
ask `isinstance(space, gymnax.environments.spaces.Discrete)`. Samples come from our spaces either way: gymnax's Box
cannot sample where a bound is infinite.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from overclock.env import spaces
from overclock.env.rng import Rng


class _View:
    """One of our spaces behind gymnax's methods."""

    def __init__(self, space: Any) -> None:
        self.space = space

    def sample(self, key: jax.Array) -> Any:
        return self.space.sample(Rng.of(key))

    def contains(self, x: Any) -> Bool[Array, ""]:
        raise NotImplementedError


class _Discrete(_View):
    def __init__(self, space: spaces.Discrete) -> None:
        super().__init__(space)
        self.n, self.shape, self.dtype = space.n, (), space.dtype

    def contains(self, x: Any) -> Bool[Array, ""]:
        return (jnp.asarray(x) >= 0) & (jnp.asarray(x) < self.n)


class _MultiDiscrete(_View):
    def __init__(self, space: spaces.MultiDiscrete) -> None:
        super().__init__(space)
        self.nvec, self.shape, self.dtype = np.array(space.nvec), space.shape, space.dtype

    def contains(self, x: Any) -> Bool[Array, ""]:
        return jnp.all((jnp.asarray(x) >= 0) & (jnp.asarray(x) < self.nvec))


class _Box(_View):
    def __init__(self, space: spaces.Box) -> None:
        super().__init__(space)
        self.low, self.high = space.bounds()
        self.shape, self.dtype = space.shape, space.dtype

    def contains(self, x: Any) -> Bool[Array, ""]:
        return jnp.all((jnp.asarray(x) >= self.low) & (jnp.asarray(x) <= self.high))


class _Dict(_View):
    def __init__(self, space: spaces.Dict) -> None:
        super().__init__(space)
        self.spaces = {name: to_gymnax_space(inner) for name, inner in space.spaces}
        self.num_spaces = len(self.spaces)

    def contains(self, x: Any) -> Bool[Array, ""]:
        return jnp.all(jnp.stack([space.contains(x[name]) for name, space in self.spaces.items()]))


# gymnax has no MultiDiscrete; its general Space says no more than `sample` and `contains`.
VIEWS: dict[type, tuple[type[_View], str]] = {
    spaces.Discrete: (_Discrete, "Discrete"),
    spaces.MultiDiscrete: (_MultiDiscrete, "Space"),
    spaces.Box: (_Box, "Box"),
    spaces.Dict: (_Dict, "Dict"),
}


@functools.cache
def to_gymnax_space(space: spaces.Space) -> Any:
    """The gymnax view of one of our spaces."""
    view, gymnax_name = VIEWS[type(space)]
    return _also_of_gymnax(view, gymnax_name)(space)


@functools.cache
def _also_of_gymnax(view: type[_View], gymnax_name: str) -> type[_View]:
    try:
        from gymnax.environments import spaces as gymnax_spaces
    except ImportError:
        return view
    return type(view.__name__.lstrip("_"), (view, getattr(gymnax_spaces, gymnax_name)), {})
