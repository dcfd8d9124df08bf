"""Which of the things an instance holds are its state: those that change, and whether arrays can hold them."""

import dataclasses
from typing import Any, Literal

import numpy as np

from overclock.recipe.survey.live.attribute_leaves import SHARED, Container, Leaf, NotNumeric
from overclock.recipe.survey.live.paths import parse
from overclock.recipe.survey.static.attribute_writes import Writes
from overclock.recording.shapes import equal_arrays

NOT_RECORDED = "a random generator that is not recorded"
NOTHING_WRITTEN = Writes(frozenset(), frozenset())


@dataclasses.dataclass(frozen=True)
class StateField:
    """A number or array that changes: during episodes (`step`) or only from one reset to the next (`reset`).

    What a step may assign is one even where play never changed it. `low` and `high` bound what was seen, which need not
    be all there is. `used`: the rules read it; otherwise only rendering does, or nobody. `restores`: writing it back
    and stepping leads to the value it led to before.
    """

    path: str
    kind: Literal["bool", "integer", "float"]
    dtype: str
    shape: tuple[int, ...]
    low: float
    high: float
    changes: Literal["step", "reset"]
    used: bool = True
    restores: bool | None = None


@dataclasses.dataclass(frozen=True)
class Unrepresented:
    """Something that changes and that no array of one shape and dtype holds.

    `at_the_end`: it changes only in steps that end an episode, so no step of an episode begins with another value.
    """

    path: str
    what: str
    used: bool = True
    at_the_end: bool = False

    @property
    def missing(self) -> bool:
        """Whether a state without it is incomplete."""
        return self.used and not self.at_the_end

    @property
    def sentence(self) -> str:
        """What it is, and what becomes of it, for a person to read."""
        late = ", and changes only when an episode ends" if self.at_the_end else ""
        return f"'{self.path}' is {self.what}{late if self.used else ', and the rules never read it'}."


class _History:
    """What one path held so far."""

    def __init__(self) -> None:
        self.last: Leaf | None = None
        self.last_reset: Leaf | None = None
        self.changes: set[str] = set()
        self.seen = 0
        self.shapes: dict[tuple[int, ...], None] = {}
        self.dtypes: dict[str, None] = {}
        self.low, self.high = np.inf, -np.inf
        self.odd: dict[str, None] = {}
        self.containers: dict[tuple[str, tuple[Any, ...]], None] = {}

    def see(self, leaf: Leaf, event: str) -> None:
        if leaf is self.last and leaf is self.last_reset:  # most of a table, most of the time
            self.seen += 1
            return
        before = self.last if event == "step" else self.last_reset
        if before is not None and not _equal(before, leaf):
            self.changes.add(event)
        self.last = leaf
        if event == "reset":
            self.last_reset = leaf
        self.seen += 1
        if isinstance(leaf, NotNumeric):
            self.odd[leaf.what] = None
        elif isinstance(leaf, Container):
            self.containers[(leaf.what, leaf.shape)] = None
        else:
            self.shapes[leaf.shape] = None
            self.dtypes[leaf.dtype.str] = None
            finite = leaf[np.isfinite(leaf)] if leaf.dtype.kind == "f" else leaf
            if finite.size:
                self.low, self.high = min(self.low, float(finite.min())), max(self.high, float(finite.max()))

    def varies_in_kind(self) -> str | None:
        """Why the values are no array of one shape, in words; None where they are."""
        if self.odd:
            others = (["a number"] if self.shapes else []) + [f"an object ({what})" for what, _ in self.containers]
            kinds = [*self.odd, *others]
            constant = len(kinds) == 1 and not self.changes and NOT_RECORDED not in kinds
            return None if constant else " or ".join(kinds)
        if len(self.shapes) + len(self.containers) <= 1:
            return None
        lists = [shape for what, shape in self.containers if what == "list"]
        if len(lists) == len(self.containers):
            lengths = sorted(shape[0] for shape in (*self.shapes, *lists) if shape)
            return f"a list whose length varies (seen: {lengths[0]} to {lengths[-1]})"
        if not self.shapes and {what for what, _ in self.containers} == {"dict"}:
            return "a dict whose keys change"
        return "of changing class"


class _Histories:
    def __init__(self) -> None:
        self.by_path: dict[str, _History] = {}
        self.events = 0

    def see(self, found: dict[str, Leaf], event: str) -> None:
        self.events += 1
        for path, leaf in found.items():
            self.by_path.setdefault(path, _History()).see(leaf, event)

    def odd(self, path: str) -> str | None:
        """Why no array holds the values at a path, in words; None where one does."""
        history = self.by_path.get(path)
        if history is None:
            return None
        what = history.varies_in_kind()
        return "not always there" if what is None and history.seen < self.events and not history.containers else what


class StateTracker:
    """Follows an instance through resets and steps, and tells at the end which of its attributes are its state.

    `writes` is what the source says a step may write: that is state even where play never changed it.
    """

    def __init__(self, writes: Writes = NOTHING_WRITTEN) -> None:
        self._all, self._during = _Histories(), _Histories()  # the second: without steps that end an episode
        self._writes = writes

    def see(self, found: dict[str, Leaf], event: Literal["reset", "step"], ended: bool = False) -> None:
        """Note what the instance holds after an event; `ended`: one that ended its episode."""
        for histories in (self._all,) if ended else (self._all, self._during):
            histories.see(found, event)

    def fields(self) -> list[StateField]:
        """The state fields: what changes, or may be assigned, and is a number or an array of one shape."""
        odd = [one.path for one in self.unrepresented()]
        found = []
        for path, history in self._all.by_path.items():
            changes = history.changes or _written(path, self._writes.assigned)
            if not history.shapes or not changes or _inside(path, odd):
                continue
            dtype = np.result_type(*map(np.dtype, history.dtypes))
            kind = "bool" if dtype.kind == "b" else "integer" if dtype.kind in "iu" else "float"
            when = "reset" if history.changes == {"reset"} else "step"
            shape = next(iter(history.shapes))
            found.append(StateField(path, kind, str(dtype), shape, history.low, history.high, when))
        return found

    def unrepresented(self) -> list[Unrepresented]:
        """What changes, or may, and is no such thing; of several inside each other only the outermost."""
        found: list[Unrepresented] = []
        for path, history in self._all.by_path.items():
            if _inside(path, [one.path for one in found]):
                continue
            what = self._all.odd(path) or self._unseen(path, history)
            if what is not None:
                late = bool(history.changes) and self._during.odd(path) is None
                found.append(Unrepresented(path, what, at_the_end=late))
        return found

    def _unseen(self, path: str, history: _History) -> str | None:
        """What the rules may make of a value that play did not change, where that is no number; None otherwise."""
        if history.changes or SHARED in history.odd:
            return None
        resized = _steps(path)[-1] in self._writes.resized
        if history.odd and (resized or _written(path, self._writes.assigned)):
            return f"{' or '.join(history.odd)}, until a step makes something of it that play did not show"
        lists = any(history.shapes) or any(what in ("list", "dict") for what, _ in history.containers)
        return "something that a step may make longer or shorter" if resized and lists else None

    def constants(self) -> dict[str, float | int | bool]:
        """Single numbers that never changed: the parameters of the rules."""
        odd = [one.path for one in self.unrepresented()]
        return {
            path: history.last.item()
            for path, history in self._all.by_path.items()
            if isinstance(history.last, np.ndarray)
            and history.last.ndim == 0
            and "[" not in path  # an entry of a table
            and not history.changes
            and not _written(path, self._writes.assigned)
            and not _inside(path, odd)
        }


def _written(path: str, names: frozenset[str]) -> bool:
    return any(step in names for step in _steps(path))


def _steps(path: str) -> list[str]:
    """The attributes on the way; the last one holds the items that follow it."""
    return [step for step in parse(path) if isinstance(step, str)]


def _inside(path: str, others: list[str]) -> bool:
    return any(path == other or path.startswith((f"{other}.", f"{other}[")) for other in others)


def _equal(a: Leaf, b: Leaf) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return equal_arrays(a, b)
    return type(a) is type(b) and a == b
