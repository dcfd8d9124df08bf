"""What each level reports about a mutant that a search can start from: module or scenario, field, step, mode.

The levels run as in `overclock mutate`, in the strictest precision, but do not stop at the first difference: all that
a report would name is collected. Level 2's checks of the environment against itself are left out: they name no place.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import numpy as np

from overclock.verify.compare import judge
from overclock.verify.contract import Contract
from overclock.verify.interaction.level import MODES, compare_playbacks
from overclock.verify.mutation.levels import STEPWISE, Examiner
from overclock.verify.mutation.mutants import Mutant
from overclock.verify.mutation.recording import Event, joined
from overclock.verify.mutation.result import How
from overclock.verify.property.compare import compare
from overclock.verify.property.level import modules_of
from overclock.verify.rollout.lockstep import Mode
from overclock.verify.sides.subject import Observed

Where = Literal["module", "scenario", "episodes"]


@dataclasses.dataclass(frozen=True)
class Fact:
    """One difference: an output of a module, or the first field of a scenario or of episodes to leave the contract."""

    where: Where
    name: str  # of the module, the scenario, the source of actions
    field: str
    step: int | None = None  # 0: after the reset
    mode: Mode | None = None


@dataclasses.dataclass(frozen=True)
class Found:
    """What a level says about one mutant: nothing, facts, or only that it broke down."""

    facts: tuple[Fact, ...] = ()
    broke: How | None = None

    @property
    def noticed(self) -> bool:
        """Whether the level fails on this mutant."""
        return bool(self.facts) or self.broke is not None


class FactFinder(Examiner):
    """Examines mutants as `mutate` does, and tells everything that differs."""

    def find(self, mutant: Mutant) -> dict[int, Found]:
        """By level; a mutant that cannot even start breaks down at all of them."""
        checks: dict[int, Callable[[Mutant], Iterator[Fact]]] = {
            1: self._module_facts, 2: self._scenario_facts, 3: self._episode_facts
        }  # fmt: skip
        found: dict[int, Found] = {}
        for level in self.levels:
            facts: list[Fact] = []
            outcome = self._outcome(mutant, _gathered(checks[level](mutant), facts))
            broke = outcome.how if outcome.how != "difference" else None
            found[level] = Found(() if broke else tuple(dict.fromkeys(facts)), broke)
            if self._stillborn:
                return dict.fromkeys(self.levels, found[level])
        return found

    def _module_facts(self, mutant: Mutant) -> Iterator[Fact]:
        precision = self._twin.strictest
        for module in modules_of(self._twin):
            outputs = self._ask(precision, mutant, "module", name=module.name)
            compared = compare(module, self._recording.cases[module.name], outputs, precision)
            for field in compared.fields:
                if not field.passed:
                    yield Fact("module", module.name, field.name)

    def _scenario_facts(self, mutant: Mutant) -> Iterator[Fact]:
        recording, precision = self._recording, self._twin.strictest
        for mode in MODES:
            shown = self._ask(precision, mutant, "scenarios", forced=mode == "per_step")
            played = [Observed(**shown[str(moment)]) for moment in range(len(shown))]
            contract = self._twin.contracts[precision]
            found = compare_playbacks(contract, precision, mode, recording.scenarios, recording.playback, played)
            for scenario, result in zip(recording.scenarios, found, strict=True):
                if (first := result.first_mismatch) is not None:
                    yield Fact("scenario", scenario.name, first.field, first.step, mode)

    def _episode_facts(self, mutant: Mutant) -> Iterator[Fact]:
        precision = self._twin.strictest
        for name, events in self._recording.episodes.items():
            for mode in MODES if name == "uniform" else STEPWISE:
                shown = self._ask(precision, mutant, "episodes", name=name, forced=mode == "per_step")
                seen = {kind: Observed(**part) for kind, part in shown.items()}
                first = first_divergence(self._twin.contracts[precision], mode, events, seen)
                if first is not None:
                    yield Fact("episodes", name, *first, mode)


def first_divergence(
    contract: Contract, mode: Mode, events: list[Event], seen: dict[str, Observed]
) -> tuple[str, int] | None:
    """(field, step) of the earliest step of any episode that leaves the contract; of several fields, its first."""
    earliest: tuple[int, str] | None = None
    for kind, shown in seen.items():
        chosen = [event for event in events if (event.reset is not None) == (kind == "resets")]
        reference = joined([event.seen for event in chosen])
        counted = np.concatenate([event.counted for event in chosen])
        steps = reference.state["steps"]
        if kind == "steps" and mode == "free_running" and contract.free_running_steps is not None:
            counted &= steps <= contract.free_running_steps
        for field in contract.compared:
            judged = judge(contract, field, field.tolerance(mode), reference, shown)
            wrong = None if judged is None else judged.wrong & counted
            if wrong is not None and wrong.any() and (earliest is None or steps[wrong].min() < earliest[0]):
                earliest = (int(steps[wrong].min()), field.name)
    return None if earliest is None else (earliest[1], earliest[0])


def _gathered(facts: Iterable[Fact], into: list[Fact]) -> Iterator[str]:
    """All facts at once, as the one finding that an examination waits for."""
    into.extend(facts)
    if into:
        yield into[0].field
