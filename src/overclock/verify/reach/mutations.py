"""Small structured changes of a state: what a search tries to come nearer to a branch that nothing has reached.

A state is named arrays. Numbers go to what they were compared with, or to a constant of the source; rows and columns
are filled but for a few holes; things move, meet, are copied; lists become empty, full, longer and shorter.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from overclock.verify.reach.distance import Pair
from overclock.verify.sides.subject import Arrays

MOST_LINES, MOST_HOLES = 4, 3
FAR = 64.0  # from what play showed, where that is little
NEAR = 2  # a number counts as the one that was compared if it is at most so far from it
WHOLE = 2**31 - 1  # whole numbers beyond it are not kept by float32 programs
WHOLE_FLOAT = 2.0**24  # and those of a float not beyond this one
SLACK = 8  # places of a long list that stay free unless play fills it: a step may append to it before it removes


@dataclasses.dataclass(frozen=True)
class Layout:
    """What is known about the arrays of a state.

    - `plain`: the leaves that can be changed alone;
    - `groups`: leaves that belong together, such as those of one attribute;
    - `lists`: the leaf that says how long a list is, and the leaves of its items, which have a leading axis;
    - `ranges`: of floats, where boundary values lie.
    """

    plain: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    lists: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    ranges: Mapping[str, Callable[[np.random.Generator], np.ndarray]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, state: Arrays, fixed: Sequence[str] = ()) -> "Layout":
        """The layout of arrays by their names, some of which are never changed; `x_length` is that of the `x_...`."""
        lists: dict[str, tuple[str, ...]] = {}
        for length in (name for name in state if name.endswith("_length") and not state[name].ndim):
            head = length.removesuffix("length")
            items = [name for name in state if name.startswith(head) and state[name].ndim]
            if items and len({len(state[name]) for name in items}) == 1:
                lists[length] = tuple(items)
        listed = {name for length, items in lists.items() for name in (length, *items)}
        names = tuple(name for name in state if name not in listed and name not in fixed)
        whole = tuple((length, *items) for length, items in lists.items())
        return cls(names, (*((name,) for name in names), *whole), lists)


class Mutations:
    """Changes states of one layout; `ends` are the least and greatest numbers that play showed."""

    def __init__(self, layout: Layout, met: Sequence[Arrays], constants: Sequence[float]) -> None:
        self._layout, self._constants = layout, [one for one in constants if abs(one) <= WHOLE]
        self.ends: dict[str, tuple[float, float]] = {}
        self._fractions: set[str] = set()  # floats that were not always whole numbers; contracts compare the others so
        self.extend_ends(met)
        first = met[0] if met else {}
        self._numbers = [name for name in layout.plain if name in first and not first[name].ndim]
        self._arrays = [name for name in layout.plain if name in first and first[name].size > 1]
        self._lists = {
            length: items
            for length, items in layout.lists.items()
            if length in first and all(name in first for name in items)
        }
        changes = [
            (3, self._move_number, self._numbers),
            (2, self._to_constant, self._numbers if self._constants else []),
            (2, self._meet, self._numbers),
            (4, self._change_array, self._arrays),
            (3, self._fill_lines, [name for name in self._arrays if first[name].ndim >= 2]),
            (2, self._move_things, self._arrays),
            (4, self._change_list, list(self._lists)),
            (1, self._at_ends, list(layout.ranges)),
        ]
        self._changes = [change for weight, change, on in changes if on for _ in range(weight)]

    def extend_ends(self, met: Sequence[Arrays]) -> None:
        """Take further states of play into account."""
        for state in met:
            for name, array in state.items():
                if array.size and array.dtype.kind in "biuf":
                    low, high = self.ends.get(name, (np.inf, -np.inf))
                    self.ends[name] = min(low, float(array.min())), max(high, float(array.max()))
                if array.dtype.kind == "f" and not (np.rint(array) == array).all():
                    self._fractions.add(name)

    def change(self, state: Arrays, other: Arrays, pairs: Sequence[Pair], generator: np.random.Generator) -> Arrays:
        """One change of a state: parts of the `other` one, a number towards what it was compared with, or any."""
        chance = generator.random()
        if pairs and chance < 0.4:
            return self._towards(state, pairs, generator)
        if (chance < 0.55 and self._layout.groups) or not self._changes:
            group = self._layout.groups[generator.integers(len(self._layout.groups))] if self._layout.groups else ()
            return state | {name: other[name] for name in group}
        return state | self._changes[int(generator.integers(len(self._changes)))](state, generator)

    # ---- numbers ----

    def _towards(self, state: Arrays, pairs: Sequence[Pair], generator: np.random.Generator) -> Arrays:
        """A number that was compared, or one beside it, becomes what it was compared with, or a neighbour of that."""
        first, second = pairs[int(generator.integers(len(pairs)))]
        if generator.random() < 0.3:
            first, second = second, first
        places = [
            (name, place)
            for name in (*self._layout.plain, *(name for items in self._lists.values() for name in items))
            if name in state and state[name].dtype.kind in "biuf"
            for place in np.flatnonzero(np.abs(state[name].ravel().astype(np.float64) - first) <= NEAR)[:64]
        ]
        if not places:
            return state
        name, place = places[generator.integers(len(places))]
        changed = state[name].copy()
        beside = first - float(changed.flat[place])
        changed.flat[place] = self._allowed(name, changed.dtype, second - beside, generator)
        return state | {name: changed}

    def _allowed(self, name: str, dtype: np.dtype, wanted: float, generator: np.random.Generator) -> np.generic:
        """A value, or one beside it; what play never showed to be negative stays so."""
        if dtype.kind == "b":
            return dtype.type(wanted >= 0.5)
        if dtype.kind == "f" and name not in self._fractions and np.isfinite(wanted):
            return dtype.type(min(max(round(wanted) + int(generator.integers(-1, 2)), -WHOLE_FLOAT), WHOLE_FLOAT))
        if dtype.kind == "f":
            sides = (wanted, np.nextafter(wanted, -np.inf), np.nextafter(wanted, np.inf), wanted - 0.01, wanted + 0.01)
            return dtype.type(sides[generator.integers(len(sides))])
        low = min(self.ends.get(name, (0.0, 0.0))[0], 0.0) if dtype.kind == "i" else 0.0
        most = WHOLE if dtype.itemsize >= 4 else np.iinfo(dtype).max
        return dtype.type(min(max(round(wanted) + int(generator.integers(-1, 2)), low), most))

    def _move_number(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """A number at an end of what was seen, one further or one less."""
        name = self._numbers[generator.integers(len(self._numbers))]
        value, (low, high) = state[name], self.ends.get(name, (0.0, 0.0))
        if value.dtype.kind == "f":
            part = (low, high, 0.0, low + (high - low) * generator.random(), -float(value))[generator.integers(5)]
            return {name: np.asarray(part if name in self._fractions else np.rint(part), value.dtype)}
        if value.dtype == np.bool_:  # a flag that no step began with is usually that of an end
            return {name: np.asarray(generator.random() * (high - low) + low >= 0.5)}
        near = min(max(int(value) + int(generator.integers(-1, 2)), int(low)), int(high))
        return {name: np.asarray((min(max(0, low), high), low, high, near)[generator.integers(4)], value.dtype)}

    def _to_constant(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """A number on a constant of the source, or beside it, unless that is far from all that was seen."""
        name = self._numbers[generator.integers(len(self._numbers))]
        value, (low, high) = state[name], self.ends.get(name, (0.0, 0.0))
        constant = self._constants[generator.integers(len(self._constants))]
        far = max(10.0 * (high - low + 1.0), FAR)
        if value.dtype == np.bool_ or not low - far <= constant <= high + far:
            return {}
        return {name: np.asarray(self._allowed(name, value.dtype, constant, generator))}

    def _meet(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """Neighbouring numbers become those of an item, of a place in a grid, or of other numbers: things meet."""
        count = min(int(generator.integers(1, 3)), len(self._numbers))
        begin = int(generator.integers(len(self._numbers) - count + 1))
        names = self._numbers[begin : begin + count]
        if any(state[name].dtype.kind not in "iu" for name in names):
            return {}
        sources = [values for values in self._positions(state, count, generator) if len(values)]
        if not sources:
            return {}
        rows = sources[generator.integers(len(sources))]
        row = rows[generator.integers(len(rows))].astype(np.int64)
        row[generator.integers(count)] += generator.integers(-1, 2)
        return {name: np.asarray(max(one, 0), state[name].dtype) for name, one in zip(names, row, strict=True)}

    def _positions(self, state: Arrays, count: int, generator: np.random.Generator) -> list[np.ndarray]:
        found = [
            np.stack([state[name][: int(state[length])] for name in items[:count]], -1)
            for length, items in self._lists.items()
            if len(items) >= count and all(state[name].ndim == 1 for name in items[:count])
        ]
        found += [np.argwhere(state[name]) for name in self._arrays if state[name].ndim == count]
        others = [name for name in self._numbers if state[name].dtype.kind in "iu"]
        if len(others) > count:
            at = int(generator.integers(len(others) - count + 1))
            found.append(np.array([[int(state[name]) for name in others[at : at + count]]]))
        return found

    def _at_ends(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """All floats at, beyond or between the ends of what was seen, and nothing else."""
        return {name: value(generator) for name, value in self._layout.ranges.items()}

    # ---- arrays ----

    def _change_array(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """An array moved, thinned, emptied, shuffled, or with a few of its numbers elsewhere."""
        name = self._arrays[generator.integers(len(self._arrays))]
        value = state[name]
        match generator.integers(7):
            case 0:
                return {name: np.zeros_like(value)}
            case 1:
                axis = int(generator.integers(value.ndim))
                return {name: np.roll(value, int(generator.integers(value.shape[axis])), axis)}
            case 2:
                return {name: np.where(generator.random(value.shape) < generator.random(), value, np.zeros_like(value))}
            case 3:
                changed, places = value.copy(), generator.integers(0, value.size, (2, 2))
                changed.flat[places[0]] = value.flat[places[1]]
                return {name: changed}
            case 4 | 5:  # a single number, at an end of what was seen
                changed = value.copy()
                changed.flat[generator.integers(value.size)] = self.ends.get(name, (0.0, 0.0))[generator.integers(2)]
                return {name: changed}
        return {name: generator.permutation(value.ravel()).reshape(value.shape)}

    def _fill_lines(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """Some neighbouring lines of a grid filled, with holes that lie above each other; the rest is as it was."""
        grids = [name for name in self._arrays if state[name].ndim >= 2]
        name = grids[generator.integers(len(grids))]
        changed = state[name].copy()
        axis = int(generator.integers(changed.ndim))
        lines = np.moveaxis(changed, axis, 0)
        count = int(generator.integers(1, min(MOST_LINES, len(lines)) + 1))
        begin = len(lines) - count if generator.random() < 0.5 else int(generator.integers(len(lines) - count + 1))
        if not (values := changed[changed != 0]).size:
            values = np.asarray([max(self.ends.get(name, (0.0, 1.0))[1], 1.0)]).astype(changed.dtype)
        filled = np.broadcast_to(values[generator.integers(values.size)], lines[begin].shape).copy()
        filled.flat[generator.integers(0, filled.size, generator.integers(MOST_HOLES + 1))] = 0
        lines[begin : begin + count] = filled
        return {name: changed}

    def _move_things(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """What lies somewhere in an array changes places with what lies elsewhere, often its neighbour."""
        name = self._arrays[generator.integers(len(self._arrays))]
        changed = state[name].copy()
        things = np.argwhere(changed)
        if not len(things):
            return {}
        for _ in range(generator.integers(1, 4)):
            begin = things[generator.integers(len(things))]
            end = np.array([generator.integers(length) for length in changed.shape])
            if generator.random() < 0.5:
                end = (begin + generator.integers(-1, 2, len(begin))) % changed.shape
            changed[tuple(begin)], changed[tuple(end)] = changed[tuple(end)], changed[tuple(begin)]
        return {name: changed}

    # ---- lists ----

    def _change_list(self, state: Arrays, generator: np.random.Generator) -> Arrays:
        """A list that is empty, full, shorter, or longer by items beside those before."""
        lengths = list(self._lists)
        name = lengths[generator.integers(len(lengths))]
        items, length = self._lists[name], int(state[name])
        capacity = self._room(name, state)
        wanted = (0, capacity, length - 1, length + 1, length + int(generator.integers(2, 32)), *self._near(capacity))
        new = min(max(int(wanted[generator.integers(len(wanted))]), 0), capacity)
        changed = {item: state[item].copy() for item in items}
        if new > length > 0:
            self._lengthen(changed, length, new, generator)
        for item in items:
            changed[item][new:] = 0
        return {**changed, name: np.asarray(new, state[name].dtype)}

    def _room(self, name: str, state: Arrays) -> int:
        """How long a list may become; `name` is that of its length.

        A list that play never filled keeps a few places free: a step from a full one may need room that no state has.
        """
        items = self._lists[name]
        capacity = min(len(state[item]) for item in items) if items else 0
        if self.ends.get(name, (0.0, 0.0))[1] >= capacity:
            return capacity
        return max(capacity - min(SLACK, max(capacity // SLACK, 1)), int(state[name]))

    def _near(self, capacity: int) -> list[int]:
        """Constants of the source that are lengths, and their neighbours."""
        known = [int(one) for one in self._constants if 0 <= one <= capacity]
        return [one + by for one in known for by in (-1, 0, 1)][:32]

    def _lengthen(self, items: Arrays, length: int, new: int, generator: np.random.Generator) -> None:
        """Further items, each beside the one before and unlike all others if possible, within what was seen."""
        whole = [name for name, values in items.items() if values.ndim == 1 and values.dtype.kind in "iu"]
        taken = {tuple(int(items[name][place]) for name in whole) for place in range(length)}
        for place in range(length, new):
            for name in items:
                items[name][place] = items[name][place - 1]
            for _ in range(8 if whole else 0):
                name, by = whole[generator.integers(len(whole))], (-1, 1)[generator.integers(2)]
                low, high = self.ends.get(name, (0.0, 0.0))
                row = {one: int(items[one][place - 1]) for one in whole}
                row[name] = min(max(row[name] + by, int(low)), int(high))
                if tuple(row.values()) not in taken:
                    taken.add(tuple(row.values()))
                    for one, number in row.items():
                        items[one][place] = number
                    break
