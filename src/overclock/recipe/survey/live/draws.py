"""The randomness of a reference: which draws a reset and a step make, in which order, and whether always the same."""

import contextlib
import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from overclock.recipe.survey.live.loading import seeding
from overclock.verify.property.calls import Call, Draw, Recorder
from overclock.verify.sides.gymnasium_reference import RecordingGenerator

LONGEST = 60  # characters of one argument that are shown
VARIES = "..."  # in the place of an argument that is not always the same


@dataclasses.dataclass(frozen=True)
class DrawCall:
    """One draw: the method of NumPy's generator, the call with `...` for arguments that vary, and what it gave."""

    method: str
    call: str  # 'uniform(low=-0.05, high=0.05, size=(4,))'
    shape: tuple[int, ...]
    dtype: str


@dataclasses.dataclass(frozen=True)
class Draws:
    """The draws of all resets, or of all steps, that were watched.

    `constant`: they were always the same methods and shapes in the same order, and `calls` lists them. Otherwise
    `calls` lists every kind of draw that was seen, and their number lay between `fewest` and `most`.
    """

    calls: tuple[DrawCall, ...]
    constant: bool
    fewest: int
    most: int


def reset(env: Any, seed: int) -> Any:
    """Call `env.reset` through this function, which a recorder watches."""
    return env.reset(seed=seed)


def step(env: Any, action: Any) -> Any:
    """Call `env.step` through this function, which a recorder watches."""
    return env.step(action)


class Watch:
    """Resets and steps environments and returns which numbers they drew."""

    def __init__(self) -> None:
        self._recorder = Recorder([f"{__name__}:{name}" for name in ("reset", "step")])

    @contextlib.contextmanager
    def watching(self) -> Iterator["Watch"]:
        """Inside, generators that are made record what they draw."""
        with _recording_generators(), self._recorder, self._recorder.every_call() as self._calls:
            yield self

    def reset(self, env: Any, seed: int) -> tuple[Any, tuple[Draw, ...]]:
        """(what `env.reset` returned, its draws)"""
        result = reset(env, seed)
        return result, self._taken().draws

    def step(self, env: Any, action: Any) -> tuple[Any, tuple[Draw, ...]]:
        """(what `env.step` returned, its draws)"""
        result = step(env, action)
        return result, self._taken().draws

    def _taken(self) -> Call:
        call = self._calls[-1]
        self._calls.clear()
        return call


@contextlib.contextmanager
def _recording_generators() -> Iterator[None]:
    """Inside, Gymnasium's generators and those of `numpy.random.default_rng` are recording ones."""
    seeded, default_rng = seeding.np_random, np.random.default_rng

    def recorded(seed: int | None = None) -> tuple[np.random.Generator, int]:
        generator, used = seeded(seed)
        return RecordingGenerator(generator.bit_generator), used

    def recorded_default(seed: Any = None) -> np.random.Generator:
        return seed if isinstance(seed, RecordingGenerator) else RecordingGenerator(default_rng(seed).bit_generator)

    seeding.np_random, np.random.default_rng = recorded, recorded_default  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        seeding.np_random, np.random.default_rng = seeded, default_rng


class GlobalGenerators:
    """Detects use of the generators that belong to the whole process, which are neither recorded nor seeded."""

    def __init__(self) -> None:
        self._before = self._state()

    def used(self) -> list[str]:
        return [name for name, state in self._state().items() if state != self._before[name]]

    @staticmethod
    def _state() -> dict[str, str]:
        return {"random": str(random.getstate()), "numpy.random": str(np.random.get_state(legacy=False))}


def summarise(watched: list[tuple[Draw, ...]]) -> Draws:
    """What the draws of many resets (or steps) have in common."""
    counts = [len(draws) for draws in watched] or [0]
    patterns = {tuple(_kind(draw) for draw in draws) for draws in watched}
    fewest, most = min(counts), max(counts)
    if len(patterns) <= 1:
        columns = list(zip(*watched, strict=True))
        return Draws(tuple(_call(list(column)) for column in columns), True, fewest, most)
    kinds: dict[Any, list[Draw]] = {}
    for draws in watched:
        for draw in draws:
            kinds.setdefault((*_kind(draw), _joined(_arguments(draw))), []).append(draw)
    return Draws(tuple(_call(draws) for draws in kinds.values()), False, fewest, most)


def _kind(draw: Draw) -> tuple[Any, ...]:
    value = np.asarray(draw.value)
    return draw.method, value.shape, value.dtype.str if value.dtype.kind != "U" else "U"


def _call(draws: list[Draw]) -> DrawCall:
    value, calls = np.asarray(draws[0].value), [_arguments(draw) for draw in draws]
    dtype = "str" if value.dtype.kind == "U" else str(value.dtype)
    alike = len({tuple(call) for call in calls}) == 1
    if alike:
        columns = {name: {call[name] for call in calls} for name in calls[0]}
        shown = {name: texts.pop() if len(texts) == 1 else VARIES for name, texts in columns.items()}
    else:  # called in different ways: nothing can be said of any argument
        shown = {"": VARIES}
    return DrawCall(draws[0].method, f"{draws[0].method}({_joined(shown)})", value.shape, dtype)


def _arguments(draw: Draw) -> dict[str, str]:
    """Arguments as text, by name, or by number where they have none."""
    # A shuffle's argument is what is shuffled: its content is no setting of the draw.
    unnamed = [VARIES] if draw.method in ("shuffle", "permuted") else [_short(one) for one in draw.arguments]
    named = {name: _short(value) for name, value in draw.keywords.items()}
    return {**{str(place): text for place, text in enumerate(unnamed)}, **named}


def _joined(arguments: dict[str, str]) -> str:
    return ", ".join(f"{name}={text}" if name.isidentifier() else text for name, text in arguments.items())


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
