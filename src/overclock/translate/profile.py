"""A live look at the reference: which attributes change, what their values look like, how episodes end.

What never changes is a constant of the translation. The look only proposes: an attribute that turns out to be written
becomes state when the interpreter meets the write, and the judge has the last word on everything.
"""

import contextlib
import dataclasses
import enum
import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import overclock
from overclock.errors import OverclockError
from overclock.recording import shapes
from overclock.recording.errors import Place, UnsupportedError
from overclock.recording.generators import GENERATORS
from overclock.recording.shapes import Fixed, Many, Shape, of_python
from overclock.translate.python.frames import is_library

EPISODES = 30
RESETS = 5
STEPS = 120
IGNORED = {"np_random", "_np_random", "_np_random_seed", "spec", "render_mode", "screen", "clock", "window", "viewer"}
DEPTH = 4
LARGE = 20  # items of a container that is looked at only now and then
SELDOM = 100
LONG = 4  # a list of more items of one kind is kept as arrays


@dataclasses.dataclass
class Profile:
    """What was seen: attributes that changed, by path, with the shape of their values."""

    changed: dict[tuple[str, ...], Shape]
    refused: dict[tuple[str, ...], str]
    ranges: dict[tuple[str, ...], tuple[float, float]]
    survive: set[tuple[str, ...]]  # attributes that a reset leaves as they were
    largest_reward: float
    rounded_rewards: bool  # whether a reward is no float32
    mixed: bool  # whether a float attribute was seen in different dtypes


def look(make: Callable[[], Any], episodes: int = EPISODES, steps: int = STEPS, seed: int = 0) -> Profile:
    """Play at random and watch every attribute; a reference that cannot be played is refused, saying where it fails."""
    with _playing():
        env = make()
    try:
        return _look(env, make, episodes, steps, seed)
    except UnsupportedError as error:
        error.locate(_place_of(type(env.unwrapped)))
        raise
    except OverclockError:
        raise
    except Exception as error:
        reason = f"the translator itself fails when it looks at this ({type(error).__name__}: {error})"
        raise UnsupportedError(reason, _place_of(type(env.unwrapped))) from error


@contextlib.contextmanager
def _playing() -> Iterator[None]:
    """What is raised inside is the reference's own fault."""
    try:
        yield
    except OverclockError:
        raise
    except Exception as error:
        calls = [call for call in traceback.extract_tb(error.__traceback__) if not _ours(call.filename)]
        calls = [call for call in calls if not is_library(call.filename)] or calls
        reason = f"the reference itself raises {type(error).__name__} when it is made and played at random: {error}"
        place = Place(calls[-1].filename, calls[-1].lineno or 0, calls[-1].line or "") if calls else None
        raise UnsupportedError(reason, place) from error


def _ours(file: str) -> bool:
    return Path(file).is_relative_to(Path(overclock.__file__).parent)


def _place_of(cls: type) -> Place:
    """Where a class is written."""
    try:
        lines, first = inspect.getsourcelines(cls)
    except (OSError, TypeError):
        return Place(inspect.getsourcefile(cls.step) or "?", 0)  # pyright: ignore[reportAttributeAccessIssue]
    return Place(inspect.getsourcefile(cls) or "?", first, lines[0].rstrip())


def _look(env: Any, make: Callable[[], Any], episodes: int, steps: int, seed: int) -> Profile:
    rules = env.unwrapped
    watcher = _Watcher(rules)
    env.action_space.seed(seed)
    action: Any = 0
    largest, rounded = 0.0, False
    for episode in range(episodes):
        with _playing():
            env.reset(seed=seed + episode)
        watcher.see()
        for _ in range(steps):
            action = env.action_space.sample()
            with _playing():
                _, reward, terminated, truncated, _ = env.step(action)
            watcher.see()
            values = np.asarray(reward, np.float64)
            largest = max(largest, float(np.abs(values).max()))
            rounded |= bool((values.astype(np.float32) != values).any())
            if terminated or truncated:
                break
    survive = _surviving(env, make, seed)
    return Profile(watcher.shapes, watcher.refused, watcher.ranges, survive, largest, rounded, watcher.mixed)


def _surviving(used: Any, make: Callable[[], Any], seed: int) -> set[tuple[str, ...]]:
    """Attributes that differ between an instance that has played and a new one, after the same reset."""
    found: set[tuple[str, ...]] = set()
    for again in range(RESETS):
        with _playing():
            new = make()
            for env in (used, new):
                env.reset(seed=seed + again)
        values = dict(walk(new.unwrapped))
        found |= {p for p, v in walk(used.unwrapped) if p in values and fingerprint(v) != fingerprint(values[p])}
        for _ in range(3):  # so that the next reset has something to leave behind
            with _playing():
                *_, terminated, truncated, _ = used.step(used.action_space.sample())
            if terminated or truncated:
                break
    return found


class _Watcher:
    """Compares what lies at every path with what lay there before."""

    def __init__(self, rules: Any) -> None:
        self._rules = rules
        self._first: dict[tuple[str, ...], Any] = {}
        self._rest: dict[tuple[str, ...], int] = {}  # large constants: looked at again after so many looks
        self._seen: dict[tuple[str, ...], Shape] = {}  # of attributes that had not changed yet
        self.shapes: dict[tuple[str, ...], Shape] = {}
        self.refused: dict[tuple[str, ...], str] = {}
        self.ranges: dict[tuple[str, ...], tuple[float, float]] = {}
        self.mixed = False

    def see(self) -> None:
        """Compare every attribute with what it was before."""
        for path, value in walk(self._rules):
            if path in self.shapes or path in self.refused:
                self._note(path, value)
                continue
            if self._rest.get(path, 0) > 0:
                self._rest[path] -= 1
                continue
            now = fingerprint(value)
            if path not in self._first:
                self._first[path], self._seen[path] = now, of_python(value)
            elif self._first[path] != now:
                self.shapes[path] = self._seen[path]
                self._note(path, value)
            elif isinstance(value, dict | list | np.ndarray) and len(value) > LARGE:
                self._rest[path] = SELDOM

    def _note(self, path: tuple[str, ...], value: Any) -> None:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            known = self.shapes.get(path)
            self.mixed |= isinstance(known, shapes.Array) and known.dtype != str(value.dtype)
            finite = value[np.isfinite(value)]
            if finite.size:
                low, high = self.ranges.get(path, (np.inf, -np.inf))
                self.ranges[path] = (min(low, float(finite.min())), max(high, float(finite.max())))
        if path not in self.refused:
            try:
                self.shapes[path] = shapes.join(self.shapes[path], of_python(value))
            except UnsupportedError as error:
                self.refused[path] = error.reason
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            self.refused[path] = f"'{path[-1]}' is a whole number that needs more than 64 bits"
        elif isinstance(value, bool | int | float) or (isinstance(value, np.generic) and value.dtype.kind in "biuf"):
            low, high = self.ranges.get(path, (float(value), float(value)))
            self.ranges[path] = (min(low, float(value)), max(high, float(value)))


def walk(value: Any, path: tuple[str, ...] = (), above: tuple[int, ...] = ()) -> "list[tuple[tuple[str, ...], Any]]":
    """Attributes of an object and of the objects it holds, by path."""
    found = []
    for name, inner in vars(value).items():
        if name in IGNORED or id(inner) in above or isinstance(inner, GENERATORS):
            continue
        here = (*path, name)
        if shapes.is_plain_object(inner) and not isinstance(inner, enum.Enum) and len(here) < DEPTH:
            found += walk(inner, here, (*above, id(value)))
        else:
            found.append((here, inner))
    return found


def fingerprint(value: Any, depth: int = 6) -> Any:
    """Something that changes when a value does."""
    if isinstance(value, bool | int | float | str | bytes | type(None) | np.generic | enum.Enum):
        return (type(value).__name__, repr(value))
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes() if value.dtype.kind != "O" else repr(value))
    if not depth:
        return id(value)
    if isinstance(value, list | tuple) or type(value).__name__ == "deque":
        return tuple(fingerprint(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return tuple((repr(key), fingerprint(item, depth - 1)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return tuple(sorted(repr(item) for item in value))
    if shapes.is_plain_object(value):
        return tuple((name, fingerprint(item, depth - 1)) for name, item in vars(value).items())
    return id(value)


def roomy(shape: Shape, inside: bool = False) -> Shape:
    """Lists get room for more items than were seen; long lists of one kind of item are kept as arrays."""
    match shape:
        case Many(of, capacity, kind):
            return Many(roomy(of, True), capacity + capacity // 2 + 2, kind)
        case Fixed(items, "list") if len(items) > LONG and not inside:
            try:
                return Many(roomy(shapes.join_all(list(items)), True), len(items), "list")
            except UnsupportedError:
                return shape
        case Fixed(items, kind):
            return Fixed(tuple(roomy(item, True) for item in items), kind)
        case shapes.Maybe(of):
            return shapes.Maybe(roomy(of, inside))
        case shapes.Record(cls, fields):
            return shapes.Record(cls, tuple((key, roomy(part, inside)) for key, part in fields))
    return shape
