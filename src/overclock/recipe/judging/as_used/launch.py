"""Starts a user's program in a candidate's sandbox: a folder with the program and the candidate as a package in it."""

import contextlib
import secrets
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.entry_point import EntryPoint
from overclock.recipe.judging.as_used import program
from overclock.recipe.judging.hygiene import programs
from overclock.recipe.judging.hygiene.listing import entries, named
from overclock.recipe.sandbox import worker
from overclock.verify.sides.subject import SubjectSpec

NAMES = ("train", "main", "play", "experiment", "evaluate", "run")  # as people call their programs
PACKAGES = ("game", "world", "simulation", "task", "fast_env", "environment")


@contextlib.contextmanager
def users_folder(candidate: Path, num_envs: int) -> Iterator[Path]:
    """The path of the program in a temporary folder, with a copy of the candidate beside it."""
    with tempfile.TemporaryDirectory(prefix="project-") as place:
        package = secrets.choice(PACKAGES)
        for path in entries(candidate):
            copy = Path(place) / package / named(candidate, path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
        texts = [Path(str(part.__file__)).read_text(encoding="utf-8") for part in (programs, program)]
        script = Path(place) / f"{secrets.choice(NAMES)}.py"
        script.write_text("\n".join([*texts, f"main({package!r}, {num_envs})", ""]))
        yield script


def user_spec(spec: SubjectSpec, script: Path, precision: str) -> SubjectSpec:
    """The worker of a user's program instead of a candidate's own, with the same rights."""
    assert spec.launcher is not None
    options: dict[str, Any] = dict(spec.launcher.arguments)
    started = EntryPoint.of(launcher, script=str(script), **options)
    spec = SubjectSpec("a_user:program", launcher=started).with_environment(JAX_PLATFORMS="cpu")
    return spec.with_environment(JAX_ENABLE_X64="1") if precision == "float64" else spec


def launcher(
    argv: list[str], environment: dict[str, str], files: tuple[str, ...], *, script: str, **options: Any
) -> tuple[list[str], dict[str, str]]:
    """What is started: `python train.py`, in an environment as plain as a user's."""
    options |= {"candidate": str(Path(script).parent), "readable": (), "plain": True}
    return worker.launcher([sys.executable, script], environment, (), **options)
