"""`mutate(env_id)`: plant mutants in an environment and count which of them each level of verification kills.

This measures the tests, not the environment: a level that lets a planted mistake pass would let a translator's mistake
pass. The unchanged environment is examined first and must pass everything.
"""

import functools
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from overclock.cores import cores
from overclock.env import registry
from overclock.errors import UsageError
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
) -> MutationReport:
    """Examine an environment's mutants.

    A complete run is kept in `folder` for `last_result`; an interrupted one goes on where it stopped. A sample of the
    mutants is neither kept nor resumed. With `until_found` a mutant that one level has found is not shown to the next
    one: that is quicker, the score is the same, and the shares of single levels are of what they were shown.
    """
    require_some(episodes=episodes, sample=sample_size, jobs=jobs)
    began = time.monotonic()
    spec = registry.spec(env_id)
    twin, sources = find_twin(spec.id).twin, sources_of(spec)
    mutants, not_run = mutants_for(spec, twin, sources, max(timeout, 120.0))
    equivalent = equivalent_mutants.reasons(mutants, equivalent_mutants.file_of(spec))
    settings: dict[str, Any] = {"episodes": episodes, "seed": seed, "sample": sample_size, "timeout": timeout}
    settings["until_found"] = until_found or None
    path = None
    if sample_size is None:
        path = folder / f"mutate-{spec.id}.journal.jsonl"
    else:
        mutants = sample(mutants, sample_size, seed)
    state, digests = state_of(spec, sources), {module: source_digest(module) for module in sources}
    journal = Journal(path, fingerprint(state, digests, settings))
    recording = record(twin, episodes, seed, progress, timeout=max(timeout, 120.0))
    with examining(twin, recording, sources, timeout, jobs or available_cores()) as examiners:
        outcomes = examine_all(examiners, sources, mutants, journal, progress, until_found)
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
) -> dict[str, dict[int, Outcome]]:
    """First the unchanged sources, then every mutant that the journal does not know; mutant id -> level -> outcome."""
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

    for mutant, found in side_by_side([functools.partial(examine, one) for one in examiners], waiting):
        outcomes[mutant.id] = found
        journal.add(mutant.id, found)
        progress(EXAMINING, len(outcomes), len(mutants))
    for examiner in examiners if waiting else ():
        # Mutants share a process; had one of them damaged it, those after it would have been killed for nothing.
        _require_passed(examiner.examine(unchanged, QUICK), "no longer passes level {} after its mutants ran")
    return outcomes


def side_by_side(workers: Sequence[Callable[[T], R]], items: Sequence[T]) -> Iterator[tuple[T, R]]:
    """Every item through one of the workers, a thread each; results as they come, the first error ends it all."""
    tasks: queue.SimpleQueue[T] = queue.SimpleQueue()
    results: queue.SimpleQueue[tuple[T, R | BaseException]] = queue.SimpleQueue()
    for item in items:
        tasks.put(item)

    def work(worker: Callable[[T], R]) -> None:
        while True:
            try:
                item = tasks.get_nowait()
            except queue.Empty:
                return
            try:
                results.put((item, worker(item)))
            except BaseException as error:
                results.put((item, error))
                return

    # Daemons: an interrupted program does not wait for them, and closing the examiners ends what they wait for.
    for worker in workers:
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    for _ in items:
        item, result = results.get()
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
