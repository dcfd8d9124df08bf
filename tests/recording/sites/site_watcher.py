"""Finding out where a reference draws: every site that was reached, how often, with which arguments.

with hooked():
    watcher = SiteWatcher()
    with watcher.making():
        env = make()
    with watcher.recording(seed=0):
        env.reset(seed=0)
    with watcher.recording():
        env.step(1)
[seen.site(f"draw_{i}", "reset") for i, seen in enumerate(watcher.seen()) if seen.reset.most]
"""

import collections
import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from overclock.errors import UsageError
from overclock.recording.shapes import same
from overclock.recording.sites.call_sites import CallSite
from overclock.recording.sites.generators import Drawing, LaneGenerators, listening
from overclock.recording.sites.parameters import Family, family, parameters_of
from overclock.recording.sites.record_forms import DTYPES
from overclock.recording.sites.recorder import Site, tupled

When = Literal["reset", "step"]
NEVER = 2**31  # nothing was counted yet


class _Varying:
    """Stands for an argument that was not always the same."""

    def __repr__(self) -> str:
        return "VARYING"


VARYING = _Varying()


@dataclasses.dataclass
class Occurrences:
    """How often a site was reached in one reset or step."""

    fewest: int
    most: int = 0

    def count(self, times: int) -> None:
        """One more reset or step."""
        self.fewest, self.most = min(self.fewest, times), max(self.most, times)


@dataclasses.dataclass
class SeenSite:
    """A site that was reached. `arguments` are those of the call by name, `facts` what they come to.

    See sites/parameters.py; either may be VARYING.
    """

    place: CallSite
    reset: Occurrences
    step: Occurrences
    sources: set[str] = dataclasses.field(default_factory=set)
    methods: set[str] = dataclasses.field(default_factory=set)
    families: set[Family] = dataclasses.field(default_factory=set)
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)
    shapes: set[tuple[int, ...]] = dataclasses.field(default_factory=set)  # of one record
    dtypes: set[str] = dataclasses.field(default_factory=set)  # of what the call gave
    _new: bool = True

    def see(self, drawing: Drawing, facts: dict[str, Any], arguments: dict[str, Any], value: Any) -> None:
        """One more call; `facts` and `arguments` as they were before it."""
        self.sources.add(drawing.source)
        self.methods.add(drawing.method)
        self.families.add(family(drawing))
        self.arguments = _joined(self.arguments, arguments, self._new)
        self.facts = _joined(self.facts, facts, self._new)
        self.shapes.add(_record_shape(drawing, facts, value))
        self.dtypes.add(str(np.asarray(value).dtype))
        self._new = False

    def site(self, name: str, when: When) -> Site:
        """The site with the form that fits: a value where all arguments are constant, else what it is made of."""
        for what, found in (("generators", self.sources), ("methods", self.methods), ("shapes", self.shapes)):
            if len(found) > 1:
                shown = ", ".join(sorted(map(str, found)))
                raise UsageError(f"The draw at {self.place} has several {what} ({shown}); a site needs one.")
        form = self._form()
        names = {"index": ("n", "p"), "permutation": ("n", "k", "p")}.get(form, ())
        described = self.facts if form == "value" else {one: self.facts[one] for one in names if one in self.facts}
        occurrences = self.reset if when == "reset" else self.step
        return Site(
            name,
            *self.place,
            method=min(self.methods),
            form=form,
            shape=min(self.shapes),
            count=max(1, occurrences.most),
            arguments=tuple((one, _plain(value)) for one, value in described.items()),
            source=min(self.sources),
            dtype=self._dtype(form),
        )

    def _form(self) -> str:
        (kind,) = self.families if len(self.families) == 1 else (Family.OTHER,)
        constant = all(value is not VARYING for value in self.facts.values())
        same_range = all(self.facts.get(name) is not VARYING for name in ("n", "p", "k"))
        match kind:
            case Family.WHOLE | Family.CHOICE:
                return "index" if same_range else "unit"
            case Family.UNIFORM if not constant:
                return "unit"
            case Family.NORMAL if not constant:
                return "normal"
            case Family.PERMUTATION if same_range:
                return "permutation"
            case Family.UNIFORM | Family.NORMAL | Family.UNIT | Family.OTHER if constant:
                return "value"
        varying = [name for name, value in self.facts.items() if value is VARYING]
        raise UsageError(
            f"The draw at {self.place} ({', '.join(self.methods)}) has arguments that change ({', '.join(varying)}), "
            "and what it draws is not made of a simpler number."
        )

    def _dtype(self, form: str) -> str:
        if form in DTYPES:
            return DTYPES[form]
        found = np.result_type(*self.dtypes)
        if found.kind not in "biuf":
            raise UsageError(f"The draw at {self.place} gives {found}, which is no number.")
        return str(found)


class SiteWatcher:
    """Watches the draws of instances; needs `hooked`."""

    def __init__(self) -> None:
        self._lanes = collections.defaultdict(LaneGenerators)
        self._seen: dict[CallSite, SeenSite] = {}
        self._times: dict[CallSite, int] = {}  # in what runs now
        self._watched = {"reset": 0, "step": 0}

    def making(self, lane: int = 0) -> contextlib.AbstractContextManager[None]:
        """Inside, an instance is made; every one from the same seed."""
        return self._lanes[lane].making()

    @contextlib.contextmanager
    def recording(self, lane: int = 0, seed: int | None = None) -> Iterator[None]:
        """Inside, an instance is reset (with a seed) or steps."""
        when: When = "step" if seed is None else "reset"
        self._times = {}
        if seed is not None:
            self._lanes[lane].begin(seed)
        with listening(self, self._lanes[lane]):
            yield
        self._watched[when] += 1
        for place, seen in self._seen.items():
            getattr(seen, when).count(self._times.get(place, 0))

    def seen(self) -> list[SeenSite]:
        """Every site that was reached, in the order in which they were."""
        return list(self._seen.values())

    def draw(self, drawing: Drawing) -> Any:
        """Make a call that a generator was asked for, and look at it."""
        facts, arguments = _copied(parameters_of(drawing).given()), _copied(drawing.given)
        value = drawing.run()
        # A site that is reached for the first time was not reached before.
        reset, step = (Occurrences(0 if self._watched[when] else NEVER) for when in ("reset", "step"))
        seen = self._seen.setdefault(drawing.place, SeenSite(drawing.place, reset, step))
        seen.see(drawing, facts, arguments, value)
        self._times[drawing.place] = self._times.get(drawing.place, 0) + 1
        return value


def _record_shape(drawing: Drawing, facts: dict[str, Any], value: Any) -> tuple[int, ...]:
    """The shape of what would be recorded: positions have none of the items' own axes."""
    match family(drawing):
        case Family.CHOICE | Family.PERMUTATION if drawing.method == "choice":
            size = drawing.arguments.get("size")
            return () if size is None else np.empty(size).shape
        case Family.CHOICE if drawing.method == "choices":
            return (int(drawing.arguments["k"]),)
        case Family.PERMUTATION:
            return (int(facts["k"]),)
        case _:
            return np.shape(value)


def _joined(known: dict[str, Any], now: dict[str, Any], new: bool) -> dict[str, Any]:
    """What two calls have in common; VARYING where they differ."""
    if new:
        return now
    names = known.keys() | now.keys()
    return {
        name: now[name] if name in known and name in now and same(known[name], now[name]) else VARYING
        for name in sorted(names)
    }


def _copied(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments as they are now: a program may change a list or an array that it gave."""
    return {
        name: value.copy() if isinstance(value, np.ndarray | list) else value for name, value in values.items()
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """An argument as JSON can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, type):
        return str(np.dtype(value)) if issubclass(value, np.generic | int | float | bool) else value.__name__
    return tupled(value)
