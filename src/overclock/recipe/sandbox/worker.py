"""A candidate's worker processes inside a sandbox: `sandboxed(spec, candidate)` is the same subject, isolated.

The verifier knows nothing of sandboxes: it asks the launcher that a `SubjectSpec` names for each worker's command line.
"""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from overclock.entry_point import EntryPoint
from overclock.recipe.sandbox.choices import by_name
from overclock.recipe.sandbox.rights import candidate_rights
from overclock.verify.sides.subject import SubjectSpec


def sandboxed(
    spec: SubjectSpec,
    candidate: Path,
    *,
    hidden_packages: Iterable[str] = (),
    readable: Iterable[Path] = (),
    hidden: Iterable[Path] = (),
    sandbox: str = "best",
    **limits: Any,
) -> SubjectSpec:
    """The same subject, whose worker processes will run with `candidate_rights`; `limits` are fields of `Rights`."""
    options: dict[str, Any] = {
        "sandbox": by_name(sandbox).name,
        "candidate": str(candidate),
        "hidden_packages": tuple(hidden_packages),
        "readable": tuple(map(str, readable)),
        "hidden": tuple(map(str, hidden)),
        **limits,
    }
    return dataclasses.replace(spec, launcher=EntryPoint.of(launcher, **dict(sorted(options.items()))))


def launcher(
    argv: list[str],
    environment: dict[str, str],
    files: tuple[str, ...],
    *,
    sandbox: str,
    candidate: str,
    hidden_packages: tuple[str, ...],
    readable: tuple[str, ...],
    hidden: tuple[str, ...],
    **limits: Any,
) -> tuple[list[str], dict[str, str]]:
    """What the verifier starts instead of a worker: see `SubjectSpec.launcher`."""
    rights = candidate_rights(
        Path(candidate),
        readable=map(Path, (*readable, *files)),
        hidden_packages=hidden_packages,
        hidden=map(Path, hidden),
        environment=environment,
        **limits,
    )
    launch = by_name(sandbox).launch(argv, rights)
    return launch.argv, launch.environment
