"""Would the judge notice? Mistakes planted in a translated environment, each judged until a level finds it.

`overclock mutate` asks every level about every mutant of an environment of ours (verify/mutation/mutate.py). Here the
question is only whether anybody finds it, of a sample, for candidates that hold: the levels come in order of cost
and a mutant that was found is not asked again. The reference's side is recorded once. Nothing but a proof takes a
survivor out of the count (same_program.py).
"""

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.progress import Progress, silent
from overclock.recipe.judging.candidate import MAIN, package_of
from overclock.recipe.studies.same_program import same_programs
from overclock.results import encode
from overclock.verify.contract import Twin
from overclock.verify.mutation.levels import SURVIVED, Examiner, Outcome, examining
from overclock.verify.mutation.mutants import Mutant, sample_statements
from overclock.verify.mutation.mutate import available_cores, side_by_side
from overclock.verify.mutation.recording import record
from overclock.verify.sides.process import CouldNotVerifyError

DIED = "could not verify"  # how a process's end is told, not a mutant's exception
FIRST, OTHERS = 1, (3, 2)  # level 2 compiles an environment many times over, to hold it against itself
EPISODES = 100  # of random actions, as in `overclock mutate`
WAITING = 600.0  # seconds for any answer of the unchanged environment
PATIENCE = 2.0  # a mutant hangs that needs so many times as long for one answer as the unchanged one for all of them
SHORTEST = 20.0  # seconds, and no less: the machine may have other work

Found = tuple[int, Outcome] | None  # the level and what it saw


def mutation_score(
    twin: Twin,
    candidate: Path,
    count: int,
    seed: int = 0,
    episodes: int = EPISODES,
    jobs: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Plant `count` mistakes in a candidate's env.py, one at a time; who finds how many, and the survivors."""
    began = time.monotonic()
    text = (candidate / f"{MAIN}.py").read_text(encoding="utf-8")
    mutants = sample_statements(MAIN, text, count, seed)
    recording = record(twin, episodes, seed, progress, WAITING)
    module = f"{package_of(candidate)}.{MAIN}"
    unchanged = Mutant("unchanged", "", module, 1, "", "", "", text)
    started = time.monotonic()
    with examining(twin, recording, [module], WAITING, 1) as (examiner,):
        _require_unseen(first_level(examiner, unchanged, (FIRST, *OTHERS)))
    timeout = max(SHORTEST, PATIENCE * (time.monotonic() - started))
    found: dict[str, Found] = {}

    def ask(waiting: Sequence[Mutant], order: Sequence[int]) -> list[Mutant]:
        """Those that none of these levels finds."""
        asking = [_asking(examiner, module, order) for examiner in examiners]
        for number, (mutant, one) in enumerate(side_by_side(asking, waiting), 1):
            found[mutant.id] = one
            progress(f"mutants at level {' and '.join(map(str, order))}", number, len(waiting))
        return [mutant for mutant in waiting if found[mutant.id] is None]

    with examining(twin, recording, [module], timeout, jobs or available_cores()) as examiners:
        left = ask(mutants, (FIRST,))
        same = same_programs(twin, text, left, timeout)
        ask([mutant for mutant in left if mutant.id not in same], OTHERS)
        for examiner in examiners:  # had a mutant damaged its process, those after it would have been found for nothing
            _require_unseen(first_level(examiner, unchanged, (FIRST, OTHERS[0])))
    return {**summary(mutants, found, same), "seed": seed, "seconds": round(time.monotonic() - began, 1)}


def first_level(examiner: Examiner, mutant: Mutant, order: Sequence[int]) -> Found:
    """The first level that finds a mutant, and how; None: nobody does.

    A process that died is not believed the first time: it may have been the memory of those before.
    """
    for level in order:
        (outcome,) = examiner.examine(mutant, (level,)).values() or (SURVIVED,)
        if outcome.how == "crash" and outcome.where.startswith(DIED):
            (outcome,) = examiner.examine(mutant, (level,)).values()
        if outcome.killed:
            return level, outcome
    return None


def summary(mutants: Sequence[Mutant], found: Mapping[str, Found], same: set[str]) -> dict[str, Any]:
    """What became of them as plain values; `same` are the ids of those that are proven to be no mistake."""
    counted = [mutant for mutant in mutants if mutant.id not in same]
    killed = [one for mutant in counted if (one := found[mutant.id]) is not None]
    return {
        "planted": len(mutants),
        "total": len(counted),
        "killed": len(killed),
        "score": round(len(killed) / len(counted), 4) if counted else None,
        "by_level": {str(level): sum(by == level for by, _ in killed) for level in sorted((FIRST, *OTHERS))},
        "crashes": sum(outcome.how == "crash" for _, outcome in killed),
        "timeouts": sum(outcome.how == "timeout" for _, outcome in killed),
        "same_program": [encode(mutant.facts) for mutant in mutants if mutant.id in same],
        "survivors": [encode(mutant.facts) for mutant in counted if found[mutant.id] is None],
    }


def _asking(examiner: Examiner, module: str, order: Sequence[int]) -> Callable[[Mutant], Found]:
    """Mutants are named after the file; workers know it under the candidate's private name."""
    return lambda mutant: first_level(examiner, dataclasses.replace(mutant, module=module), order)


def _require_unseen(found: Found) -> None:
    if found is not None:
        level, outcome = found
        raise CouldNotVerifyError(
            f"could not verify: the unchanged environment does not pass level {level} beside its mutants "
            f"({outcome.where}), so nothing can be said about them."
        )
