"""`Module`: one function of an environment, small enough to be checked alone against calls recorded from its reference.

A module says which functions of the reference it comes from, how a recorded call becomes named inputs and expected
outputs, and how to compute the same outputs with the performance side. A list of them is named by `Twin.modules` and
is loaded in three processes: the verifier's, the reference's and the performance side's. The file that holds it
therefore imports neither side at its top, only inside the functions that need one.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from overclock.errors import UsageError
from overclock.verify.contract import Precision
from overclock.verify.property.calls import Call
from overclock.verify.property.captured import digest
from overclock.verify.sides.subject import Arrays
from overclock.verify.tolerance import Absolute, Tolerance, Whole, require_tolerances

Performance = Callable[[Any, Any, dict[str, Any]], dict[str, Any]]  # (env, params, inputs) -> outputs, of one instance


@dataclasses.dataclass(frozen=True)
class Output:
    """One compared output: equal bit for bit unless a tolerance with a reason says otherwise.

    Each element may be off by what `Tolerance` makes of `absolute`, `relative` and `whole`. A flag may differ only
    where `distance(inputs, expected)` to the threshold that decides it is at most `margin`; such cases are counted.
    `rare` is how far it may be off in a rare event, counted as those of a contract (verify/compare.py). `wide` says why
    a tolerance may be more than a hundred times what is seen (verify/margins.py).
    With `distribution`, the values are samples: their distributions are compared (distribution.py), not the values.
    """

    name: str
    absolute: Absolute = 0.0
    relative: float = 0.0
    reason: str = ""
    distance: Callable[[Arrays, Arrays], np.ndarray] | None = None
    margin: float = 0.0
    distribution: bool = False
    whole: Whole = False
    rare: float = 0.0
    rare_share: float = 0.001
    wide: str = ""

    def __post_init__(self) -> None:
        require_tolerances(f"the output '{self.name}'", self.absolute, self.relative, self.margin, self.rare)
        loose = self.tolerance or self.margin or self.distribution or self.distance is not None
        if loose and not self.reason:
            raise UsageError(f"The tolerance of the output '{self.name}' needs a reason.")

    @property
    def tolerance(self) -> Tolerance:
        """How far an element may be from the reference's."""
        return Tolerance(self.absolute, self.relative, self.whole)

    def near_limit(self, inputs: Arrays, expected: Arrays) -> np.ndarray:
        """Per case, whether it is so close to a threshold that the two sides may decide differently."""
        if self.distance is None:
            return np.zeros(len(expected[self.name]), np.bool_)
        return self.distance(inputs, expected) <= self.margin


def exact(*names: str) -> tuple[Output, ...]:
    """Outputs that must be equal bit for bit."""
    return tuple(Output(name) for name in names)


class Case(NamedTuple):
    """One call as named values: arrays, or whatever NumPy makes one of."""

    inputs: Mapping[str, Any]
    expected: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Module:
    """How one function of the performance side is checked.

    - `reference`: the functions to record, as in `targets.py`;
    - `case(call)`: the call as inputs and expected outputs, None for a call that this module does not speak about;
    - `performance(env, params, inputs)`: the same outputs of one instance, in JAX; it is vmapped over all cases;
    - `exercises`: functions of the performance side that it must run (measured, not believed);
    - `boundary()`: further inputs (stacked), and `apply(instance, inputs)`, which puts one of them into an instance of
      the reference and calls it, so that the recorder sees what it does;
    - `counters`: inputs that count; each is also tried at the numbers where counters fail (variations.py), from inputs
      in whose steps it changes and from some others;
    - `compared`: inputs whose numbers the reference compares; each is also put on, and one ulp beside, the constants
      that its source compares with, and those `constants` that the module states (of a reference that is compiled);
      the first few boundary inputs are varied, so these should be at rest: what they are put at then stays there;
    - `depth`: 0 records the data that an instance itself holds, 1 also the data of the objects it holds, and so on;
    - `attributes`: of the instance, those that `case` looks at; None: all (which is slow where it holds large tables).
    """

    name: str
    reference: tuple[str, ...]
    case: Callable[[Call], Case | None]
    performance: Performance
    exercises: tuple[str, ...]
    outputs: Mapping[Precision, tuple[Output, ...]]
    boundary: Callable[[], Arrays] | None = None
    apply: Callable[[Any, Arrays], None] | None = None
    depth: int = 0
    attributes: tuple[str, ...] | None = None
    counters: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    constants: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UsageError(f"A module's name becomes part of a file's name; '{self.name}' cannot.")
        if (self.boundary is None) != (self.apply is None):
            raise UsageError(f"Module '{self.name}' needs both `boundary` and `apply`, or neither.")
        if (self.counters or self.compared) and self.boundary is None:
            raise UsageError(f"Module '{self.name}' varies boundary inputs, but has no `boundary`.")
        if not self.outputs or not all(self.outputs.values()):
            raise UsageError(f"Module '{self.name}' names no outputs to compare in some precision; name at least one.")


@dataclasses.dataclass
class Cases:
    """All cases of one module, stacked: first those recorded in play, then the boundary ones."""

    inputs: Arrays
    expected: Arrays
    recorded: int
    boundary: int
    calls: int  # how many calls they were chosen from

    def __len__(self) -> int:
        return self.recorded + self.boundary

    def origin(self, case: int) -> Literal["recorded", "boundary"]:
        """Where a case comes from: play, or the module's boundary inputs."""
        return "recorded" if case < self.recorded else "boundary"


def collect(module: Module, recorded: Iterable[Call], boundary: Iterable[Call], calls: int) -> Cases:
    """The distinct cases among calls; a call that raised has no outputs and is left out."""
    rows: list[tuple[Arrays, Arrays]] = []
    seen: dict[bytes, bytes] = {}
    counts = []
    for part in (recorded, boundary):
        for call in part:
            case = module.case(call) if call.error is None else None
            if case is None:
                continue
            inputs, expected = ({name: np.array(value) for name, value in values.items()} for values in case)
            known = seen.setdefault(digest(inputs), digest(expected))
            if known != digest(expected):
                raise UsageError(
                    f"Module '{module.name}' is incomplete: the reference answered equal inputs {_shown(inputs)} "
                    f"differently, so something else it depends on is missing among the inputs."
                )
            if len(seen) > len(rows):
                rows.append((inputs, expected))
        counts.append(len(rows))
    if not rows:
        raise UsageError(f"Module '{module.name}' has no cases: no recorded call of {', '.join(module.reference)}.")
    inputs, expected = (_stack(module.name, [row[i] for row in rows]) for i in range(2))
    return Cases(inputs, expected, counts[0], counts[1] - counts[0], calls)


def _stack(module: str, rows: list[Arrays]) -> Arrays:
    shapes = {name: {row[name].shape for row in rows} for name in rows[0]}
    for name, found in shapes.items():
        if len(found) > 1:
            raise UsageError(f"Module '{module}': '{name}' has the shapes {sorted(found)}; give it one shape.")
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _shown(values: Arrays) -> dict[str, Any]:
    return {name: value.tolist() for name, value in values.items()}
