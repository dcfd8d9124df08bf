"""Aliases from one step to the next: attributes that are two names of one thing.

In the state of a translation every attribute has memory of its own. That is right as long as nobody changes in place
what another attribute names, too; where the rules do, the environment is refused.
"""

import itertools
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np

from overclock.recording.errors import Place, UnsupportedError
from overclock.translate.ir.aliases import related
from overclock.translate.ir.store import DictCell, ListCell, ManyCell, ObjectCell, Store
from overclock.translate.ir.values import Known, May, Pack, Ref, Value, View

Path = tuple[str, ...]


class StateNames:
    """The attributes of the environment before and after a run of one of its functions."""

    def __init__(self, root: Ref, paths: Iterable[Path], store: Store) -> None:
        self._root = root
        self._entered = {path: {cell for _, cell in self._cells(path, store)} for path in paths}
        self._values = {path: self._at(path, store) for path in self._entered}

    def connect(self, live: Any, store: Store) -> None:
        """What the constructor gave two names, or made a view of something else, has two names in the run as well."""
        things: dict[int, tuple[Any, list[int]]] = {}
        for path in self._entered:
            value, thing = self._at(path, store), live
            for name in path:
                thing = getattr(thing, name, None)
            for cell, part in _pairs(value, thing, store):
                things.setdefault(id(part), (part, []))[1].append(cell)
        for _, cells in things.values():
            self._link(cells, cells, store)
        arrays = [(thing, cells) for thing, cells in things.values() if isinstance(thing, np.ndarray)]
        for (a, ones), (b, others) in itertools.combinations(arrays, 2):
            if np.shares_memory(a, b):
                self._link(ones, others, store)

    def _link(self, ones: list[int], others: list[int], store: Store) -> None:
        for one, other in itertools.product(ones, others):
            store.echoes.link(one, other)
        if len(ones) > 1 and len(set(ones)) == 1:
            store.echoes.doubled |= set(ones)

    def lists(self, paths: Iterable[Path]) -> set[int]:
        """The cells of some attributes, as they were before the run."""
        return {cell for path in paths for cell in self._entered[path]}

    def joined(self, path: Path, store: Store) -> "list[Place | None]":
        """Where `+` or `*` was applied to an attribute as to a tuple or a list."""
        own = self._values[path]
        return [place for value, place in store.journal.joined if value is own or value == own]

    def changed(self, store: Store) -> dict[Path, Place | None]:
        """The attributes that the run changed in place, and where."""
        found: dict[Path, Place | None] = {}
        for cell, place in store.journal.changed.items():
            touched = set(related(store.echoes, {cell}))
            for path, cells in self._entered.items():
                if touched & cells:
                    found.setdefault(path, place)
        return found

    def shared(self, paths: Iterable[Path], store: Store) -> "Iterator[tuple[Path, Path | None]]":
        """Attributes that are names of one thing after the run; None stands for a constant."""
        seen: dict[int, tuple[Any, Path]] = {}
        for path in paths:
            if store.constant(self._at(path, store)):
                yield path, None
            for route, cell in self._cells(path, store):
                known, other = seen.setdefault(cell, (route, path))
                if known != route or cell in store.echoes.doubled:
                    yield path, other
                if cell in store.echoes.constant:
                    yield path, None
        for cell, (_, path) in seen.items():
            for other in store.echoes.of(cell) & seen.keys():
                yield path, seen[other][1]

    def _at(self, path: Path, store: Store) -> Value:
        value: Value = self._root
        for name in path:
            cell = store.cells[value.cell] if isinstance(value, Ref) else None
            value = cell.fields.get(name, Known(None)) if isinstance(cell, ObjectCell) else Known(None)
        return value

    def _cells(self, path: Path, store: Store) -> "Iterator[tuple[Any, int]]":
        """The cells of an attribute and of the objects that it belongs to, each with the way to it."""
        for depth in range(1, len(path)):
            owner = self._at(path[:depth], store)
            if isinstance(owner, Ref):
                yield path[:depth], owner.cell
        yield from _walked(self._at(path, store), path, store)


def _walked(value: Value, route: Any, store: Store) -> "Iterator[tuple[Any, int]]":
    match value:
        case Ref(cell):
            yield route, cell
            for key, part in _named_parts(store.cells[cell]):
                yield from _walked(part, (*route, key), store)
        case View(base):
            yield (*route, "view"), base.cell
        case Pack(items):
            for at, item in enumerate(items):
                yield from _walked(item, (*route, at), store)
        case May(_, inner):
            yield from _walked(inner, route, store)


def _named_parts(cell: Any) -> "list[tuple[Any, Value]]":
    match cell:
        case ListCell(items):
            return list(enumerate(items))
        case DictCell(items) | ObjectCell(_, items):
            return list(items.items())
    return []


def _pairs(value: Value, thing: Any, store: Store) -> "Iterator[tuple[int, Any]]":
    """Cells, and the live things they stand for."""
    match value:
        case Ref(number):
            cell = store.cells[number]
            yield number, thing
            inside = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
            for key, part in inside:
                if isinstance(cell, ManyCell):
                    if isinstance(part, list | dict | np.ndarray):
                        yield number, part  # an item of a list kept as arrays has no cell of its own
                elif key in dict(_named_parts(cell)):
                    yield from _pairs(dict(_named_parts(cell))[key], part, store)
        case Pack(items) if isinstance(thing, tuple):
            for item, part in zip(items, thing, strict=False):
                yield from _pairs(item, part, store)
        case May(_, inner) if thing is not None:
            yield from _pairs(inner, thing, store)


def refuse_shared(
    paths: Iterable[Path], kept: Collection[Path], step: tuple[StateNames, Store], reset: tuple[StateNames, Store]
) -> None:
    """Refuse an environment that changes in place what has two names, one of which is needed."""
    paths = list(paths)
    changed = step[0].changed(step[1])
    for names, store in (reset, step):
        for one, other in names.shared(paths, store):
            place = changed.get(one) or (changed.get(other) if other else None)
            if place is not None and (one in kept or other in kept):
                shown = f"'{'.'.join(one)}' and " + (f"'{'.'.join(other)}'" if other else "a constant")
                if other == one:
                    shown = f"parts of '{'.'.join(one)}'"
                raise UnsupportedError(f"{shown} are two names of one thing, which is changed in place", place)
