"""Aliases across the turns of a loop: what a loop carries from turn to turn is a copy, of what it says here."""

import itertools
from typing import Any

from overclock.translate.ir.store import Store
from overclock.translate.ir.values import Value

Slot = tuple[Any, ...]
CONSTANT = "constant"


class LoopEchoes:
    """Learned from the first turns that are tried, used for those that count."""

    def __init__(self, entry: Store) -> None:
        self._entry = entry
        self._related: set[tuple[Slot, Any]] = set()  # a slot, and a slot or a cell that may hold the same thing
        self._owners: dict[int, Slot] = {}

    def begin(self, values: dict[Slot, Value], before: dict[Slot, Value], store: Store) -> None:
        """A turn begins (or the loop is over): slots hold copies of what they held before it."""
        self._owners = {cell: slot for slot, value in values.items() for cell in store.reached(value)}
        for slot, value in values.items():
            store.copied(value, before[slot], self._entry)
        for slot, other in self._related:
            for cell in store.reached(values[slot]) if slot in values else ():
                if other == CONSTANT:
                    store.echoes.constant |= {cell}
                elif other in values:
                    for one in store.reached(values[other]):
                        store.echoes.link(cell, one)
                else:
                    store.echoes.link(cell, other)

    def learn(self, values: dict[Slot, Value], after: Store) -> bool:
        """Look at what a turn left behind; whether that was news."""
        count = len(self._related)
        made: dict[int, set[Slot]] = {}
        for slot, value in values.items():
            if after.constant(value):
                self._related.add((slot, CONSTANT))
            cells = after.reached(value) | after.borrowed(value)
            for cell in cells.union(*(after.echoes.of(cell) for cell in cells)):
                if cell in self._owners:
                    if self._owners[cell] != slot:
                        self._related.add((slot, self._owners[cell]))
                elif cell in self._entry.cells:
                    self._related.add((slot, cell))
                else:
                    made.setdefault(cell, set()).add(slot)
        for slots in made.values():
            self._related.update(itertools.combinations(sorted(slots, key=repr), 2))
        outside = self._entry.echoes | after.echoes.within(self._entry.cells.keys())
        news = outside != self._entry.echoes or len(self._related) > count
        self._entry.echoes = outside
        return news
