"""What an observation or an action may be: small, hashable descriptions that never hold device arrays.

`adapters.gymnasium.to_gymnasium_space` converts each of them.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from overclock.env.rng import Rng, multiply_high
from overclock.errors import UsageError


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
        """Whether a concrete value has the right shape and kind and lies inside.

        Discrete values may be of any integer type, plain `int` included; a Box wants its own dtype.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Discrete(Space):
    """The integers 0 ... n - 1."""

    n: int
    dtype: Any = np.dtype(np.int32)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if isinstance(self.n, bool) or not isinstance(self.n, int | np.integer) or self.n < 1:
            raise UsageError(f"Discrete needs a whole number n >= 1, got {self.n!r}.")
        object.__setattr__(self, "n", int(self.n))
        if self.dtype.kind not in "iu" or self.n - 1 > np.iinfo(self.dtype).max:
            raise UsageError(f"Discrete({self.n}) needs an integer dtype that holds {self.n - 1}, got {self.dtype}.")

    shape = ()

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, " n"] | None = None) -> Any:
        value = rng.integers(site, self.n) if mask is None else rng.masked_choice(site, mask)
        return value.astype(self.dtype)

    def contains(self, value: Any) -> bool:
        value = np.asarray(value)
        return value.shape == () and value.dtype.kind in "iu" and 0 <= int(value) < self.n


@dataclasses.dataclass(frozen=True)
class MultiDiscrete(Space):
    """A vector of integers, entry i in 0 ... nvec[i] - 1."""

    nvec: tuple[int, ...]
    dtype: Any = np.dtype(np.int32)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        if np.ndim(self.nvec) != 1 or len(self.nvec) == 0:
            raise UsageError(f"MultiDiscrete needs a list of at least one whole number, got {self.nvec!r}.")
        object.__setattr__(self, "nvec", tuple(Discrete(n, self.dtype).n for n in self.nvec))

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
            and value.dtype.kind in "iu"
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
        if np.ndim(self.shape) != 1:
            raise UsageError(f"Box needs a shape like (4,), got {self.shape!r}.")
        object.__setattr__(self, "shape", tuple(int(n) for n in self.shape))
        object.__setattr__(self, "dtype", np.dtype(self.dtype))
        for name in ("low", "high"):
            bound = getattr(self, name)
            flat = tuple(np.asarray(bound).reshape(-1).tolist())
            if np.ndim(bound) > 0 and len(flat) != math.prod(self.shape):
                raise UsageError(f"Box.{name} has {len(flat)} numbers for shape {self.shape}.")
            if self.dtype.kind != "f" and not all(_fits(number, self.dtype) for number in flat):
                raise UsageError(f"Box.{name} = {bound} does not fit into {self.dtype}.")
            object.__setattr__(self, name, flat[0] if np.ndim(bound) == 0 else flat)
        low, high = self.bounds()
        if not np.all((low <= high) & (low < math.inf) & (high > -math.inf)):  # also catches NaN
            raise UsageError(f"Box needs low <= high everywhere, got {self.low} and {self.high}.")

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """`low` and `high` as arrays of the space's shape and dtype."""

        def full(bound: float | tuple[float, ...]) -> np.ndarray:
            with np.errstate(over="ignore"):  # a bound beyond a small float's range means no bound
                array = np.asarray(bound).astype(self.dtype)
            return np.broadcast_to(array if array.ndim == 0 else array.reshape(self.shape), self.shape)

        return full(self.low), full(self.high)

    @property
    def sites(self) -> int:
        return math.prod(self.shape)

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, "..."] | None = None) -> Any:
        """Uniform where both bounds are finite; normal, shifted to the finite bound if there is one, elsewhere."""
        if mask is not None:
            raise UsageError("A Box space takes no action mask.")
        return self._sample_floats(rng, site) if self.dtype.kind == "f" else self._sample_integers(rng, site)

    def _sample_integers(self, rng: Rng, site: int) -> Any:
        low, high = self.bounds()
        if low.size and int(high.max()) - int(low.min()) >= 1 << 32:
            raise UsageError(f"Box samples integers from at most 2**32 values, not from {self.low} to {self.high}.")
        wide = self.dtype if self.dtype.itemsize == 8 else np.dtype(np.int64)
        count = (high.astype(wide) - low.astype(wide)).astype(np.uint32) + np.uint32(1)
        words = rng.words(site, self.shape)
        offset = jnp.where(count == 0, words, multiply_high(words, count))  # 0 is 2**32, wrapped: every word is a value
        add = self.dtype if self.dtype.itemsize == 8 else np.dtype(np.uint32)
        return (offset.astype(add) + low.astype(add)).astype(self.dtype)

    def _sample_floats(self, rng: Rng, site: int) -> Any:
        low, high = self.bounds()
        drawn = np.dtype(np.float64 if self.dtype == np.float64 else np.float32)
        bounded = np.isfinite(low) & np.isfinite(high)
        # Halved and doubled again (exact), so that the distance of two huge bounds does not overflow.
        bottom, top = (np.where(bounded, bound, 0).astype(drawn) / 2 for bound in (low, high))
        inside = rng.uniform(site, bottom, top, self.shape, drawn) * 2
        normal = rng.normal(site, self.shape, drawn)
        above = jnp.where(np.isfinite(low), np.where(np.isfinite(low), low, 0) + jnp.abs(normal), normal)
        free = jnp.where(np.isfinite(high), np.where(np.isfinite(high), high, 0) - jnp.abs(normal), above)
        # Rounding may carry a value past a bound.
        return jnp.clip(jnp.where(bounded, inside, free).astype(self.dtype), low, high)

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
        if not all(isinstance(name, str) and isinstance(space, Space) for name, space in spaces.items()):
            raise UsageError(f"Dict needs spaces under string names, got {dict(spaces)}.")
        object.__setattr__(self, "spaces", tuple(sorted(spaces.items())))

    @property
    def sites(self) -> int:
        return sum(space.sites for _, space in self.spaces)

    def sample(self, rng: Rng, site: int = 0, mask: Bool[Array, "..."] | None = None) -> Any:
        if mask is not None:
            raise UsageError("A Dict space takes no action mask.")
        values = {}
        for name, space in self.spaces:
            values[name] = space.sample(rng, site)
            site += space.sites
        return values

    def contains(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and value.keys() == {name for name, _ in self.spaces}
            and all(space.contains(value[name]) for name, space in self.spaces)
        )


def _fits(number: float, dtype: np.dtype) -> bool:
    smallest, largest = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return smallest <= number <= largest and number == int(number)


def as_jax_holds_it(space: Space) -> Space:
    """The same space with the dtypes that JAX gives its values: without x64 it has nothing of 64 bits.

    Bounds are rounded as values are, so that a value on a bound stays inside.
    """
    if isinstance(space, Dict):
        return Dict({name: as_jax_holds_it(inner) for name, inner in space.spaces})
    if not isinstance(space, Discrete | MultiDiscrete | Box):
        return space
    held = np.dtype(jax.dtypes.canonicalize_dtype(space.dtype))
    if held == space.dtype or not isinstance(space, Box) or held.kind not in "iu":
        return dataclasses.replace(space, dtype=held)
    least, most = np.iinfo(held).min, np.iinfo(held).max
    low, high = (tuple(min(max(int(number), least), most) for number in np.ravel(bound)) for bound in space.bounds())
    return dataclasses.replace(space, low=low, high=high, dtype=held)


def structure(space: Space, leading: tuple[int, ...] = ()) -> Any:
    """Shapes and dtypes of a space's values, as a tree of `jax.ShapeDtypeStruct` with leading axes put in front."""
    if isinstance(space, Dict):
        return {name: structure(inner, leading) for name, inner in space.spaces}
    if isinstance(space, Discrete | MultiDiscrete | Box):
        return jax.ShapeDtypeStruct((*leading, *space.shape), space.dtype)
    raise TypeError(f"{space!r} is not one of Discrete, MultiDiscrete, Box or Dict.")
