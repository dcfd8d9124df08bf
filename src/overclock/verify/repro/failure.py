"""From a failed level to a repro: an episode that shows the difference, made small, written down, described."""

import shlex
from pathlib import Path

from overclock.progress import Progress
from overclock.results import Values, extended
from overclock.verify.contract import Twin
from overclock.verify.interaction.playback import lane_values
from overclock.verify.repro.arena import Moment
from overclock.verify.repro.files import write_repro
from overclock.verify.repro.result import BothSides, ReproSummary, StatesAround
from overclock.verify.repro.shrink import Shrunk, shrink
from overclock.verify.rollout.actions import SourceMaker, random_legal
from overclock.verify.rollout.level import CONTROLLED, LONG_SHARE, Diverging, diverging, player_of
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.subject import Observed
from overclock.verify.value_text import actions_text

HUNTED_EPISODES = 64  # played to find a repro where level 3 itself was not run


def hunt(twin: Twin, controller: str | None, seed: int, timeout: float, progress: Progress) -> Diverging | None:
    """Whole episodes played until one diverges, for a twin that a lower level refuted; None if none does."""
    precision = twin.strictest
    sources: dict[str, SourceMaker] = {"uniform": random_legal}
    if (player := player_of(twin, controller)) is not None:
        sources[CONTROLLED] = player
    for name, source in sources.items():
        count = HUNTED_EPISODES if name == "uniform" else HUNTED_EPISODES // LONG_SHARE
        found = compare_rollouts(
            twin, count, "per_step", precision, name, source, seed, timeout=timeout,
            progress=lambda done, name=name, count=count: progress(f"looking for an episode, {name}", done, count),
        )  # fmt: skip
        if not found.passed:
            return diverging(found)
    return None


def make_repro(
    twin: Twin,
    failed: Diverging,
    level: int,
    plant: str | None,
    folder: Path | None,
    timeout: float,
    progress: Progress,
    target: str | None = None,
) -> ReproSummary:
    """Make the first divergence small and write it to `folder`/repro, where there is a folder.

    `target` is as in `write_repro`.
    """
    shrunk = shrink(
        twin, failed.episode, failed.mode, failed.precision, timeout,
        progress=lambda tried, left: progress("shrinking", tried, tried),
    )  # fmt: skip
    written = None if folder is None else write_repro(folder / "repro", shrunk, twin, plant, level, timeout, target)
    return _shown(shrunk, written, plant)


def _shown(shrunk: Shrunk, written: Path | None, plant: str | None) -> ReproSummary:
    """What a report says of a repro: the divergence, and both sides around it."""
    short = shrunk.shortest
    finding = short.finding
    before = shrunk.moments[-2] if finding.step else None
    planted = [] if plant is None else ["--plant", plant]
    return extended(
        ReproSummary,
        finding,
        folder=None if written is None else str(written),
        command=None if written is None else shlex.join(["overclock", "repro", str(written), *planted]),
        precision=shrunk.precision,
        mode=short.mode,
        actions=list(short.episode.actions),
        also_wrong=[other.field for other in shrunk.moments[-1].findings[1:]],
        states=StatesAround(before=None if before is None else _both(before), after=_both(shrunk.moments[-1])),
        found_after=len(shrunk.original.episode.actions),
        minimal=shrunk.minimal,
        sentence=(
            f"{finding.field} differs after {actions_text(len(short.episode.actions))}: the reference says "
            f"{finding.reference}, the performance side {finding.performance}."
        ),
    )


def _both(moment: Moment) -> BothSides:
    return BothSides(reference=_everything(moment.reference), performance=_everything(moment.performance))


def _everything(side: Observed) -> Values:
    states = {f"state.{key}": value for key, value in lane_values(side.state, 0).items()}
    return {**states, **lane_values(side.outputs, 0)}
