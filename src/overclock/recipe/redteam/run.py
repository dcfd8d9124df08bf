"""The whole red team: all candidates are frozen, then the seed is drawn, then each is judged, the honest one too."""

import contextlib
import dataclasses
import importlib.util
import os
import secrets
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from overclock.errors import MissingError, UsageError
from overclock.progress import Progress, silent
from overclock.recipe.redteam.catch import STATIC, Outcome, examine, find_candidate, handed_in
from overclock.recipe.redteam.cheats import HONEST, find_cheats
from overclock.recipe.redteam.judges import prepare_judges
from overclock.recipe.redteam.result import JudgedCheat, JudgedControl, RedteamReport, Rejection
from overclock.recipe.sandbox import by_name

MOST_JOBS = 4


def redteam(
    only: str | None = None,
    sandbox: str = "best",
    seed: int | None = None,
    jobs: int | None = None,
    timeout: float = 120.0,
    progress: Progress = silent,
    scan: bool = True,
) -> RedteamReport:
    """Judge all cheats (or `only` one) and the honest candidate.

    Without `scan` nobody reads a candidate's text: what catches a cheat then are the walls behind the static scan.

    `seed` repeats the held-out episodes of an earlier run; by default it is drawn after every candidate is frozen.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs must be at least 1, got {jobs}.")
    names, confinement = [HONEST, *(cheat.name for cheat in find_cheats(only))], by_name(sandbox)
    if importlib.util.find_spec("gymnasium") is None:
        raise MissingError("The red team's reference is a Gymnasium environment: pip install 'overclock[gymnasium]'.")
    started, results = time.monotonic(), dict[str, Outcome]()
    progress("recording the reference", 0, 1)
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="overclock-redteam-project-"))
        judges = prepare_judges(Path(place).resolve(), confinement.name, timeout)
        practice = judges.record_practice()
        progress("recording the reference", 1, 1)
        candidates = [find_candidate(name) for name in names]
        places = [stack.enter_context(handed_in(candidate, practice)) for candidate in candidates]
        drawn = secrets.randbits(30) if seed is None else seed
        pool = stack.enter_context(ThreadPoolExecutor(jobs or min(os.cpu_count() or 1, MOST_JOBS)))
        waiting = [
            pool.submit(examine, candidate, place, judges, drawn, scan)
            for candidate, place in zip(candidates, places, strict=True)
        ]
        for done in as_completed(waiting):
            results[done.result().name] = done.result()
            progress("candidates", len(results), len(waiting))
    cheats = [_cheat(results[cheat.name], cheat.wall) for cheat in candidates if cheat.name != HONEST]
    return RedteamReport(
        caught=sum(cheat.caught for cheat in cheats),
        caught_without_scan=sum(any(one.layer != STATIC for one in cheat.layers) for cheat in cheats),
        total=len(cheats),
        scan=scan,
        cheats=cheats,
        control=JudgedControl(**_judged(results[HONEST]), passed=results[HONEST].by is None),
        sandbox=confinement.title,
        seed=drawn,
        seconds=time.monotonic() - started,
    )


def _cheat(found: Outcome, wall: str) -> JudgedCheat:
    return JudgedCheat(**_judged(found), wall=wall)


def _judged(found: Outcome) -> dict[str, Any]:
    """The fields of a `JudgedCandidate`."""
    layers = [Rejection(layer, sentence) for layer, sentence in found.layers.items()]
    own = {field.name: getattr(found, field.name) for field in dataclasses.fields(found)}
    return {**own, "caught": found.by is not None, "layers": layers}
