"""New projects as commands make them: the reference is imported and played in a process of its own."""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from overclock.recipe.project.project import FILE, UNFINISHED, Project, Target, load_project
from overclock.verify.sides.apart import PATIENCE_S, call_apart

if TYPE_CHECKING:
    from overclock.recipe.project.new import NewProject
    from overclock.recipe.survey.live.speedup import SpeedupEstimate
    from overclock.recipe.survey.static.source import Source
    from overclock.translate.program import Program


def new_project_apart(
    folder: Path, reference: str, *more: Any, patience: float = PATIENCE_S, **options: Any
) -> "NewProject":
    """`new_project` in a process of its own, which is given the same arguments.

    Raises ReferenceEndedError where the reference ends that process, crashes, or takes longer than `patience` seconds
    for one call. Nothing half-written is left then.
    """
    from overclock.recipe.project.new import new_project

    with _nothing_unfinished(folder.parent):
        return call_apart(
            new_project, folder, reference, *more, of=f"The reference '{reference}'", patience=patience, **options
        )


def find_or_make_project_apart(
    source: str, target: Target | None, agent: str | None, fallback: str | None, say: Callable[[str], None],
    patience: float = PATIENCE_S,
) -> "tuple[Project, Program | None]":  # fmt: skip
    """`find_or_make_project`, where a new project is made in a process of its own, as in `new_project_apart`."""
    if (Path(source) / FILE).is_file():
        return load_project(Path(source)), None
    with _nothing_unfinished(Path.cwd()):
        project, program, said = call_apart(
            _made, source, target, agent, fallback, of=f"The reference '{source}'", patience=patience
        )
    for sentence in said:
        say(sentence)
    return project, program


def _made(
    source: str, target: Target | None, agent: str | None, fallback: str | None
) -> "tuple[Project, Program | None, list[str]]":
    from overclock.recipe.project.source import find_or_make_project

    said: list[str] = []
    return *find_or_make_project(source, target, agent, fallback, said.append), said


def look_apart(source: "Source", patience: float = PATIENCE_S) -> "SpeedupEstimate":
    """`estimate_speedup` in a process of its own."""
    return call_apart(_look, source, of=f"The reference '{source.text}'", patience=patience)


def _look(source: "Source") -> "SpeedupEstimate":
    from overclock.recipe.survey.live.speedup import estimate_speedup  # it imports what trains

    return estimate_speedup(source)


@contextlib.contextmanager
def _nothing_unfinished(folder: Path) -> Iterator[None]:
    """Afterwards, remove what processes that have ended were writing in a folder."""
    try:
        yield
    finally:
        for place in folder.glob(f"{UNFINISHED}*-*"):
            number = place.name.removeprefix(UNFINISHED).partition("-")[0]
            if number.isdigit() and not psutil.pid_exists(int(number)):
                shutil.rmtree(place, ignore_errors=True)
