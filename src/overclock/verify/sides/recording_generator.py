"""A NumPy generator that keeps what it returns, and what an environment drew from it.

Gymnasium gives each environment a NumPy generator through `gymnasium.utils.seeding.np_random`; here that function
hands out a generator that remembers what it returned, so the same numbers can be replayed on the other side.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from overclock.errors import UsageError
from overclock.verify.property.calls import note_draw
from overclock.verify.sides.subject import Arrays

# All public methods draw, so that none is missed in a later NumPy either.
DRAW_METHODS = tuple(
    name
    for name, value in inspect.getmembers(np.random.Generator, callable)
    if not name.startswith("_") and name != "spawn"
)

_drawn_by: "list[RecordingGenerator] | None" = None  # while an environment's own code runs: who drew


@contextlib.contextmanager
def watched() -> "Iterator[list[RecordingGenerator]]":
    """Inside, an environment gets nothing from its generators that would not be recorded; gives those it drew from."""
    global _drawn_by
    _drawn_by = drawn_by = []
    try:
        yield drawn_by
    finally:
        _drawn_by = None


class RecordingGenerator(np.random.Generator):
    """A NumPy generator that keeps a copy of everything it returns.

    An environment that takes randomness past it (by the bit generator, by a copy or a child of it) is told so: what
    is not recorded cannot be replayed on the other side.
    """

    def __init__(self, bit_generator: np.random.BitGenerator) -> None:
        super().__init__(bit_generator)
        self.calls: list[tuple[str, Any]] = []
        self.inside = False

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """As NumPy's, for those who save and restore generators; not for environments."""
        if _drawn_by is not None:
            _refuse("the bit generator of np_random")
        return np.random.Generator.bit_generator.__get__(self)  # pyright: ignore[reportAttributeAccessIssue]

    def spawn(self, n_children: int) -> NoReturn:
        """Raise: draws of a spawned generator would not be recorded."""
        _refuse("np_random.spawn")

    def __str__(self) -> str:
        return type(self).__name__  # NumPy's names the bit generator

    def __reduce__(self) -> Any:
        if _drawn_by is not None:
            _refuse("a copy of np_random")
        return super().__reduce__()


def _refuse(what: str) -> NoReturn:
    raise UsageError(f"The environment uses {what}, whose draws are not recorded; draw by np_random itself.")


def _recording(name: str) -> Callable[..., Any]:
    original = getattr(np.random.Generator, name)

    @functools.wraps(original)
    def method(self: RecordingGenerator, *args: Any, **kwargs: Any) -> Any:
        if self.inside:  # `choice` calls `integers` by itself; the outer call is the draw
            return original(self, *args, **kwargs)
        self.inside = True
        try:
            value = original(self, *args, **kwargs)
        finally:
            self.inside = False
        # shuffle works in place and returns None: what it did to its argument is the draw. Copies, because the
        # environment may change a drawn array afterwards.
        drawn = np.array(value if name != "shuffle" else args[0] if args else kwargs["x"])
        self.calls.append((name, drawn))
        if _drawn_by is not None:
            _drawn_by.append(self)
        note_draw(name, args, kwargs, drawn)
        return value

    return method


for _name in DRAW_METHODS:
    setattr(RecordingGenerator, _name, _recording(_name))


def recorded_np_random(seed: int | None = None) -> tuple[np.random.Generator, int]:
    """As Gymnasium's `seeding.np_random`, with a generator that remembers."""
    generator, used_seed = _plain_np_random(seed)
    return RecordingGenerator(generator.bit_generator), used_seed


_plain_np_random = seeding.np_random


def taken_calls(env: gymnasium.Env, drawn_by: list[RecordingGenerator]) -> list[tuple[str, Any]]:
    """What an environment drew since the last time; `drawn_by` are the generators that it drew from."""
    generator, name = env.unwrapped.np_random, type(env.unwrapped).__name__
    if not isinstance(generator, RecordingGenerator):
        raise UsageError(
            f"{name} has a generator of its own ({type(generator).__name__}), whose draws are not recorded; let "
            "Gymnasium make np_random: call super().reset(seed=seed) and set no other."
        )
    if any(one is not generator for one in drawn_by):
        raise UsageError(
            f"{name} draws from another generator than its np_random (that of a space, of an environment inside it, or "
            "the one before the reset), which nobody names; draw by np_random alone."
        )
    calls = list(generator.calls)
    generator.calls.clear()
    return calls


def no_draws(calls: list[tuple[str, Any]]) -> Arrays:
    """The namer of a reset or a step that draws nothing; it does not look away when it does."""
    if calls:
        drawn = ", ".join(name for name, _ in calls)
        raise UsageError(f"The environment drew ({drawn}) where nothing is expected; name these draws.")
    return {}
