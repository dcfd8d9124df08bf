"""`export`: writes the accepted result of a project as a pip-installable package, with its tests and its report."""

import contextlib
import dataclasses
import os
import secrets
import shutil
import tempfile
from pathlib import Path

from overclock.errors import UsageError
from overclock.files import check_folder, require_empty
from overclock.recipe.export.accepted import Accepted, accepted
from overclock.recipe.export.environment_class import EnvironmentClass, environment_class, with_class_call
from overclock.recipe.export.episodes import LANES, MODES, Recording, record_episodes, replay
from overclock.recipe.export.files import package_files
from overclock.recipe.export.names import names_for
from overclock.recipe.export.origin import origin_of, require_same
from overclock.recipe.judging.hygiene.frozen import unpacked
from overclock.recipe.project.twin import project_twin
from overclock.verify.contract import Precision, Twin
from overclock.verify.rollout.lockstep import SEEDS
from overclock.verify.rollout.result import RolloutResult
from overclock.verify.sides.process import ProcessSubject


@dataclasses.dataclass(frozen=True)
class Exported:
    """What was written, and what it came from."""

    folder: Path
    id: str
    package: str
    reference: str
    requirement: str | None  # the distribution of the reference, at the version that was compared with
    licence: str | None  # what that distribution states
    run: Path
    candidate: str
    levels: tuple[int, ...]
    episodes: int  # recorded from the reference for the package's tests
    steps: int
    files: tuple[str, ...]


def export(
    folder: Path, project: Path | None = None, run: str | None = None, name: str | None = None, sandbox: str = "best"
) -> Exported:
    """Write the package into a new or empty folder: all of it, or nothing and one sentence on why."""
    target = folder.absolute()
    check_folder(target.parent)
    require_empty(target, "package")
    found = accepted(project, run)
    origin = origin_of(found.project)
    require_same(origin, found.report.volatile.versions)
    top = origin.module.partition(".")[0]
    names = names_for(found.project.name, name, (top, *found.project.reference.packages))
    recording, result, made = _play(found, sandbox)
    files = package_files(found, names, origin, made, recording)
    _write(target, files)
    return Exported(
        folder=target,
        id=names.id,
        package=names.package,
        reference=origin.source,
        requirement=origin.requirement,
        licence=origin.licence,
        run=found.run.resolve(),
        candidate=found.frozen.hash,
        levels=found.project.judging.levels,
        episodes=result.episodes,
        steps=result.steps,
        files=tuple(sorted(files)),
    )


def _play(found: Accepted, sandbox: str) -> tuple[Recording, RolloutResult, EnvironmentClass]:
    """Record new episodes and compare the program with them; UsageError if it differs."""
    timeout = found.project.limits.timeout
    with unpacked(found.frozen) as candidate, contextlib.ExitStack() as processes:
        twin = project_twin(found.project, candidate, found.scenarios, sandbox)
        twin = dataclasses.replace(twin, performance=with_class_call(twin.performance))
        sides: dict[Precision, ProcessSubject] = {
            precision: processes.enter_context(
                ProcessSubject(twin.performance_in(precision), LANES, "the translation", timeout)
            )
            for precision in twin.contracts
        }
        with ProcessSubject(twin.reference, LANES, "the reference", timeout) as reference:
            recording, result = record_episodes(twin, reference, sides[twin.strictest], secrets.randbelow(SEEDS))
        _require_held(twin, result)
        for precision, side in sides.items():
            for mode in MODES:
                _require_held(twin, replay(twin, recording, side, mode, precision))
        return recording, result, environment_class(sides[twin.strictest])


def _require_held(twin: Twin, result: RolloutResult) -> None:
    if result.passed:
        return
    first = result.first_divergence
    where = "too many flags differ" if first is None else f"{first.field} at step {first.step}"
    raise UsageError(
        f"The result of '{twin.name}' differs from its reference as it is now ({where}, {result.precision}, "
        f"{result.mode.replace('_', ' ')}), so it is not exported; `overclock update` follows a reference that changed."
    )


def _write(target: Path, files: dict[str, bytes]) -> None:
    """Write all files into a temporary folder, then rename it to `target`."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            for path, content in files.items():
                (unfinished / path).parent.mkdir(parents=True, exist_ok=True)
                (unfinished / path).write_bytes(content)
            unfinished.chmod(0o755)  # temporary folders are private
            if target.is_dir():
                target.rmdir()
            os.rename(unfinished, target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        raise UsageError(f"Cannot write '{target}': {error.strerror}; choose another place.") from error
