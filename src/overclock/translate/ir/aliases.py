"""Copies of one mutable thing: a change under one name must never be missed under another.

Most aliases need no care, because two names of one thing hold one `Ref`. But a list kept as arrays holds copies of its
items, and a name that is one thing in one branch and another in the other gets a copy of either. A copy and what it was
made from *echo* each other: once one of them has changed, the other is stale, and reading it is refused.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

from overclock.recording.errors import Place, UnsupportedError
from overclock.recording.shapes import TUPLE, Array, Fixed, Many, Maybe, Record, Shape

WHOLE, ITEMS = "whole", "items"  # what a change touches: a thing itself, or the items of a list kept as arrays
TWO_NAMES = (
    "something that has two names (an alias, or an item of a list) is changed under one and read under the other"
)


@dataclasses.dataclass
class Journal:
    """What happened in a run, in whichever branch: where it is now, and where each cell was changed first."""

    place: Place | None = None
    changed: dict[int, Place | None] = dataclasses.field(default_factory=dict)
    joined: list[tuple[Any, Place | None]] = dataclasses.field(default_factory=list)  # by `+` or `*`, and where
    turned: bool = False  # whether an array was transposed: then the order of others in memory is not known
    lines: set[tuple[str, int]] = dataclasses.field(default_factory=set)  # where a statement was run, (file, line)
    tests: dict[tuple[str, int], set[bool | None]] = dataclasses.field(default_factory=dict)  # of `if`; None: both

    def enter(self, place: Place) -> None:
        """Note the place of a statement that is run now."""
        self.place = place
        self.lines.add((place.file, place.line))

    def test(self, place: Place, outcome: bool | None) -> None:
        """The test of an `if` gives this, whatever the state; None where that depends."""
        self.tests.setdefault((place.file, place.line), set()).add(outcome)

    def join(self, *sequences: Any) -> None:
        """`+` or `*` is applied to sequences here."""
        self.joined += [(sequence, self.place) for sequence in sequences]


class Echoes:
    """Which cells hold copies of what is in others, and which are out of date by now."""

    def __init__(self) -> None:
        self._heard: dict[tuple[str, int], frozenset[int]] = {}
        self.stale: frozenset[int] = frozenset()
        self.constant: frozenset[int] = frozenset()  # copies of constants
        self.doubled: frozenset[int] = frozenset()  # lists with two items that are one thing

    def copy(self) -> "Echoes":
        """A copy that changes of this do not reach."""
        return self | Echoes()

    def __or__(self, other: "Echoes") -> "Echoes":
        """The union of what two of them know."""
        both = Echoes()
        both._heard = dict(self._heard)
        for key, cells in other._heard.items():
            both._heard[key] = both._heard.get(key, frozenset()) | cells
        both.stale, both.constant = self.stale | other.stale, self.constant | other.constant
        both.doubled = self.doubled | other.doubled
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Echoes) and self._all() == other._all()

    def _all(self) -> tuple[Any, ...]:
        return self._heard, self.stale, self.constant, self.doubled

    def within(self, cells: Any) -> "Echoes":
        """What is known about some cells."""
        found = Echoes()
        found._heard = {key: mine for key, heard in self._heard.items() if key[1] in cells and (mine := heard & cells)}
        found.stale, found.constant = self.stale & cells, self.constant & cells
        found.doubled = self.doubled & cells
        return found

    def link(self, one: int, other: int) -> None:
        """One is a copy of the other."""
        if one != other:
            for event in (WHOLE, ITEMS):
                self._hear(event, one, other)
                self._hear(event, other, one)

    def hold(self, listed: int, item: int) -> None:
        """A list kept as arrays got a copy of an item."""
        if listed in self._heard.get((WHOLE, item), ()):
            self.doubled |= {listed}
        self._hear(WHOLE, item, listed)
        self._hear(ITEMS, item, listed)
        self._hear(ITEMS, listed, item)

    def siblings(self, one: int, other: int) -> None:
        """Two lists kept as arrays have items in common."""
        if one == other:
            self.doubled |= {one}
        self._hear(ITEMS, one, other)
        self._hear(ITEMS, other, one)

    def _hear(self, event: str, cell: int, hearer: int) -> None:
        self._heard[event, cell] = self._heard.get((event, cell), frozenset()) | {hearer}

    def change(self, cell: int, event: str) -> None:
        """A cell, or an item of a list, is about to change."""
        if cell in self.constant:
            raise UnsupportedError("something that does not belong to the environment is changed")
        if event == ITEMS and cell in self.doubled:
            raise UnsupportedError(TWO_NAMES)
        self.stale |= self._heard.get((event, cell), frozenset()) - {cell}

    def of(self, cell: int) -> frozenset[int]:
        """Everything that echoes a cell."""
        return self._heard.get((WHOLE, cell), frozenset()) | self._heard.get((ITEMS, cell), frozenset())


def changeable(shape: Shape) -> bool:
    """Whether values of a shape can be changed in place."""
    match shape:
        case Array() | Many() | Record():
            return True
        case Fixed(items, kind):
            return kind != TUPLE or any(map(changeable, items))
        case Maybe(of):
            return changeable(of)
    return False


def related(echoes: Echoes, cells: set[int]) -> Iterator[int]:
    """Cells, everything that echoes them, and so on."""
    left, seen = list(cells), set(cells)
    while left:
        cell = left.pop()
        yield cell
        more = echoes.of(cell) - seen
        seen |= more
        left += more
