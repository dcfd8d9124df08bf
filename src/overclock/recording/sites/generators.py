"""Random generators that report every call to a listener, and the generators of one instance (`LaneGenerators`).

A reporting generator gives the numbers that the plain one would give. The listener may also make the call in another
way that gives the same numbers (`sites/record_forms.py`), to learn what they were made of.
"""

import contextlib
import functools
import inspect
import random
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from overclock.errors import UsageError
from overclock.recording.sites.call_sites import CallSite, call_site_of

# As NumPy and Python made them; while reporting generators are installed, those names mean other things.
PlainGenerator, PlainRandomState, PlainRandom = np.random.Generator, np.random.RandomState, random.Random
GENERATOR, RANDOM_STATE, RANDOM = "Generator", "RandomState", "Random"
NUMPY_MODULE, PYTHON_MODULE = "numpy.random", "random"
NOT_DRAWS = frozenset({"seed", "get_state", "set_state", "getstate", "setstate", "spawn"})
WORD = 2**32  # legacy generators take seeds below it
IN_CONSTRUCTOR = 2**16  # apart from the numbers of generators that are made later


class Drawing:
    """A call of a generator that is being made."""

    def __init__(self, generator: Any, method: str, original: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self.generator, self.method = generator, method
        self.source: str = generator.source  # the kind of generator, or the module whose function was called
        self.place = _caller()
        self.run = functools.partial(original, generator, *args, **kwargs)  # what the generator itself does

    @functools.cached_property
    def given(self) -> dict[str, Any]:
        """The arguments that the program gave, by name."""
        return dict(list(self._bound().arguments.items())[1:])

    @functools.cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the call with the defaults of those that the program left out."""
        bound = self._bound()
        bound.apply_defaults()
        return dict(list(bound.arguments.items())[1:])

    def _bound(self) -> inspect.BoundArguments:
        return _signature(self.run.func).bind(*self.run.args, **self.run.keywords)


_signature = functools.cache(inspect.signature)


class Listener(Protocol):
    """The object that calls are reported to."""

    def draw(self, drawing: Drawing) -> Any:
        """Make the call and return what it gives."""
        ...


_listener: Listener | None = None
_lane: "LaneGenerators | None" = None


@contextlib.contextmanager
def listening(listener: Listener | None, lane: "LaneGenerators") -> Iterator[None]:
    """Inside, a lane's instance runs: draws are reported, and modules draw from the lane's generators."""
    global _listener, _lane
    before = _listener, _lane, random._inst, np.random.mtrand._rand  # pyright: ignore[reportAttributeAccessIssue]
    _listener, _lane = listener, lane
    # Libraries reach for these by themselves.
    random._inst, np.random.mtrand._rand = lane.random, lane.numpy  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        _listener, _lane, random._inst, np.random.mtrand._rand = before  # pyright: ignore[reportAttributeAccessIssue]


def running() -> "LaneGenerators | None":
    """The lane whose instance runs now, None where none does."""
    return _lane


class _AnyInstance(type):
    """Generators made before the reporting ones were installed count as instances of those as well."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


class SiteGenerator(PlainGenerator, metaclass=_AnyInstance):
    """NumPy's generator, reporting its calls."""

    source, inside = GENERATOR, False
    pending: int | None = None  # a seed that was not needed yet

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        _born(self)

    @property
    def bit_generator(self) -> Any:
        """As NumPy's; not for a program that is being recorded, since draws from there are not reported."""
        if _listener is not None and not self.inside:
            raise UsageError(
                f"The reference uses the bit generator of a NumPy generator at {_caller()}, whose draws are not "
                "recorded; draw by its methods."
            )
        return bits(self)

    def begin(self, words: list[int]) -> None:
        own = bits(self)
        own.state = type(own)(np.random.SeedSequence(words)).state


class SiteRandomState(PlainRandomState, metaclass=_AnyInstance):
    """NumPy's legacy generator, reporting its calls."""

    source, inside = RANDOM_STATE, False
    pending: int | None = None  # a seed that was not needed yet

    def __init__(self, seed: Any = None) -> None:
        super().__init__(new_seed() if seed is None else seed)
        _born(self)

    def begin(self, words: list[int]) -> None:
        self.seed(words)


class SiteRandom(PlainRandom, metaclass=_AnyInstance):
    """Python's generator, reporting its calls."""

    source, inside = RANDOM, False
    pending: int | None = None  # a seed that was not needed yet

    def __init__(self, x: Any = None) -> None:
        words = new_seed() if x is None else None
        super().__init__(x if words is None else str(words))
        _born(self)

    def begin(self, words: list[int]) -> None:
        self.seed(str(words))


def bits(generator: Any) -> Any:
    """The bit generator of any NumPy generator, one that does not show it included."""
    return PlainGenerator.bit_generator.__get__(generator)  # pyright: ignore[reportAttributeAccessIssue]


def settle(generator: Any) -> None:
    """Seed a generator that waits for it; most are never used, and seeding takes longer than a step."""
    if generator.pending is not None:
        seed, generator.pending = generator.pending, None
        generator.seed(seed)


def _reporting(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        settle(self)
        listener = _listener
        if listener is None or self.inside:  # `choice` calls `integers` by itself; the outer call is the draw
            return original(self, *args, **kwargs)
        self.inside = True
        try:
            return listener.draw(Drawing(self, name, original, args, kwargs))
        finally:
            self.inside = False

    return method


for _cls in (SiteGenerator, SiteRandomState, SiteRandom):
    for _name, _original in inspect.getmembers(_cls.__mro__[1], callable):
        if not _name.startswith("_") and _name not in NOT_DRAWS:
            setattr(_cls, _name, _reporting(_name, _original))


def _caller() -> CallSite:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("overclock.recording.sites."):
        frame = frame.f_back
    return call_site_of(frame)


class LaneGenerators:
    """What one instance draws from: the generators of modules as it sees them, and those it made without a seed."""

    def __init__(self) -> None:
        self.numpy, self.random = SiteRandomState(0), SiteRandom(0)
        self.numpy.source, self.random.source = NUMPY_MODULE, PYTHON_MODULE
        self._own: list[tuple[weakref.ref[Any], int]] = []
        self._seed, self._count, self._number = 0, 0, 0
        self._constructing = False

    @contextlib.contextmanager
    def making(self) -> Iterator[None]:
        """Inside, the instance is made; every instance of a reference is made from the same seed."""
        self.begin(0)
        self._constructing = True
        try:
            with listening(None, self):
                yield
        finally:
            self._constructing = False

    def begin(self, seed: int) -> None:
        """Seed everything for a reset, also what the instance does not seed itself."""
        self._seed, self._count = seed, 0
        self.numpy.pending, self.random.pending = seed % WORD, seed
        self._own = [(one, number) for one, number in self._own if one() is not None]
        for one, number in self._own:
            if (generator := one()) is not None:
                generator.begin(self._words(number))

    def new_seed(self) -> list[int]:
        """The seed of a generator that is made without one: the next that is registered by `born`."""
        self._count += 1
        self._number = self._count + (IN_CONSTRUCTOR if self._constructing else 0)
        return self._words(self._number)

    def born(self, generator: Any) -> None:
        """Register a generator that was made while the lane ran, so that later resets seed it."""
        if self._constructing and not self._number:
            self.new_seed()  # it keeps its own seed until the first reset
        if self._number:
            self._own.append((weakref.ref(generator), self._number))
        self._number = 0

    def _words(self, number: int) -> list[int]:
        return [self._seed % WORD, (self._seed // WORD) % WORD, number]


def new_seed() -> list[int] | None:
    """A seed for a generator that gets none, so that episodes can be repeated; None where no instance runs."""
    return None if _lane is None else _lane.new_seed()


def _born(generator: Any) -> None:
    if _lane is not None:
        _lane.born(generator)
