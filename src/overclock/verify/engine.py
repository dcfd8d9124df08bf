"""`verify(twin)`: run a twin's levels, stop at the first that fails, and say what they show together.

A failure ends as a repro: the shortest episode that shows it, in a folder that one command replays.
"""

import dataclasses
import datetime
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from overclock.backends import Backend
from overclock.errors import MissingError, UsageError
from overclock.processor import processor
from overclock.progress import Progress, silent
from overclock.verify.contract import Twin
from overclock.verify.levels import LEVELS, Settings
from overclock.verify.margins import margins_in
from overclock.verify.mutation.report import last_result
from overclock.verify.mutation.result import MutationReport
from overclock.verify.property.emit import emit
from overclock.verify.property.level import Recording, record
from overclock.verify.reach.ledger import Ledger
from overclock.verify.repro.failure import hunt, make_repro
from overclock.verify.result import LevelResult, NotRun, Verdict, VerifyReport
from overclock.verify.rollout.level import Diverging
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.selfcheck import check_reference
from overclock.verify.text import numbered
from overclock.verify.transfer.level import returns_alone
from overclock.verify.twins import Found, find_twin
from overclock.versions import versions

GRAVEST_FIRST: tuple[Verdict, ...] = ("fail", "could not verify", "inconclusive")
LAST_SEED = 2**31 - 1  # what every reference's generator takes


def verify(
    target: str | Found,
    episodes: int = 100,
    seed: int = 0,
    timeout: float = 120.0,
    levels: Sequence[int] = (1, 2, 3, 4),
    plant: str | None = None,
    backend: Backend | None = None,
    keep_going: bool = False,
    folder: Path | None = None,
    write_tests: Path | None = None,
    progress: Progress = silent,
    found_different: Callable[[VerifyReport], None] = lambda report: None,
) -> VerifyReport:
    """Compare a performance side with its reference, level by level.

    `target` is a registered id, 'package.module:function' that builds a Twin, a folder with a twin.py, or a twin that
    was found already. The reference is first compared with itself. Levels after a failed one are not run unless
    `keep_going`. `plant` puts one of the twin's known bugs into the performance side; `backend` is what computes it
    in place of what the twin says: XLA or a kernel. Repros are written to `folder`/repro, nowhere without it; level 1's
    recorded cases are written to `write_tests` as pytest files. `found_different` hears a report with the repro before
    the slow comparison of returns alone runs.
    """
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, got {episodes}.")
    if not timeout > 0:
        raise UsageError(f"timeout must be a positive number of seconds, got {timeout:g}.")
    check_seed(seed)
    found = find_twin(target) if isinstance(target, str) else target
    spec, twin = found.spec, found.twin if backend is None else found.twin.on(backend)
    twin = twin if plant is None else twin.planted(plant)
    require_described(twin, levels)
    if twin.backend in ("c", "cuda"):
        if write_tests is not None:
            raise UsageError("--write-tests writes tests of the rules under XLA; leave --backend away.")
        require_kernel(twin, timeout)
    controller = None if spec is None else spec.controller
    progress("the reference against itself", 0, 1)
    itself = check_reference(twin, seed=seed, timeout=timeout)
    progress("the reference against itself", 1, 1)

    failed: Diverging | None = None
    tests: list[Path] | None = None

    def recording(twin: Twin) -> Recording:
        nonlocal tests
        recorded = record(twin, seed, progress, timeout=timeout)
        if write_tests is not None:
            tests = emit(twin, recorded, write_tests)
        return recorded

    settings = Settings(recording, episodes, seed, timeout, progress, controller, ledger=Ledger())
    results: list[LevelResult] = []
    differs: int | None = None
    for level in sorted(levels):
        if differs is not None and not keep_going:
            results.append(NotRun(level=level, name=LEVELS[level].name, reason=f"level {differs} failed"))
            continue
        answer = LEVELS[level].run(twin, settings)
        results.append(answer.result)
        failed = failed or answer.diverging
        differs = level if differs is None and answer.result.verdict == "fail" else differs
    report = VerifyReport(
        env=twin.name,
        reference=str(twin.reference.entry_point) if spec is None else spec.reference,
        contract={precision: list(contract.fields) for precision, contract in twin.contracts.items()},
        verdict=overall([result.verdict for result in results]),
        self_check=itself,
        levels=results,
        margins=margins_in(results, twin.contracts),
        repro=None,
        returns_alone=None,
        tests=None if tests is None else [str(path) for path in tests],
        adequacy=None if spec is None else _adequacy(spec.id),
        planted=plant,
        backend=twin.backend,
        seed=seed,
        command=_command(found.target, episodes, seed, levels, plant, twin.backend, keep_going),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        versions=versions(c_compiler=twin.compiled_from_c(levels)),
        processor=processor(),
    )
    if differs not in (1, 2, 3):
        return report
    try:
        failed = failed or hunt(twin, controller, seed, timeout, progress)
        if failed is not None:
            repro = make_repro(twin, failed, differs, plant, folder, timeout, progress, found.target)
            report = dataclasses.replace(report, repro=repro)
        found_different(report)
        by_returns = returns_alone(twin, seed=seed, timeout=timeout, progress=progress)
        return dataclasses.replace(report, returns_alone=by_returns)
    except CouldNotVerifyError as error:  # that the two differ is known already
        return dataclasses.replace(report, unexplained=str(error))


def check_seed(seed: int) -> None:
    """Refuse a seed that a reference could not take."""
    if not 0 <= seed <= LAST_SEED:
        raise UsageError(f"seed must be a number from 0 to {LAST_SEED}, got {seed}.")


def require_kernel(twin: Twin, timeout: float) -> None:
    """Refuse rules that have no kernel, or a machine that cannot make one, before any work is done."""
    try:
        ProcessSubject(twin.performance_in(twin.strictest), 1, "the performance side", timeout).close()
    except CouldNotVerifyError as error:
        kind, _, sentence = (error.raised or "").partition(": ")
        if kind in (MissingError.__name__, "UnsupportedError"):
            raise UsageError(sentence) from error
        raise


def require_described(twin: Twin, levels: Sequence[int]) -> None:
    """Refuse levels for which a twin describes nothing, before any work is done."""
    missing = [level for level in sorted(levels) if not _described(twin, level)]
    if not missing:
        return
    left = [level for level in sorted(levels) if level not in missing]
    if not left:
        remedy = "choose level 3, which needs no description: --only 3"
    elif left == list(range(1, left[-1] + 1)):
        remedy = f"leave it away: --level {left[-1]}"
    else:
        remedy = f"run the rest alone: {', '.join(f'--only {level}' for level in left)}"
    fields = " and ".join(f"Twin.{LEVELS[level].field}" for level in missing)
    raise UsageError(f"{twin.name} describes nothing for {numbered(missing)}; set {fields}, or {remedy}.")


def _described(twin: Twin, level: int) -> bool:
    """Whether a level has something to run; what is named and cannot be found is refused."""
    field = LEVELS[level].field
    if field is None:
        return True
    if getattr(twin, field) is None:
        return False
    try:
        return bool(LEVELS[level].load(twin))
    except (ImportError, AttributeError) as error:
        raise UsageError(f"Twin.{field} of {twin.name} cannot be loaded: {error}.") from error


def overall(verdicts: Sequence[str]) -> Verdict:
    """The verdict of a report: the gravest of its levels'."""
    for verdict in GRAVEST_FIRST:
        if verdict in verdicts:
            return verdict
    return "pass"


def _adequacy(env_id: str) -> MutationReport | None:
    """What the last `overclock mutate` found, without its list of every mutant."""
    found = last_result(env_id)
    return None if found is None else dataclasses.replace(found, mutants=None)


def _command(
    target: str,
    episodes: int,
    seed: int,
    levels: Sequence[int],
    plant: str | None,
    backend: str | None,
    keep_going: bool,
) -> str:
    chosen = sorted(levels)
    words = ["overclock", "verify", target, "--episodes", str(episodes), "--seed", str(seed)]
    if len(chosen) == 1 and chosen != [1]:
        words += ["--only", str(chosen[0])]
    elif chosen[-1] < 4:
        words += ["--level", str(chosen[-1])]
    words += [] if plant is None else ["--plant", plant]
    words += [] if backend is None else ["--backend", backend]
    return shlex.join([*words, "--keep-going"] if keep_going else words)
