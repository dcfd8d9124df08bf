"""Which of the things an instance holds are its state: those that change, and whether arrays can hold them."""

import dataclasses
from typing import Any, Literal

import numpy as np

from overclock.recipe.survey.leaves import Container, Leaf, Odd

NOT_RECORDED = "a random generator that is not recorded"


@dataclasses.dataclass(frozen=True)
class StateField:
    """A number or array that changes: during episodes (`step`) or only from one reset to the next (`reset`).

    `low` and `high` bound what was seen, which need not be all there is. `used`: the rules read it; otherwise only
    rendering does, or nobody. `restores`: writing it back and stepping leads to the value it led to before.
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
    """Something that changes and that no array of one shape and dtype holds."""

    path: str
    what: str
    used: bool = True

    @property
    def sentence(self) -> str:
        """For a person."""
        return f"'{self.path}' is {self.what}{'' if self.used else ', and the rules never read it'}."


class _Trail:
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
        if isinstance(leaf, Odd):
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
        """In words, what keeps it from being an array of one shape; None where nothing does."""
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


class Follower:
    """Sees an instance after every reset and step, and says at the end what its state is."""

    def __init__(self) -> None:
        self._trails: dict[str, _Trail] = {}
        self._events = 0

    def see(self, found: dict[str, Leaf], event: Literal["reset", "step"]) -> None:
        """What the instance holds after an event."""
        self._events += 1
        for path, leaf in found.items():
            self._trails.setdefault(path, _Trail()).see(leaf, event)

    def fields(self) -> list[StateField]:
        """What changes and is a number or an array of one shape."""
        odd = [one.path for one in self.unrepresented()]
        found = []
        for path, trail in self._trails.items():
            if not trail.shapes or not trail.changes or _inside(path, odd):
                continue
            dtype = np.result_type(*map(np.dtype, trail.dtypes))
            kind = "bool" if dtype.kind == "b" else "integer" if dtype.kind in "iu" else "float"
            when = "step" if "step" in trail.changes else "reset"
            shape = next(iter(trail.shapes))
            found.append(StateField(path, kind, str(dtype), shape, trail.low, trail.high, when))
        return found

    def unrepresented(self) -> list[Unrepresented]:
        """What changes and is no such thing; only the outermost of several inside each other."""
        found: list[Unrepresented] = []
        for path, trail in self._trails.items():
            if _inside(path, [one.path for one in found]):
                continue
            what = trail.varies_in_kind()
            if what is None and trail.seen < self._events and not trail.containers:
                what = "not always there"
            if what is not None:
                found.append(Unrepresented(path, what))
        return found

    def constants(self) -> dict[str, float | int | bool]:
        """Single numbers that never changed: the parameters of the rules."""
        odd = [one.path for one in self.unrepresented()]
        return {
            path: trail.last.item()
            for path, trail in self._trails.items()
            if isinstance(trail.last, np.ndarray)
            and trail.last.ndim == 0
            and "[" not in path  # an entry of a table
            and not trail.changes
            and not _inside(path, odd)
        }


def _inside(path: str, others: list[str]) -> bool:
    return any(path == other or path.startswith((f"{other}.", f"{other}[")) for other in others)


def _equal(a: Leaf, b: Leaf) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"))
    return type(a) is type(b) and a == b
