"""One mutant under each level alone: does the level notice, how, and where first?

The comparisons are those of the levels themselves (`module_compare`, `interaction`, `compare`); only the running is
different: the reference is a recording and the performance side a process that serves many mutants. A level stops at
the first difference. What it costs most, the checks of the environment against itself, comes last.
"""

import contextlib
import os
import pickle
import tempfile
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from overclock.verify.compare import RareEvents, judge, too_many_excused, too_many_rare
from overclock.verify.contract import Contract, Precision, Twin
from overclock.verify.interaction.level import MODES, compare_playbacks
from overclock.verify.interaction.metamorphic_rules import ENVIRONMENT_RULES, judge_checks
from overclock.verify.interaction.precisions import check_precisions
from overclock.verify.mutation.mutants import Mutant
from overclock.verify.mutation.recording import Event, Recording, joined
from overclock.verify.mutation.result import Outcome
from overclock.verify.mutation.worker import worker_spec
from overclock.verify.property.compare import compare
from overclock.verify.property.level import modules_of
from overclock.verify.rollout.lockstep import Mode
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import Observed

STEPWISE: tuple[Mode, ...] = ("per_step",)  # for the long episodes of a scripted player, as in `verify`
SURVIVED = Outcome(False)


class _RaisedError(Exception):
    """The mutant raised an exception."""


class _NotStartedError(CouldNotVerifyError):
    """A worker did not come up. It starts as the unchanged environment, so that is no mutant's fault."""


class Examiner:
    """Runs mutants under the levels of a twin, in worker processes of its own (one per precision, when needed)."""

    def __init__(self, twin: Twin, recording: Recording, file: Path, sources: list[str], timeout: float) -> None:
        """`file` holds the pickled recording, for the workers."""
        self._twin, self._recording, self._file = twin, recording, file
        self._sources, self._timeout = sources, timeout
        self._workers: dict[Precision, ProcessSubject] = {}
        self._loaded: dict[Precision, str] = {}
        self._starting, self._closed = threading.Lock(), False

    @property
    def levels(self) -> list[int]:
        """Those that the twin has anything for."""
        present = {1: self._recording.cases, 2: self._recording.scenarios, 3: self._recording.episodes}
        return [level for level, data in present.items() if data]

    def examine(
        self, mutant: Mutant, levels: Collection[int] = (1, 2, 3), until_found: bool = False
    ) -> dict[int, Outcome]:
        """Every level on its own, or up to the first that finds it; a mutant that cannot start is killed by all."""
        checks = {1: self._properties, 2: self._interactions, 3: self._rollouts}
        found: dict[int, Outcome] = {}
        chosen = [level for level in self.levels if level in levels]
        for level in chosen:
            found[level] = self._outcome(mutant, checks[level](mutant))
            if self._stillborn:
                return dict.fromkeys(chosen, found[level])
            if until_found and found[level].killed:
                break
        return found

    def close(self) -> None:
        """End the workers, also from another thread; whatever is being examined ends with an error."""
        with self._starting:
            self._closed = True
            self._stop_workers()

    def _outcome(self, mutant: Mutant, findings: Iterator[str]) -> Outcome:
        self._asked, self._stillborn = time.monotonic(), False
        try:
            first = next(findings, None)
            return SURVIVED if first is None else Outcome(True, "difference", first)
        except _RaisedError as error:
            return Outcome(True, "crash", str(error))
        except CouldNotVerifyError as error:
            if self._closed or isinstance(error, _NotStartedError):
                raise
            waited = time.monotonic() - self._asked
            self._stop_workers()
            if waited >= self._timeout:
                return Outcome(True, "timeout", f"no answer within {self._timeout:g} s")
            return Outcome(True, "crash", str(error))

    # ---- the levels: each yields what it finds, in words ----

    def _properties(self, mutant: Mutant) -> Iterator[str]:
        for precision in self._twin.contracts:
            for module in modules_of(self._twin):
                outputs = self._ask(precision, mutant, "module", name=module.name)
                first = compare(module, self._recording.cases[module.name], outputs, precision).first_failure
                if first is not None:
                    yield f"{module.name}.{first.field}, {precision}"

    def _interactions(self, mutant: Mutant) -> Iterator[str]:
        recording = self._recording
        for precision, contract in self._twin.contracts.items():
            for mode in MODES:
                shown = self._ask(precision, mutant, "scenarios", forced=mode == "per_step")
                played = [Observed(**shown[str(moment)]) for moment in range(len(shown))]
                found = compare_playbacks(contract, precision, mode, recording.scenarios, recording.playback, played)
                for scenario, result in zip(recording.scenarios, found, strict=True):
                    if (first := result.first_mismatch) is not None:
                        yield f"{scenario.name}, step {first.step}, {first.field}, {precision}, {mode}"
        for precision, contract in self._twin.contracts.items():
            reported = self._ask(precision, mutant, "checks", strays=contract.strays)
            for check in judge_checks(reported, ENVIRONMENT_RULES):
                if not check.passed:
                    yield f"{check.name}, {check.worst_field}, {precision}"
        if {"float64", "float32"} <= self._twin.contracts.keys():
            double, single = (self._worker(precision, mutant) for precision in ("float64", "float32"))
            check = check_precisions(self._twin, double, single)
            if not check.passed:
                yield f"{check.name}, {check.worst_field}"

    def _rollouts(self, mutant: Mutant) -> Iterator[str]:
        for precision, contract in self._twin.contracts.items():
            for name, events in self._recording.episodes.items():
                for mode in MODES if name == "uniform" else STEPWISE:
                    shown = self._ask(precision, mutant, "episodes", name=name, forced=mode == "per_step")
                    seen = {kind: Observed(**part) for kind, part in shown.items()}
                    for field in _differing(contract, mode, events, seen):
                        yield f"{field}, {name} actions, {precision}, {mode}"

    # ---- workers ----

    def _ask(self, precision: Precision, mutant: Mutant, call: str, **arguments: Any) -> Any:
        return self._value(self._worker(precision, mutant), call, **arguments)

    def _worker(self, precision: Precision, mutant: Mutant) -> ProcessSubject:
        """The worker of a precision, turned into this mutant."""
        if precision not in self._workers:
            self._start(precision)
        if self._loaded.get(precision) != mutant.id:
            self._loaded.pop(precision, None)
            self._stillborn = True
            self._value(self._workers[precision], "load", module=mutant.module, source=mutant.source)
            self._stillborn = False
            self._loaded[precision] = mutant.id
        return self._workers[precision]

    def _start(self, precision: Precision, tries: int = 2) -> None:
        """A new worker, as the unchanged environment; on a busy machine it may need more than one try."""
        spec = worker_spec(self._twin, self._sources, str(self._file), precision, os.environ.get("XLA_FLAGS", ""))
        with self._starting:
            if self._closed:
                raise CouldNotVerifyError("could not verify: stopped.")
            try:
                worker = ProcessSubject(spec, self._recording.lanes, "the worker of mutants")
            except CouldNotVerifyError as error:
                failed = _NotStartedError(str(error))
            else:
                worker.timeout = self._timeout
                self._workers[precision] = worker
                return
        if tries == 1:
            raise failed
        self._start(precision, tries - 1)

    def _stop_workers(self) -> None:
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()
        self._loaded.clear()

    def _value(self, worker: ProcessSubject, call: str, **arguments: Any) -> Any:
        self._asked = time.monotonic()
        answer = worker.ask(call, **arguments)
        if answer["raised"] is not None:
            raise _RaisedError(answer["raised"])
        return answer["value"]


def _differing(contract: Contract, mode: Mode, events: list[Event], seen: dict[str, Observed]) -> Iterator[str]:
    """The fields that leave their tolerance, over all resets and then over all steps at once."""
    for kind, shown in seen.items():
        chosen = [event for event in events if (event.reset is not None) == (kind == "resets")]
        reference = joined([event.seen for event in chosen])
        counted = np.concatenate([event.counted for event in chosen])
        if kind == "steps" and mode == "free_running" and contract.free_running_steps is not None:
            counted &= reference.state["steps"] <= contract.free_running_steps
        for field in contract.compared:
            judged = judge(contract, field, field.tolerance(mode), reference, shown)
            if judged is None:
                continue
            excused, rare = int((judged.excused & counted).sum()), judged.rare & counted
            wrong, looked_at = (judged.wrong & ~judged.rare & counted).any(), int(counted.sum())
            if rare.any():
                wrong |= too_many_rare(_rare_events(rare, reference, mode, len(chosen)), looked_at, contract.rare_share)
            if wrong or too_many_excused(excused, looked_at):
                yield field.name


def _rare_events(rare: np.ndarray, reference: Observed, mode: Mode, moments: int) -> int:
    """How many rare events there are in moments that follow each other."""
    by_moment, steps = (values.reshape(moments, -1) for values in (rare, reference.state["steps"]))
    events = RareEvents(mode, by_moment.shape[1])
    for lanes, at in zip(by_moment, steps, strict=True):
        events.begin(at <= 1)
        events.add(lanes)
    return events.count


@contextlib.contextmanager
def examining(
    twin: Twin, recording: Recording, sources: list[str], timeout: float, count: int
) -> Iterator[list[Examiner]]:
    """Some examiners that work side by side; none of their processes outlives the block."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.pickle"
        file.write_bytes(pickle.dumps(recording))
        examiners = [Examiner(twin, recording, file, sources, timeout) for _ in range(count)]
        try:
            yield examiners
        finally:
            for examiner in examiners:
                examiner.close()
