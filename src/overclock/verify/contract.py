"""`Contract`: what must be equal, how closely, and why not more closely. `Twin`: the two sides and their contracts."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from overclock.errors import UsageError
from overclock.verify.patched import Patch
from overclock.verify.process import CouldNotVerifyError
from overclock.verify.subject import Arrays, Observed, SubjectSpec

Precision = Literal["float64", "float32"]


@dataclasses.dataclass(frozen=True)
class Field:
    """One compared value: an output (`obs`, `reward`, `terminated`, `truncated`) or a state field (`state.x`).

    The tolerances are absolute: `per_step` for one step taken from the reference's own state, `free_running` for
    an episode that was synchronised only at its reset. Zero means bit for bit; anything else needs a reason.
    """

    name: str
    per_step: float = 0.0
    free_running: float = 0.0
    reason: str = ""

    def __post_init__(self) -> None:
        if (self.per_step or self.free_running) and not self.reason:
            raise UsageError(f"The tolerance of '{self.name}' needs a reason.")

    def of(self, observed: Observed) -> np.ndarray | None:
        """This field's values, or None where there are none (no reward after a reset)."""
        if not self.name.startswith("state."):
            return observed.outputs.get(self.name)
        values = observed.state.get(self.name.removeprefix("state."))
        if values is None:
            shown = ", ".join(observed.state)
            raise CouldNotVerifyError(f"could not verify: a side does not show '{self.name}'; its state has {shown}.")
        return values


@dataclasses.dataclass(frozen=True)
class Contract:
    """Every compared field, and how far apart a comparison in lower precision may let flags fall.

    `distance_to_limit(state)` says, per lane, how far a reference state is from the nearest threshold that decides
    a flag. Where it is given, a flag may differ only within `limit_margin` of the threshold; each case is counted.
    `free_running_steps` bounds how long an unstable system is compared without synchronising (None: to the end).
    """

    fields: tuple[Field, ...]
    distance_to_limit: Callable[[Arrays], np.ndarray] | None = None
    limit_margin: float = 0.0
    free_running_steps: int | None = None
    free_running_reason: str = ""


@dataclasses.dataclass(frozen=True)
class Twin:
    """A reference and a performance implementation of one environment, tied together by a contract per precision."""

    name: str
    reference: SubjectSpec
    performance: SubjectSpec
    contracts: Mapping[Precision, Contract]
    plants: Mapping[str, Patch] = dataclasses.field(default_factory=dict)  # known bugs, by name
    scenarios: str | None = None  # folder or package of level 2's scenario files
    modules: str | None = None  # "package.module:MODULES": the functions of level 1, see module.py
    transfer: str | None = None  # "package.module:PLAN": what level 4 trains and compares, see transfer_plan.py
    traced: bool = False  # the reference tells which branches of its code ran (`trace`, see subject.py)
    exhaustive: Mapping[str, Any] | None = None  # limits of a walk over all its states, see exhaustive.py

    def planted(self, name: str) -> "Twin":
        """The same twin with a known bug in its performance side."""
        if name not in self.plants:
            known = ", ".join(sorted(self.plants)) or "none"
            raise UsageError(f"{self.name} has no bug called '{name}' to plant; there are: {known}.")
        given = dict(self.performance.options)
        patches = [*given.pop("patches", []), dataclasses.asdict(self.plants[name])]
        options = (*given.items(), ("patches", patches))
        return dataclasses.replace(self, performance=dataclasses.replace(self.performance, options=options))


def difference(reference: np.ndarray, performance: np.ndarray) -> np.ndarray:
    """Largest absolute difference per lane; different NaNs, infinities or shapes count as infinite."""
    if reference.shape != performance.shape:
        return np.full(reference.shape[0], np.inf)
    a, b = (np.asarray(side, np.float64).reshape(len(side), -1) for side in (reference, performance))
    with np.errstate(invalid="ignore"):
        gap = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if reference.dtype.kind in "biu" and performance.dtype.kind in "biu":  # float64 has no room for all of int64
        same = (reference == performance).reshape(a.shape)
        gap = np.maximum(gap, 1.0)
    return np.max(np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap)), axis=1, initial=0.0)
