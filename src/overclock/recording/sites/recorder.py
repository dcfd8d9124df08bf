"""Draws by their site: the call in the reference's source that makes them, however often and in whatever branch.

    with hooked():                                      # sites/install.py
        recorder = SiteRecorder(reset=sites_of_reset, step=sites_of_step)
        with recorder.making():
            env = make()
        with recorder.recording(seed=3) as drawn:       # a reset; a step where there is no seed
            env.reset(seed=3)
        drawn["card"]                                   # one row for every time the site was reached, then zeros

A draw at a site that is not known, or more often than is known, is an error with its place: nothing is left out.
"""

import collections
import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording.sites.call_sites import CallSite
from overclock.recording.sites.generators import Drawing, LaneGenerators, listening
from overclock.recording.sites.install import global_state
from overclock.recording.sites.parameters import FAMILIES, Family
from overclock.recording.sites.record_forms import FORMS
from overclock.recording.sites.tracked_number import TrackedNumber, chosen

Arrays = dict[str, np.ndarray]
OnDraw = Callable[["Site", np.ndarray], None]
# Recorded calls in which the modules' own generators are watched; a program that draws past us does so early.
WATCHED = 256


@dataclasses.dataclass(frozen=True)
class Site:
    """A call of a generator, and what is recorded of it: `form` says what, `shape` and `dtype` how one record looks.

    `count` is how often at most it happens in one reset or step. `arguments` describe the distribution of what is
    recorded: n and p of an index, n, k and p of a permutation, the call's own arguments of a value.
    """

    name: str
    file: str
    line: int
    column: int
    method: str
    form: str = "value"
    shape: tuple[int, ...] = ()
    count: int = 1
    arguments: tuple[tuple[str, Any], ...] = ()
    source: str = "Generator"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UsageError(f"The draw '{self.name}' has the form '{self.form}'; there are {', '.join(FORMS)}.")
        if self.count < 1:
            raise UsageError(f"The draw '{self.name}' happens {self.count} times; leave it out, or count it.")

    @property
    def place(self) -> CallSite:
        return CallSite(self.file, self.line, self.column)

    @property
    def leaf_shape(self) -> tuple[int, ...]:
        """The shape of its draws in one reset or step: a row for every time, where there may be several."""
        return self.shape if self.count == 1 else (self.count, *self.shape)

    def packed(self, records: Sequence[Any]) -> np.ndarray:
        """The records of one reset or step in the order in which they were made; zeros where there are no more."""
        rows = np.zeros((self.count, *self.shape), self.dtype)
        for place, record in enumerate(records):
            rows[place] = record
        return rows[0] if self.count == 1 else rows

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Site":
        """The site that `to_json` described."""
        return cls(**{name: tupled(value) for name, value in data.items()})


def tupled(value: Any) -> Any:
    """A value in which every list, as JSON has them, is a tuple."""
    return tuple(map(tupled, value)) if isinstance(value, list | tuple) else value


class SiteRecorder:
    """Records what instances draw at the sites of their resets and steps; needs `hooked`."""

    def __init__(self, reset: Iterable[Site], step: Iterable[Site], on_draw: OnDraw | None = None) -> None:
        """`on_draw` is called with every record as it is made."""
        self._reset, self._step = ({site.place: site for site in sites} for sites in (reset, step))
        self._on_draw = on_draw
        self._lanes, self._watched = collections.defaultdict[int, LaneGenerators](LaneGenerators), 0
        self._sites: dict[CallSite, Site] = {}  # of what runs now
        self._records: dict[str, list[np.ndarray]] = {}
        self._chosen: TrackedNumber | float | None = None
        self._wrong: UsageError | None = None

    @property
    def choosable(self) -> bool:
        """Whether no reset and no step draws more than one number in [0, 1), which can be chosen then."""
        both = (self._reset, self._step)
        return all(len(sites) <= 1 and all(map(_is_unit, sites.values())) for sites in both)

    @contextlib.contextmanager
    def choosing(self, number: TrackedNumber | float) -> Iterator[None]:
        """Inside, the program draws this number."""
        self._chosen = number
        try:
            yield
        finally:
            self._chosen = None

    def making(self, lane: int = 0) -> contextlib.AbstractContextManager[None]:
        """Inside, an instance is made; every one from the same seed."""
        return self._lanes[lane].making()

    @contextlib.contextmanager
    def recording(self, lane: int = 0, seed: int | None = None) -> Iterator[Arrays]:
        """Inside, an instance is reset (with a seed) or steps; what it drew is in the dict afterwards."""
        drawn: Arrays = {}
        self._sites = self._step if seed is None else self._reset
        self._records, self._wrong = {site.name: [] for site in self._sites.values()}, None
        if seed is not None:
            self._lanes[lane].begin(seed)
        self._watched += 1
        before = global_state() if self._watched <= WATCHED else None
        with listening(self, self._lanes[lane]):
            yield drawn
        if self._wrong is not None:  # also where the program caught it
            raise self._wrong
        if before is not None and global_state() != before:
            raise UsageError(
                "The reference draws from numpy.random or random by a function that it stored away, which is not "
                "recorded; let it call the module's function by name."
            )
        drawn.update({site.name: site.packed(self._records[site.name]) for site in self._sites.values()})

    def reseed(self, lane: int, seed: int) -> None:
        """Seed what a lane's instance did not seed itself, between two of its steps."""
        self._lanes[lane].begin(seed)

    def draw(self, drawing: Drawing) -> Any:
        """Make a call of a generator and keep the record that its site asks for."""
        try:
            return self._recorded(drawing)
        except UsageError as error:
            self._wrong = self._wrong or error
            raise

    def _recorded(self, drawing: Drawing) -> Any:
        site = self._sites.get(drawing.place)
        if site is None:
            known = ", ".join(str(site.place) for site in self._sites.values()) or "none"
            raise UsageError(f"The reference draws ({drawing.method}) at {drawing.place}; known are: {known}.")
        records = self._records[site.name]
        if len(records) == site.count:
            raise UsageError(
                f"The reference draws ({drawing.method}) at {drawing.place} more than {site.count} times in one reset "
                "or step; raise the count of this draw."
            )
        value, record = FORMS[site.form](drawing) if self._chosen is None else chosen(drawing, self._chosen)
        records.append(fitting(site, np.asarray(record)))
        if self._on_draw is not None:
            self._on_draw(site, records[-1])
        return value


def _is_unit(site: Site) -> bool:
    return FAMILIES.get(site.method) is Family.UNIT and site.leaf_shape == () and site.dtype == "float64"


def fitting(site: Site, record: np.ndarray) -> np.ndarray:
    """A record in the shape and dtype of its site, if it has them; a copy, since a program may change what it drew."""
    with np.errstate(invalid="ignore", over="ignore"):
        cast = record.astype(site.dtype)
    if record.shape != site.shape or not np.array_equal(cast, record):
        raise UsageError(
            f"The draw at {site.place} gave {record.dtype}{list(record.shape)}, not {site.dtype}{list(site.shape)}."
        )
    return cast
