"""What an observation or an action may be: small, hashable descriptions that never hold device arrays.

`adapters.gymnasium.to_gymnasium_space` converts each of them.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from overclock.env.rng import Rng


class Space:
    """Base of all spaces. `sample` draws from an `Rng`, starting at `site`; `sites` says how many it takes."""

    @property
    def sites(self) -> int:
        """How many draw sites one sample uses."""
        return 1

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, "..."] | None = None) -> Any:
        """One uniform sample (of the allowed actions, where a mask is given)."""
        raise NotImplementedError

    def contains(self, value: Any) -> bool:
        """Whether a concrete value has the right shape and dtype and lies inside."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Discrete(Space):
    """The integers 0 ... n - 1."""

    n: int
    dtype: Any = np.dtype(np.int32)

    def __post_init__(self) -> None:
        if self.n < 1:
            raise ValueError(f"Discrete needs n >= 1, got {self.n}.")
        object.__setattr__(self, "dtype", np.dtype(self.dtype))

    shape = ()

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, " n"] | None = None) -> Any:
        value = rng.integers(site, self.n) if mask is None else rng.masked_choice(site, mask)
        return value.astype(self.dtype)

    def contains(self, value: Any) -> bool:
        value = np.asarray(value)
        return value.shape == () and value.dtype == self.dtype and 0 <= int(value) < self.n


@dataclasses.dataclass(frozen=True)
class MultiDiscrete(Space):
    """A vector of integers, entry i in 0 ... nvec[i] - 1."""

    nvec: tuple[int, ...]
    dtype: Any = np.dtype(np.int32)

    def __post_init__(self) -> None:
        if not self.nvec or min(self.nvec) < 1:
            raise ValueError(f"MultiDiscrete needs at least one entry and every entry >= 1, got {self.nvec}.")
        object.__setattr__(self, "nvec", tuple(int(n) for n in self.nvec))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        """One axis, as long as `nvec`."""
        return (len(self.nvec),)

    @property
    def sites(self) -> int:
        return len(self.nvec)

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, "..."] | None = None) -> Any:
        """One sample; a mask is the concatenation of one mask per entry."""
        columns, start = [], 0
        for i, n in enumerate(self.nvec):
            part = None if mask is None else mask[start : start + n]
            columns.append(Discrete(n, self.dtype).sample(rng, site + i, part))
            start += n
        return jnp.stack(columns)

    def contains(self, value: Any) -> bool:
        value = np.asarray(value)
        return (
            value.shape == self.shape
            and value.dtype == self.dtype
            and bool(np.all((value >= 0) & (value < np.array(self.nvec))))
        )


@dataclasses.dataclass(frozen=True)
class Box(Space):
    """Arrays of one shape between two bounds; a bound is one number or a flat tuple with one number per element."""

    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    shape: tuple[int, ...]
    dtype: Any = np.dtype(np.float32)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(int(n) for n in self.shape))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        for name in ("low", "high"):
            bound = getattr(self, name)
            flat = tuple(np.asarray(bound).reshape(-1).tolist())
            if np.ndim(bound) > 0 and len(flat) != int(np.prod(self.shape)):
                raise ValueError(f"Box.{name} has {len(flat)} numbers for shape {self.shape}.")
            object.__setattr__(self, name, flat[0] if np.ndim(bound) == 0 else flat)
        low, high = self.bounds()
        if np.any(low > high):
            raise ValueError(f"Box needs low <= high everywhere, got {self.low} and {self.high}.")

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """`low` and `high` as arrays of the space's shape and dtype."""

        def full(bound: float | tuple[float, ...]) -> np.ndarray:
            array = np.asarray(bound, self.dtype)
            return np.broadcast_to(array if array.ndim == 0 else array.reshape(self.shape), self.shape)

        return full(self.low), full(self.high)

    @property
    def sites(self) -> int:
        return int(np.prod(self.shape))

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, "..."] | None = None) -> Any:
        """Uniform where both bounds are finite; normal, shifted to the finite bound if there is one, elsewhere."""
        low, high = self.bounds()
        if not np.issubdtype(self.dtype, np.floating):
            span = (high.astype(np.int64) - low.astype(np.int64) + 1).reshape(-1)
            columns = [rng.integers(site + i, int(n)) for i, n in enumerate(span)]
            return (jnp.stack(columns).reshape(self.shape) + low).astype(self.dtype)
        bounded = np.isfinite(low) & np.isfinite(high)
        inside = rng.uniform(site, np.where(bounded, low, 0), np.where(bounded, high, 1), self.shape, self.dtype)
        normal = rng.normal(site, self.shape, self.dtype)
        above = jnp.where(np.isfinite(low), np.where(np.isfinite(low), low, 0) + jnp.abs(normal), normal)
        free = jnp.where(np.isfinite(high), np.where(np.isfinite(high), high, 0) - jnp.abs(normal), above)
        return jnp.where(bounded, inside, free).astype(self.dtype)

    def contains(self, value: Any) -> bool:
        value = np.asarray(value)
        low, high = self.bounds()
        return (
            value.shape == self.shape and value.dtype == self.dtype and bool(np.all((value >= low) & (value <= high)))
        )


@dataclasses.dataclass(frozen=True)
class Dict(Space):
    """Named spaces; the value is a dict with the same keys, which are kept sorted as JAX sorts them."""

    spaces: tuple[tuple[str, Space], ...]

    def __init__(self, spaces: Mapping[str, Space]) -> None:
        object.__setattr__(self, "spaces", tuple(sorted(spaces.items())))

    @property
    def sites(self) -> int:
        return sum(space.sites for _, space in self.spaces)

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, "..."] | None = None) -> Any:
        if mask is not None:
            raise ValueError("A Dict space takes no action mask.")
        values = {}
        for name, space in self.spaces:
            values[name] = space.sample(rng, site)
            site += space.sites
        return values

    def contains(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and sorted(value) == [name for name, _ in self.spaces]
            and all(space.contains(value[name]) for name, space in self.spaces)
        )


def structure(space: Space, leading: tuple[int, ...] = ()) -> Any:
    """Shapes and dtypes of a space's values, as a tree of `jax.ShapeDtypeStruct` with leading axes put in front."""
    if isinstance(space, Dict):
        return {name: structure(inner, leading) for name, inner in space.spaces}
    if isinstance(space, Discrete | MultiDiscrete | Box):
        return jax.ShapeDtypeStruct((*leading, *space.shape), space.dtype)
    raise TypeError(f"{space!r} is not one of Discrete, MultiDiscrete, Box or Dict.")
