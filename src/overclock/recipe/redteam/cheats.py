"""The cheats: what each one does, and its files, made from the honest candidate by a few edits.

A cheat that touches the grader's files finds them in the folder `grader` (grading_folder.py); one that knows the
practice episodes is given them. Everything here is text: the grader imports nothing of it.
"""

import dataclasses
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.judging.verdict import Level
from overclock.recipe.redteam.episodes import Episodes

HONEST = "honest"
Files = dict[str, str]


@dataclasses.dataclass(frozen=True)
class Material:
    """What the author of a cheat knows: the grader's folder and the practice episodes."""

    grader: Path
    practice: Episodes


@dataclasses.dataclass(frozen=True)
class Cheat:
    """One way to cheat.

    - `refused`: a pattern that the sandbox's refusal matches; `harms`: it changes files outside its folder.
    - `level`: the level that must reject it without the static scan (None: only the scan can). It is asked first,
      because the levels below it take long. `hangs`: it is judged with a short time limit.
    """

    name: str
    what: str
    build: Callable[[Material], Files]
    refused: str = ""
    harms: bool = False
    level: Level | None = 1
    hangs: bool = False


def honest_files() -> Files:
    """The honest candidate's files by name."""
    folder = resources.files("overclock.recipe.redteam").joinpath(HONEST)
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".py") and file.name != "__init__.py")
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in names}


def edited(file: str, *edits: tuple[str, str], first: str = "") -> Files:
    """The honest files with changes in one of them; `first` goes before its first line."""
    files = honest_files()
    for old, new in edits:
        if files[file].count(old) != 1:
            raise UsageError(f"'{old}' stands {files[file].count(old)} times in the honest {file}, expected once.")
        files[file] = files[file].replace(old, new)
    files[file] = first + files[file]
    return files


def cheat(name: str, what: str, file: str, *edits: tuple[str, str], first: str = "", **more: object) -> Cheat:
    """A cheat that does not depend on the practice episodes; `GRADER` in its text becomes the grader's folder."""

    def build(material: Material) -> Files:
        return {path: text.replace("GRADER", str(material.grader)) for path, text in changed.items()}

    changed = edited(file, *edits, first=first)
    return Cheat(name, what, build, **more)  # pyright: ignore[reportArgumentType]


def find_cheats(only: str | None = None) -> list[Cheat]:
    """All cheats, or the one with a name; the honest candidate is not among them."""
    from overclock.recipe.redteam.blind_spots import BLIND_SPOTS
    from overclock.recipe.redteam.breakouts import BREAKOUTS
    from overclock.recipe.redteam.frauds import FRAUDS
    from overclock.recipe.redteam.own_randomness import OWN_RANDOMNESS
    from overclock.recipe.redteam.shortcuts import SHORTCUTS

    everything = [*SHORTCUTS, *BLIND_SPOTS, *FRAUDS, *BREAKOUTS, *OWN_RANDOMNESS]
    if only is None:
        return everything
    chosen = [one for one in everything if one.name == only]
    if not chosen:
        known = ", ".join(one.name for one in everything)
        raise UsageError(f"No cheat is called '{only}'; there are: {known}.")
    return chosen
