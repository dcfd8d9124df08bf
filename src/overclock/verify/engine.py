"""`verify(twin)`: run a twin's levels, stop at the first that fails, and say what they show together.

A failure ends as a repro: the shortest episode that shows it, in a folder that one command replays.
"""

import dataclasses
import datetime
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.verify.emit import emit
from overclock.verify.failure import hunt, make_repro
from overclock.verify.interaction import check_interactions
from overclock.verify.mutation_report import last_result
from overclock.verify.property import check_recorded, record
from overclock.verify.rollout_level import Diverging, Progress, check_rollouts
from overclock.verify.selfcheck import check_reference
from overclock.verify.transfer import check_transfer, returns_alone
from overclock.verify.twins import find_twin
from overclock.versions import versions

SCHEMA = "overclock.verify/1"
NAMES = {1: "property", 2: "interaction", 3: "rollout", 4: "transfer"}
GRAVEST_FIRST = ("could not verify", "fail", "inconclusive")
NOT_RUN = "not run"


def verify(
    target: str,
    episodes: int = 100,
    seed: int = 0,
    timeout: float = 120.0,
    levels: Sequence[int] = (1, 2, 3, 4),
    plant: str | None = None,
    keep_going: bool = False,
    folder: Path | None = None,
    write_tests: Path | None = None,
    progress: Progress = lambda what, done, total: None,
) -> dict[str, Any]:
    """Compare a performance side with its reference, level by level; returns the report (overclock.verify/1).

    `target` is a registered id, 'package.module:function' that builds a Twin, or a folder with a twin.py. The reference
    is first compared with itself. Levels after a failed one are not run unless `keep_going`. `plant` puts one of the
    twin's known bugs into the performance side. Repros are written to `folder`/repro, nowhere without it; level 1's
    recorded cases are written to `write_tests` as pytest files.
    """
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, got {episodes}.")
    if not timeout > 0:
        raise UsageError(f"timeout must be a positive number of seconds, got {timeout:g}.")
    spec, twin = find_twin(target)
    twin = twin if plant is None else twin.planted(plant)
    controller = None if spec is None else spec.controller
    progress("the reference against itself", 0, 1)
    itself = check_reference(twin, seed=seed, timeout=timeout)
    progress("the reference against itself", 1, 1)

    failed: Diverging | None = None

    def properties() -> dict[str, Any]:
        recording = record(twin, seed, progress, timeout=timeout)
        if write_tests is not None:
            emit(twin, recording, write_tests)
        return check_recorded(twin, recording, progress=progress, timeout=timeout)

    def rollouts() -> dict[str, Any]:
        nonlocal failed
        level, failed = check_rollouts(twin, controller, episodes, seed, timeout, progress)
        return level

    checks: dict[int, Callable[[], dict[str, Any]]] = {
        1: properties,
        2: lambda: check_interactions(twin, timeout),
        3: rollouts,
        4: lambda: check_transfer(twin, seed=seed, timeout=timeout, progress=progress),
    }
    results: list[dict[str, Any]] = []
    for level in sorted(levels):
        before = next((result for result in results if result["verdict"] == "fail"), None)
        if before is None or keep_going:
            results.append(checks[level]())
        else:
            reason = f"level {before['level']} failed"
            results.append({"level": level, "name": NAMES[level], "verdict": NOT_RUN, "reason": reason})
    verdict = overall([result["verdict"] for result in results])
    differs = next((result["level"] for result in results if result["verdict"] == "fail"), None)
    repro, by_returns = None, None
    if differs in (1, 2, 3):
        failed = failed or hunt(twin, controller, seed, timeout, progress)
        repro = None if failed is None else make_repro(twin, failed, differs, plant, folder, timeout, progress)
        by_returns = returns_alone(twin, seed=seed, timeout=timeout, progress=progress)
    return {
        "schema": SCHEMA,
        "env": twin.name,
        "reference": twin.reference.entry_point if spec is None else spec.reference,
        "contract": {p: [dataclasses.asdict(field) for field in c.fields] for p, c in twin.contracts.items()},
        "verdict": verdict,
        "self_check": itself,
        "levels": results,
        "repro": repro,
        "returns_alone": by_returns,
        "adequacy": None if spec is None else _adequacy(spec.id),
        "planted": plant,
        "seed": seed,
        "command": _command(target if spec is None else spec.id, episodes, seed, levels, plant, keep_going),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": versions(),
    }


def overall(verdicts: Sequence[str]) -> str:
    """The verdict of a report: the gravest of its levels'."""
    return next((verdict for verdict in GRAVEST_FIRST if verdict in verdicts), "pass")


def _adequacy(env_id: str) -> dict[str, Any] | None:
    """What the last `overclock mutate` found, without its list of every mutant."""
    found = last_result(env_id)
    return None if found is None else {key: value for key, value in found.items() if key != "mutants"}


def _command(target: str, episodes: int, seed: int, levels: Sequence[int], plant: str | None, keep_going: bool) -> str:
    chosen = sorted(levels)
    words = ["overclock", "verify", target, "--episodes", str(episodes), "--seed", str(seed)]
    if len(chosen) == 1 and chosen != [1]:
        words += ["--only", str(chosen[0])]
    elif chosen[-1] < 4:
        words += ["--level", str(chosen[-1])]
    words += [] if plant is None else ["--plant", plant]
    return shlex.join([*words, "--keep-going"] if keep_going else words)
