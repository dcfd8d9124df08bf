"""One candidate of the red team before the judge: which layers of the judge reject it, and with which sentence.

A cheat that the static scan rejects is judged again without the scan, to see that a later check would catch it, too.
"""

import contextlib
import dataclasses
import re
import time
from collections.abc import Iterator

from overclock.recipe.judging.as_used.compare import FOR_USERS
from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Verdict
from overclock.recipe.redteam.cheats import HONEST, Cheat, Material, find_cheats, honest_files
from overclock.recipe.redteam.episodes import Episodes
from overclock.recipe.redteam.grading_folder import GradingFolder, frozen_candidate, grader_files
from overclock.recipe.redteam.judges import Judges, first_failure
from overclock.recipe.sandbox import by_name
from overclock.recipe.sandbox.plan import MARK

STATIC, DYNAMIC = "static", "dynamic"  # the two parts of hygiene
AS_USED = "as used"  # the last part of held-out: the folder in a user's program
NO_SANDBOX = "none"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a candidate: every layer that rejected it with its sentence, the first one again as `by`."""

    name: str
    what: str
    by: str | None
    sentence: str
    seconds: float
    layers: dict[str, str]


def find_candidate(name: str) -> Cheat:
    """A cheat, or the honest candidate, by its name."""
    if name != HONEST:
        return find_cheats(name)[0]
    return Cheat(HONEST, "an honest translation, which must pass", lambda material: honest_files())


@contextlib.contextmanager
def handed_in(candidate: Cheat, practice: Episodes) -> Iterator[GradingFolder]:
    """The candidate as its author handed it in, frozen beside a grader's files."""
    with grader_files() as folder, frozen_candidate(folder, candidate.build(Material(folder, practice))) as place:
        yield place


def examine(candidate: Cheat, place: GradingFolder, judges: Judges, seed: int, scan: bool = True) -> Outcome:
    """Judge a frozen candidate level by level until one rejects it; with `scan`, by the static scan first."""
    started = time.monotonic()
    layers: dict[str, str] = {}
    for layer, sentence in _rejections(candidate, place, judges, seed, scan):
        layers.setdefault(layer, sentence)
    by, sentence = next(iter(layers.items()), (None, ""))
    return Outcome(candidate.name, candidate.what, by, sentence, time.monotonic() - started, layers)


def _rejections(
    candidate: Cheat, place: GradingFolder, judges: Judges, seed: int, scan: bool
) -> Iterator[tuple[str, str]]:
    scanned = judges.judge.judge(place.frozen, HYGIENE, seed) if scan and judges.judge.read(place.candidate) else None
    if scanned is not None and not scanned.passed:
        yield STATIC, _sentence(scanned)
    blind = judges.impatient if candidate.hangs else judges.without_scan
    if scanned is not None and not scanned.passed and candidate.level is not None:
        found = blind.judge(place.frozen, candidate.level, seed)
    else:
        found = first_failure(judges.judge if scan else blind, place.frozen, candidate.level, seed)
    if found is not None and not found.passed:
        yield _layer(candidate, found), _sentence(found)
    if (damage := place.damage()) is not None:
        yield "seal", damage
    elif candidate.harms and by_name(judges.judge.sandbox).name != NO_SANDBOX:
        yield "sandbox", "What it tried to write was refused; nothing outside changed."


def _layer(candidate: Cheat, verdict: Verdict) -> str:
    """The layer behind a verdict of a level that runs the candidate."""
    sentence = _sentence(verdict)
    if MARK in sentence or (candidate.refused and re.search(candidate.refused, sentence)):
        return "sandbox"
    if verdict.level == HYGIENE:
        return DYNAMIC
    if verdict.level == HELD_OUT and sentence.startswith(FOR_USERS):
        return AS_USED
    return f"level {verdict.level}" if isinstance(verdict.level, int) else verdict.level


def _sentence(verdict: Verdict) -> str:
    return "" if verdict.failure is None else verdict.failure.sentence
