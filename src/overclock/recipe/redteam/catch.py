"""One suspect before the product's judge, which rejects whom any of its levels rejects.

Whose text gives it away also meets the level that must catch it without, of a judge that does not read.
"""

import contextlib
import dataclasses
import re
import time
from collections.abc import Iterator

from overclock.recipe.judging.verdict import HYGIENE, Verdict
from overclock.recipe.redteam.cheats import HONEST, Cheat, Material, find_cheats, honest_files
from overclock.recipe.redteam.court import Court, first_failure
from overclock.recipe.redteam.episodes import Episodes
from overclock.recipe.redteam.ground import Ground, prepare, stage
from overclock.recipe.sandbox import by_name
from overclock.recipe.sandbox.plan import MARK

TEXT, RUNNING = "static", "dynamic"  # the two parts of hygiene
UNFENCED = "none"


@dataclasses.dataclass(frozen=True)
class Caught:
    """What became of a suspect: every layer that caught it with its sentence, the first one again as `by`."""

    name: str
    what: str
    by: str | None
    sentence: str
    seconds: float
    layers: dict[str, str]


def find_suspect(name: str) -> Cheat:
    """A cheat, or the honest candidate."""
    if name != HONEST:
        return find_cheats(name)[0]
    return Cheat(HONEST, "an honest translation, which must pass", lambda material: honest_files())


@contextlib.contextmanager
def staged(suspect: Cheat, practice: Episodes) -> Iterator[Ground]:
    """The candidate as its author handed it in, frozen beside a grader's files."""
    with prepare() as folder, stage(folder, suspect.build(Material(folder, practice))) as ground:
        yield ground


def examine(suspect: Cheat, ground: Ground, court: Court, seed: int) -> Caught:
    """A frozen candidate, level by level until one catches it."""
    started = time.monotonic()
    layers: dict[str, str] = {}
    for layer, sentence in _tried(suspect, ground, court, seed):
        layers.setdefault(layer, sentence)
    by, sentence = next(iter(layers.items()), (None, ""))
    return Caught(suspect.name, suspect.what, by, sentence, time.monotonic() - started, layers)


def _tried(suspect: Cheat, ground: Ground, court: Court, seed: int) -> Iterator[tuple[str, str]]:
    read = court.judge.judge(ground.frozen, HYGIENE, seed) if court.judge.read(ground.candidate) else None
    if read is not None and not read.passed:
        yield TEXT, _sentence(read)
        judge = court.impatient if suspect.hangs else court.unread
        found = None if suspect.level is None else judge.judge(ground.frozen, suspect.level, seed)
    else:
        found = first_failure(court.judge, ground.frozen, suspect.level, seed)
    if found is not None and not found.passed:
        yield _layer(suspect, found), _sentence(found)
    if (damage := ground.damage()) is not None:
        yield "seal", damage
    elif suspect.harms and by_name(court.judge.sandbox).name != UNFENCED:
        yield "sandbox", "What it tried to write was refused; nothing outside changed."


def _layer(suspect: Cheat, verdict: Verdict) -> str:
    """Who stopped it, of those that look at a candidate while it runs."""
    sentence = _sentence(verdict)
    if MARK in sentence or (suspect.refused and re.search(suspect.refused, sentence)):
        return "sandbox"
    if verdict.level == HYGIENE:
        return RUNNING
    return f"level {verdict.level}" if isinstance(verdict.level, int) else verdict.level


def _sentence(verdict: Verdict) -> str:
    return "" if verdict.failure is None else verdict.failure.sentence
