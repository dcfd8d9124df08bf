"""How much room the lists of the state get: what is given, what follows from the program, or what has to be assumed.

A list that never grows in a step needs what a reset makes of it, any other at most what a time limit lets it become.
Where there is no limit, a list of positions is taken to hold each cell of a grid once, and a list that is filled while
others are emptied as many items as these. The last resort is what random play showed, and some more.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording.errors import UnsupportedError
from overclock.recording.room import Room, outer_lists
from overclock.recording.shapes import Array, Fixed, Many, Maybe, Number, Record, Shape, leaves
from overclock.translate.growth import NEVER, Most, UnboundedError, definitions, most
from overclock.translate.ir.nodes import Operand, Var
from overclock.translate.run import Path, Run

SMALL = 256  # items that a list may have room for without looking for a smaller bound
LARGEST = 2048  # items that a list gets room for because of a time limit
SIDES = (("width", "height"), ("w", "h"), ("rows", "cols"), ("n_rows", "n_cols"), ("num_rows", "num_cols"))
SIDE = ("size", "grid_size", "board_size", "side")
UNKNOWN = "random play showed fewer, and nothing in the program bounds it"


@dataclasses.dataclass(frozen=True)
class _List:
    """A list of the state that is in no other list, and how long it is after a reset and after a step at most."""

    name: str
    many: Many
    step: Most | None  # None: nothing bounds it
    reset: float | None
    peak: Most | None  # the longest it is on the way: an item may be added before another one goes

    @property
    def fixed(self) -> float | None:
        """The longest it is at a reset, or given anew in a step; None where nothing bounds it."""
        return None if self.step is None or self.peak is None or self.reset is None else max(
            self.reset, self.step[1], self.peak[1])  # fmt: skip

    @property
    def grows(self) -> bool:
        return self.step is None or self.step[0] > 0


@dataclasses.dataclass(frozen=True)
class Rooms:
    """The shapes of the state with the room that their lists shall have, and what is to be said about it.

    `enough` has the lists whose room was found by a reason: it stays, whatever room a run needs on the way.
    """

    shapes: dict[Path, Shape] = dataclasses.field(default_factory=dict)
    told: list[Room] = dataclasses.field(default_factory=list)
    enough: dict[str, int] = dataclasses.field(default_factory=dict)

    def limited(self, path: Path, shape: Shape) -> Shape:
        """The shape of what a run left at a path, where lists with enough room are no larger than that."""
        sizes = [
            Room(name, min(many.capacity, self.enough.get(name, many.capacity)), "")
            for name, _, many in outer_lists(shape, ".".join(path), path[-1])
        ]
        return _resized(shape, iter(sizes)) if sizes else shape


def same_but_for_rooms(paths: Mapping[Path, Shape], others: Mapping[Path, Shape]) -> bool:
    """Whether two forms of a state differ at most in the room of their lists."""

    def without(path: Path, shape: Shape) -> Shape:
        return _resized(shape, itertools.repeat(Room(".".join(path), 0, "")))

    return paths.keys() == others.keys() and all(
        without(path, shape) == without(path, others[path]) for path, shape in paths.items()
    )


def rooms(
    paths: Mapping[Path, Shape], step: Run, reset: Run, given: Mapping[str, int], limit: int | None, env: Any
) -> Rooms:
    """The room of all lists of the state; UsageError where one is `given` for a list that is not there."""
    found = {path: list(_lists(path, shape, step, reset)) for path, shape in paths.items()}
    every = [one for lists in found.values() for one in lists]
    if unknown := given.keys() - {one.name for one in every}:
        names = ", ".join(one.name for one in every) or "none"
        raise UsageError(f"The state has no list '{min(unknown)}' that could have a capacity; it has: {names}.")
    shapes, told, enough = dict(paths), list[Room](), dict[str, int]()
    for path, lists in found.items():
        sizes = [_room(one, every, given, limit, env) for one in lists]
        if sizes:
            shapes[path] = _resized(paths[path], iter(sizes))
            told += [room for one, room in zip(lists, sizes, strict=True) if one.grows or one.name in given]
            enough |= {room.list: room.items for room in sizes if room.why != UNKNOWN}
    return Rooms(shapes, told, enough)


def _room(one: _List, every: list[_List], given: Mapping[str, int], limit: int | None, env: Any) -> Room:
    if one.name in given:
        return Room(one.name, given[one.name], "as given", True)
    now, fixed = one.many.capacity, one.fixed
    if not one.grows and fixed is not None and math.isfinite(fixed):
        return Room(one.name, max(1, int(fixed + _over(one))), "it never grows in a step", True)
    by_time = None
    if fixed is not None and math.isfinite(fixed) and limit is not None and one.step is not None:
        by_time = int(fixed + one.step[0] * limit + _over(one))
        why = f"it grows by {int(one.step[0])} a step at most, for {limit} steps"
        if by_time <= SMALL:
            return Room(one.name, max(1, by_time), why, True)
    over = 1 if one.peak is None else int(max(0.0, one.peak[0]))
    cells = _cells(env) if _is_position(one.many.of) else None
    if cells is not None:
        return Room(one.name, max(now, cells[0] + over), cells[1])
    sources = [other for other in every if other.many.of == one.many.of and not other.grows and other.fixed]
    total = sum(int(other.fixed or 0) for other in sources) + int(max(one.reset or 0, 0))
    if sources:
        names = " and ".join(f"'{other.name}'" for other in sources)
        return Room(one.name, max(now, total + over), f"its items come from {names}")
    if by_time is not None and by_time <= LARGEST:
        return Room(one.name, by_time, why, True)  # pyright: ignore[reportPossiblyUnboundVariable]
    return Room(one.name, now, UNKNOWN)


def _over(one: _List) -> float:
    """How much longer a list is on the way through a step than afterwards; what is added goes through the flag."""
    if one.peak is None or one.step is None or one.peak[0] == NEVER:
        return 0
    return max(0.0, one.peak[0] - max(one.step[0], 0))


def _lists(path: Path, shape: Shape, step: Run, reset: Run) -> Iterator[_List]:
    places = list(outer_lists(shape, ".".join(path), path[-1]))
    if not places:
        return
    names = [leaf.name for leaf in leaves(shape, path[-1])]
    try:
        before, after, begun = step.inputs_by_path.get(path, []), step.lowered(path, shape), reset.lowered(path, shape)
    except (UnsupportedError, RecursionError):
        return  # it is refused later with a place, where anything depends on it
    made, made_by_reset = definitions(step.machine.builder.block), definitions(reset.machine.builder.block)
    peaks = [one for cell in step.names.lists([path]) for one in step.machine.lengthened.get(cell, [])]
    for name, length, many in places:
        at = names.index(length)
        mine = before[at] if before else None
        longest: Most | None = (NEVER, NEVER)
        for peak in peaks if len(places) == 1 else [after[at]]:
            longest = _both(longest, _most(peak, mine, made))
        if len(places) > 1 and longest is not None:  # which of them was lengthened is not told apart
            longest = longest[0] + 1, longest[1] + 1
        start = _most(begun[at], None, made_by_reset)
        yield _List(name, many, _most(after[at], mine, made), None if start is None else start[1], longest)


def _both(one: Most | None, other: Most | None) -> Most | None:
    return None if one is None or other is None else (max(one[0], other[0]), max(one[1], other[1]))


def _most(length: Operand, before: Var | None, made: Any) -> Most | None:
    try:
        return most(length, before, made)
    except UnboundedError:
        return None


def _resized(shape: Shape, sizes: Iterator[Room]) -> Shape:
    match shape:
        case Many(of, _, kind):
            return Many(of, next(sizes).items, kind)
        case Maybe(of):
            return Maybe(_resized(of, sizes))
        case Fixed(items, kind):
            return Fixed(tuple(_resized(item, sizes) for item in items), kind)
        case Record(cls, fields):
            return Record(cls, tuple((key, _resized(item, sizes)) for key, item in fields))
        case _:
            return shape


def _is_position(shape: Shape) -> bool:
    """Whether an item may be a cell of a grid: two whole numbers."""
    match shape:
        case Fixed((Number(one), Number(other)), _):
            return np.dtype(one).kind in "iu" and np.dtype(other).kind in "iu"
        case Array(dtype, (2,)):
            return np.dtype(dtype).kind in "iu"
        case _:
            return False


def _cells(env: Any) -> tuple[int, str] | None:
    """How many cells the grid of an environment has, by its own words for its sides or by what it shows."""
    known = {name.lstrip("_").lower(): value for name, value in vars(env.unwrapped).items()}
    whole = {name: value for name, value in known.items() if isinstance(value, int) and not isinstance(value, bool)}
    for one, other in SIDES:
        if one in whole and other in whole:
            return whole[one] * whole[other], f"there are {whole[one]} x {whole[other]} cells, by '{one}' and '{other}'"
    grids = {name: value.shape for name, value in known.items() if isinstance(value, np.ndarray) and value.ndim == 2}
    if grids:
        name, (rows, columns) = max(grids.items(), key=lambda entry: math.prod(entry[1]))
        return rows * columns, f"there are {rows} x {columns} cells, by '{name}'"
    for one in SIDE:
        if one in whole:
            return whole[one] ** 2, f"there are {whole[one]} x {whole[one]} cells, by '{one}'"
    shown = getattr(env.observation_space, "shape", None) or ()
    return (
        (shown[0] * shown[1], f"there are {shown[0]} x {shown[1]} cells in the observation")
        if len(shown) >= 2
        else None
    )
