"""`mutate(env_id)`: plant mutants in an environment and count which of them each level of verification kills.

This measures the tests, not the environment: a level that lets a planted mistake pass would let a translator's mistake
pass. The unchanged environment is examined first and must pass everything.
"""

import functools
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from overclock.cores import cores
from overclock.env import registry
from overclock.errors import OverclockError, UsageError
from overclock.progress import Progress, silent
from overclock.verify.contract import Twin
from overclock.verify.mutation import equivalent_mutants
from overclock.verify.mutation.journal import Journal
from overclock.verify.mutation.levels import Examiner, examining
from overclock.verify.mutation.mutants import RENDERING, Mutant, mutants_of, sample
from overclock.verify.mutation.recording import record
from overclock.verify.mutation.report import FOLDER, report, save
from overclock.verify.mutation.result import MutationReport, Outcome
from overclock.verify.mutation.shared import lines_run, shared_modules
from overclock.verify.mutation.state import fingerprint, source_digest, state_of
from overclock.verify.property.code_coverage import modules_behind
from overclock.verify.sides.patched import source_of
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.twins import find_twin

T = TypeVar("T")
R = TypeVar("R")

MOST_JOBS = 8
EXAMINING = "examining mutants"
QUICK = (1, 3)  # levels without the slow checks of an environment against itself


class TimeIsUpError(OverclockError):
    """The time of a run was up before all mutants were examined; what was found is kept for the next run."""

    exit_code = 3

    def __init__(self, examined: int, total: int) -> None:
        super().__init__(
            f"The time is up: {examined} of {total} mutants are examined and kept, and the same command goes on from "
            "there."
        )


def mutate(
    env_id: str,
    episodes: int = 100,
    seed: int = 0,
    sample_size: int | None = None,
    timeout: float = 60.0,
    jobs: int | None = None,
    progress: Progress = silent,
    folder: Path = FOLDER,
    until_found: bool = False,
    minutes: float | None = None,
) -> MutationReport:
    """Examine an environment's mutants.

    A complete run is kept in `folder` for `last_result`, that of a sample is not. An interrupted run goes on where it
    stopped; `minutes` interrupt it with a `TimeIsUpError`. With `until_found` a mutant that one level has found is not
    shown to the next one: that is quicker, the score is the same, and the shares of single levels are of what they were
    shown.
    """
    require_some(episodes=episodes, sample=sample_size, jobs=jobs)
    if minutes is not None and not minutes > 0:
        raise UsageError(f"minutes must be a positive number, got {minutes:g}.")
    began = time.monotonic()
    spec = registry.spec(env_id)
    twin, sources = find_twin(spec.id).twin, sources_of(spec)
    mutants, not_run = mutants_for(spec, twin, sources, max(timeout, 120.0))
    equivalent = equivalent_mutants.reasons(mutants, equivalent_mutants.file_of(spec))
    settings: dict[str, Any] = {"episodes": episodes, "seed": seed, "sample": sample_size, "timeout": timeout}
    settings["until_found"] = until_found or None
    name = f"mutate-{spec.id}"
    if sample_size is not None:
        mutants, name = sample(mutants, sample_size, seed), f"{name}-sample-{sample_size}-seed-{seed}"
    state, digests = state_of(spec, sources), {module: source_digest(module) for module in sources}
    journal = Journal(folder / f"{name}.journal.jsonl", fingerprint(state, digests, settings))
    recording = record(twin, episodes, seed, progress, timeout=max(timeout, 120.0))
    with examining(twin, recording, sources, timeout, jobs or available_cores()) as examiners:
        deadline = math.inf if minutes is None else began + 60.0 * minutes
        outcomes = examine_all(examiners, sources, mutants, journal, progress, until_found, deadline)
    if len(outcomes) < len(mutants):
        raise TimeIsUpError(len(outcomes), len(mutants))
    _require_alive(mutants, outcomes, equivalent)
    command = f"overclock mutate {spec.id} --episodes {episodes} --seed {seed}"
    command = command if sample_size is None else f"{command} --sample {sample_size}"
    settings |= {"command": f"{command} --until-found" if until_found else command, "not_run": not_run or None}
    chosen = {mutant.id for mutant in mutants}
    known = {mutant: reason for mutant, reason in equivalent.items() if mutant in chosen}
    result = report(spec.id, digests, state, mutants, outcomes, known, settings, time.monotonic() - began)
    if sample_size is None:
        save(result, folder)
    journal.remove()
    return result


def require_some(**counts: int | None) -> None:
    """Refuse a number, where one is given, of what there must be at least one of."""
    for name, count in counts.items():
        if count is not None and count < 1:
            raise UsageError(f"{name} must be at least 1, got {count}.")


def sources_of(spec: registry.Spec) -> list[str]:
    """The modules in which an environment's rules are written, those that it shares with others included."""
    cls = registry.load(spec.entry_point)
    modules = {module.__name__ for module in modules_behind(cls)} | set(shared_modules(cls))
    return sorted(name for name in modules if RENDERING not in name.rpartition(".")[2])


def mutants_for(spec: registry.Spec, twin: Twin, sources: Sequence[str], timeout: float) -> tuple[list[Mutant], int]:
    """The mutants of an environment, and how many more there are in shared code that it does not run."""
    shared = set(shared_modules(registry.load(spec.entry_point)))
    ran = lines_run(twin, shared, timeout)
    everyone = mutants_of([module for module in sources if module not in shared or module in ran])
    mutants = [mutant for mutant in everyone if mutant.module not in shared or mutant.line in ran[mutant.module]]
    return mutants, len(everyone) - len(mutants)


def available_cores() -> int:
    """How many mutants to examine side by side."""
    return min(cores(), MOST_JOBS)


def examine_all(
    examiners: Sequence[Examiner],
    sources: Sequence[str],
    mutants: Sequence[Mutant],
    journal: Journal,
    progress: Progress = silent,
    until_found: bool = False,
    deadline: float = math.inf,
) -> dict[str, dict[int, Outcome]]:
    """First the unchanged sources, then every mutant that the journal does not know; mutant id -> level -> outcome.

    After the `deadline` (of `time.monotonic`) no mutant begins any more.
    """
    outcomes = {mutant.id: journal.known[mutant.id] for mutant in mutants if mutant.id in journal.known}
    waiting = [mutant for mutant in mutants if mutant.id not in outcomes]
    unchanged = Mutant("unchanged", "", sources[0], 1, "", "", "", source_of(sources[0])[0])
    if waiting:
        progress("examining the unchanged environment", 0, 1)
        _require_passed(examiners[0].examine(unchanged), "does not pass level {}, so nothing can be said about mutants")
        progress("examining the unchanged environment", 1, 1)
    progress(EXAMINING, len(outcomes), len(mutants))

    def examine(examiner: Examiner, mutant: Mutant) -> dict[int, Outcome]:
        return examiner.examine(mutant, until_found=until_found)

    workers = [functools.partial(examine, one) for one in examiners]
    for mutant, found in side_by_side(workers, waiting, lambda: time.monotonic() < deadline):
        outcomes[mutant.id] = found
        journal.add(mutant.id, found)
        progress(EXAMINING, len(outcomes), len(mutants))
    for examiner in examiners if waiting else ():
        # Mutants share a process; had one of them damaged it, those after it would have been killed for nothing.
        _require_passed(examiner.examine(unchanged, QUICK), "no longer passes level {} after its mutants ran")
    return outcomes


def side_by_side(
    workers: Sequence[Callable[[T], R]], items: Sequence[T], go_on: Callable[[], bool] = lambda: True
) -> Iterator[tuple[T, R]]:
    """Every item through one of the workers, a thread each; results as they come, the first error ends it all.

    No item begins after `go_on` has said no; those that are under way come to their end.
    """
    tasks: queue.SimpleQueue[T] = queue.SimpleQueue()
    results: queue.SimpleQueue[tuple[T, R | BaseException] | None] = queue.SimpleQueue()
    for item in items:
        tasks.put(item)

    def work(worker: Callable[[T], R]) -> None:
        while go_on():
            try:
                item = tasks.get_nowait()
            except queue.Empty:
                break
            try:
                results.put((item, worker(item)))
            except BaseException as error:
                results.put((item, error))
                return
        results.put(None)

    # Daemons: an interrupted program does not wait for them, and closing the examiners ends what they wait for.
    for worker in workers:
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    working = len(workers)
    while working:
        if (ended := results.get()) is None:
            working -= 1
            continue
        item, result = ended
        if isinstance(result, BaseException):
            raise result
        yield item, result


def _require_passed(found: dict[int, Outcome], sentence: str) -> None:
    for level, outcome in found.items():
        if outcome.killed:
            raise CouldNotVerifyError(
                f"could not verify: the unchanged environment {sentence.format(level)} ({outcome.where})."
            )


def _require_alive(
    mutants: Sequence[Mutant], outcomes: dict[str, dict[int, Outcome]], equivalent: dict[str, str]
) -> None:
    for mutant in mutants:
        for level, outcome in outcomes[mutant.id].items() if mutant.id in equivalent else ():
            if outcome.killed:
                raise UsageError(
                    f"{equivalent_mutants.FILE} calls '{mutant.after}' (in {mutant.function}) equivalent, but level "
                    f"{level} kills it ({outcome.how}: {outcome.where}); remove the entry."
                )
