"""`Contract`: what must be equal, how closely, and why not more closely. `Twin`: the two sides and their contracts."""

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import numpy as np

from overclock.backends import Backend
from overclock.entry_point import EntryPoint
from overclock.errors import UsageError
from overclock.results import absent
from overclock.verify.reach.excuse import Excuse
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec
from overclock.verify.tolerance import Absolute, Tolerance, Whole, require_tolerances

Precision = Literal["float64", "float32"]
Mode = Literal["free_running", "per_step"]

FLAGS = ("terminated", "truncated")
OUTPUTS = ("obs", "reward", *FLAGS)  # what every subject shows after a step, and every contract compares
ON_THE_CPU = {"JAX_PLATFORMS": "cpu"}
# Several workers share the GPU: none may take all of its memory.
ON_A_GPU = {"JAX_PLATFORMS": "cuda,cpu", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
METAMORPHIC_RULES = "overclock.verify.interaction.metamorphic_rules:RULES"
ENVIRONMENT_RULES = "overclock.verify.interaction.metamorphic_rules:ENVIRONMENT_RULES"  # without those of batches
STEP_LIMIT = 10_000  # twenty times CartPole's; an episode without an end would keep a comparison for ever


@dataclasses.dataclass(frozen=True)
class Field:
    """One compared value: an output (`obs`, `reward`, `terminated`, `truncated`) or a state field (`state.x`).

    `per_step` is for one step taken from the reference's own state, `free_running` for an episode that was synchronised
    only at its reset. Each element may be off by that, plus its `_relative` part times the size of that element of the
    reference. An absolute part is one number, or one per element in C order; `whole` is that of `Tolerance`. All zero
    means equal; anything else needs a reason. `draws` names the random draws of the reference that set the field.
    `rare` is how far it may be off in a rare event, for the reason `rare_reason`: they are counted (compare.py).
    `wide` says why a tolerance may be more than a hundred times what is seen (margins.py).
    """

    name: str
    per_step: Absolute = 0.0
    free_running: Absolute = 0.0
    reason: str = ""
    draws: tuple[str, ...] = ()
    per_step_relative: float = 0.0
    free_running_relative: float = 0.0
    whole: Whole = False
    rare: float | None = absent()
    rare_reason: str | None = absent()
    wide: str | None = absent()

    def __post_init__(self) -> None:
        for name in ("per_step", "free_running", "whole"):
            if isinstance(value := getattr(self, name), list):  # as JSON and TOML have it
                object.__setattr__(self, name, tuple(value))
        step, free = self.tolerance("per_step"), self.tolerance("free_running")
        require_tolerances(
            f"'{self.name}'", step.absolute, step.relative, free.absolute, free.relative, self.rare or 0.0
        )
        if self.rare and not (self.rare_reason and (step or free)):
            raise UsageError(f"Rare events of '{self.name}' need a reason, and a tolerance for all other steps.")
        if (step or free) and not self.reason:
            raise UsageError(f"The tolerance of '{self.name}' needs a reason.")
        if (step or free) and self.name in FLAGS:
            raise UsageError(f"'{self.name}' is a flag and has no tolerance; see Contract.distance_to_limit.")

    def tolerance(self, mode: Mode) -> Tolerance:
        """How far apart the two sides may be."""
        if mode == "per_step":
            return Tolerance(self.per_step, self.per_step_relative, self.whole)
        return Tolerance(self.free_running, self.free_running_relative, self.whole)

    def of(self, observed: Observed) -> np.ndarray | None:
        """This field's values, or None where there are none (no reward after a reset)."""
        if not self.name.startswith("state."):
            return observed.outputs.get(self.name)
        values = observed.state.get(self.name.removeprefix("state."))
        if values is None:
            shown = ", ".join(observed.state)
            raise CouldNotVerifyError(f"could not verify: a side does not show '{self.name}'; its state has {shown}.")
        return values


MASK = Field("action_mask")
"""Which actions are legal: no contract needs to name it, it is compared exactly wherever a side shows it."""
OVERFLOWED = Field("overflow")
"""Whether room ran out: compared wherever the performance side tells it; a reference's room never does."""
NAMED_FIRST = (*FLAGS, "reward")
NAMED_LAST = (OVERFLOWED.name, MASK.name, "obs")


def causes_first(name: str) -> int:
    """A sort key for fields that are wrong at the same step: what a player loses first, consequences last.

    Flags, then the reward, then the state in the contract's order, then what is computed from the state.
    """
    if name in NAMED_FIRST:
        return NAMED_FIRST.index(name)
    return len(NAMED_FIRST) + (1 + NAMED_LAST.index(name) if name in NAMED_LAST else 0)


@dataclasses.dataclass(frozen=True)
class Envelope:
    """For chaotic systems: how far free running may get apart is what the reference shows of itself, see envelope.py.

    `copies` of the reference begin with every number of the state fields `nudged` an ulp off. The errors of the
    contract's `field` ("state.x") may be `slack` times as large as theirs, for the given reason.
    """

    field: str
    nudged: tuple[str, ...]
    slack: float
    reason: str
    copies: int = 8

    def __post_init__(self) -> None:
        if not (math.isfinite(self.slack) and self.slack >= 1.0) or self.copies < 1 or not self.nudged:
            raise UsageError("An envelope needs a finite slack of at least 1, at least one copy and a field to nudge.")
        if not self.reason:
            raise UsageError("The slack of an envelope needs a reason.")


@dataclasses.dataclass(frozen=True)
class Contract:
    """Every compared field, and how far apart a comparison in lower precision may let flags fall.

    - `distance_to_limit(state)` says, per lane, how far a reference state is from the nearest threshold that decides
      one of the flags `limit_fields` (or a reward that follows from one). Such a flag may differ within `limit_margin`
      of the threshold, for the reason `limit_reason`; each case is counted, and many are a failure (compare.py).
    - `free_running_steps` bounds how long an unstable system is compared without synchronising (None: to the end).
    - `envelope` compares a chaotic system in free running to the end, with what the reference shows of itself.
    - `step_limit`: longer episodes are cut there, on both sides alike, and counted (None: never).
    - `rare_share`: of the steps so many may be rare events (`Field.rare`); a side that needs more has another rule.
    - `in_info` names numbers of `info` that are those of a field: checks of a side against itself let them stray alike.
    - `performance_masks` says why only the performance side reports action masks. Without it a mask that the
      reference does not have is a difference; with it that mask chooses which actions are played.
    """

    fields: tuple[Field, ...]
    distance_to_limit: Callable[[Arrays], np.ndarray] | None = None
    limit_margin: float = 0.0
    free_running_steps: int | None = None
    free_running_reason: str = ""
    limit_reason: str = ""
    limit_fields: tuple[str, ...] = ("terminated",)
    step_limit: int | None = STEP_LIMIT
    performance_masks: str = ""
    envelope: Envelope | None = None
    rare_share: float = 0.001
    in_info: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        for name in names:
            if name not in OUTPUTS and not name.startswith("state."):
                known = f"{', '.join(OUTPUTS)} or a state field ('state.x')"
                raise UsageError(f"The contract names '{name}', which nothing shows; a field is {known}.")
            if names.count(name) > 1:
                raise UsageError(f"The contract names '{name}' twice.")
        if missing := [name for name in OUTPUTS if name not in names]:
            raise UsageError(f"The contract does not compare {', '.join(missing)}; every contract must.")
        if not 0.0 < self.rare_share <= 0.01:
            raise UsageError(f"rare_share is a share of the steps up to 0.01, got {self.rare_share:g}.")
        require_tolerances("flags next to a threshold (limit_margin)", self.limit_margin)
        if self.limit_margin and self.distance_to_limit is None:
            raise UsageError("The contract has a limit_margin and no distance_to_limit to measure it with.")
        if self.distance_to_limit is not None and not self.limit_reason:
            raise UsageError("A contract that excuses flags next to a threshold needs a reason (limit_reason).")
        if unknown := [name for name in self.limit_fields if name not in names]:
            raise UsageError(f"The contract excuses '{unknown[0]}' next to a threshold and does not compare it.")
        if self.free_running_steps is not None and not self.free_running_reason:
            raise UsageError("A contract that stops comparing after free_running_steps needs a free_running_reason.")
        if unknown := [name for name in self.in_info.values() if name not in names]:
            raise UsageError(f"The contract says that `info` shows '{unknown[0]}', which it does not compare.")
        if self.envelope is not None and self.envelope.field not in [n for n in names if n not in OUTPUTS]:
            raise UsageError(f"The contract's envelope is of '{self.envelope.field}', no state field that it compares.")
        for name, value in (("free_running_steps", self.free_running_steps), ("step_limit", self.step_limit)):
            if value is not None and value < 1:
                raise UsageError(f"The contract's {name} must be at least 1, got {value}.")

    @property
    def compared(self) -> tuple[Field, ...]:
        """Every field, the action mask and overflow, in the order of `causes_first`: what each comparison looks at."""
        return tuple(sorted((*self.fields, MASK, OVERFLOWED), key=lambda field: causes_first(field.name)))

    @property
    def strays(self) -> dict[str, dict[str, Any]]:
        """How far one step may lead every field astray, where it may: `Tolerance.as_json` by name."""
        steps = {field.name: field.tolerance("per_step") for field in self.fields}
        told = {name: allowed.as_json() for name, allowed in steps.items() if allowed}
        shown = {f"info.{name}": steps[source] for name, source in self.in_info.items()}
        parts = {name: Tolerance(one.largest_absolute, one.relative) for name, one in shown.items()}
        return {**told, **{name: allowed.as_json() for name, allowed in parts.items() if allowed}}

    @property
    def exact(self) -> bool:
        """Whether whole episodes must be equal bit for bit."""
        return not any(field.tolerance("free_running") for field in self.fields)


@dataclasses.dataclass(frozen=True)
class Twin:
    """A reference and a performance implementation of one environment, tied together by a contract per precision."""

    name: str
    reference: SubjectSpec
    performance: SubjectSpec
    contracts: Mapping[Precision, Contract]
    plants: Mapping[str, Patch] = dataclasses.field(default_factory=dict)  # known bugs, by name
    scenarios: str | None = None  # folder or package of level 2's scenario files
    scripted_as: "Twin | None" = None  # what plays the scenarios instead, where the parts are not seen in episodes
    # Entry points may be texts, 'package.module:name'.
    modules: EntryPoint | str | None = None  # the functions of level 1, see property/module.py
    transfer: EntryPoint | str | None = None  # the plan of what level 4 trains and compares, see transfer/plan.py
    learnt_as: "Twin | None" = None  # what level 4 plays instead, where another observation is learnt in less time
    traced: bool = False  # the reference tells which branches of its code ran (`trace`, see sides/subject.py)
    self_checks: EntryPoint | str = METAMORPHIC_RULES  # what level 2 expects of `metamorphic`
    exhaustive: Mapping[str, Any] | None = None  # limits of a walk over all its states, see exhaustive/walk.py
    lanes: int = 64  # episodes that level 3 plays side by side; more where long ones cost a reference little
    players: tuple[EntryPoint | str, ...] = ()  # scripted players of level 3, see rollout/actions.py; else a controller
    uncut: int | None = None  # steps that one episode of the first player may last, whatever the contract's step limit
    unreached: tuple[Excuse, ...] = ()  # branches of the reference that no comparison can take, and why
    beyond_end: bool = False  # also compare steps after an end, from the states that the reference shows there
    prepare: EntryPoint | str | None = None  # a function that fetches or builds the reference, or says what it lacks
    reference_in_c: bool = False  # the reference is compiled by the C compiler of this machine

    def __post_init__(self) -> None:
        if not self.contracts:
            raise UsageError(f"The twin '{self.name}' has no contract, so nothing could be compared.")
        if self.uncut is not None and (self.uncut < 1 or not self.players):
            raise UsageError(f"The twin '{self.name}' has no players, or no steps, for its uncut episode.")

    @property
    def strictest(self) -> Precision:
        """The highest precision there is a contract for."""
        return "float64" if "float64" in self.contracts else "float32"

    @property
    def usual(self) -> Precision:
        """The precision that users run: float32, unless there is no contract for it."""
        return "float32" if "float32" in self.contracts else self.strictest

    @property
    def backend(self) -> Backend | None:
        """What computes the performance side, where it was told: None is XLA, or what a plan for training chooses."""
        return dict(self.performance.options).get("backend") if self.performance.kernels else None

    def compiled_from_c(self, levels: Collection[int]) -> bool:
        """Whether these levels run code that this machine's C compiler made; level 4 may train by a kernel in C."""
        return self.reference_in_c or self.backend == "c" or (4 in levels and self.performance.kernels)

    def performance_in(self, precision: Precision) -> SubjectSpec:
        """The performance side, computing in this precision, on the CPU unless its backend is CUDA."""
        return self.performance.with_environment(
            JAX_ENABLE_X64="1" if precision == "float64" else "0", **ON_A_GPU if self.backend == "cuda" else ON_THE_CPU
        )

    def on(self, backend: Backend) -> "Twin":
        """The same twin with the performance side's rules under XLA, or as a kernel of C or CUDA."""
        if not self.performance.kernels:
            raise UsageError(
                f"The performance side of {self.name} is no environment of JAX rules that are kernels, too; leave "
                "--backend away."
            )
        options = {**dict(self.performance.options), "backend": backend}
        performance = dataclasses.replace(self.performance, options=tuple(options.items()))
        learnt_as = None if self.learnt_as is None else self.learnt_as.on(backend)
        return dataclasses.replace(self, performance=performance, learnt_as=learnt_as)

    def planted(self, name: str) -> "Twin":
        """The same twin with a known bug in its performance side; it is there once, however often it is planted."""
        if name not in self.plants:
            known = ", ".join(sorted(self.plants)) or "none"
            raise UsageError(f"{self.name} has no bug called '{name}' to plant; there are: {known}.")
        given = dict(self.performance.options)
        planted, bug = given.pop("patches", []), dataclasses.asdict(self.plants[name])
        options = (*given.items(), ("patches", planted if bug in planted else [*planted, bug]))
        performance = dataclasses.replace(self.performance, options=options)
        learnt_as = None if self.learnt_as is None else self.learnt_as.planted(name)
        return dataclasses.replace(self, performance=performance, learnt_as=learnt_as)
