"""The judges of the red team: the product's own judge, and the same judge without its static scan.

The reference, its contract and its scenarios are made as `overclock new` makes them. The calls that level 1 compares
with are recorded once and shared by all judges.
"""

import dataclasses
from importlib import resources
from pathlib import Path

from overclock.files import write_whole
from overclock.recipe.judging.hygiene import Finding
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.judge import Judge
from overclock.recipe.judging.required_levels import levels_up_to
from overclock.recipe.judging.verdict import Level, Verdict
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, Limits, Project
from overclock.recipe.project.twin import project_twin
from overclock.recipe.redteam.episodes import Episodes, record_episodes
from overclock.verify.property.level import record

REFERENCE, CLASS, MAX_STEPS = "windy_cartpole.py", "WindyCartPole", 500
HIGHEST = 3  # level 4 trains for minutes, and no cheat passes the levels below it
EPISODES = 4  # of every comparison: each cheat differs often enough to be seen in so few
PRACTICE_SEED, PRACTICE_LANES = 1, 48
HANG_SECONDS = 8.0  # importing a few small files, on a busy machine


class JudgeWithoutScan(Judge):
    """The judge without its static scan: shows which later check catches a cheat that the scan would overlook."""

    def read(self, folder: Path) -> list[Finding]:
        return []


@dataclasses.dataclass(frozen=True)
class Judges:
    """A project with its judges; `impatient` is `without_scan` with a short time limit."""

    project: Project
    judge: Judge
    without_scan: Judge
    impatient: Judge

    def record_practice(self) -> Episodes:
        """The episodes that authors of candidates may see."""
        twin = project_twin(self.project, self.project.folder)
        return record_episodes(twin.reference, PRACTICE_LANES, PRACTICE_SEED, self.project.limits.timeout)


def prepare_judges(folder: Path, sandbox: str = "best", timeout: float = 120.0) -> Judges:
    """Make the project in an empty folder and record its reference."""
    source = folder / REFERENCE
    write_whole(source, resources.files("overclock.recipe.redteam").joinpath(REFERENCE).read_bytes())
    project = new_project(
        folder / "project", f"{source}:{CLASS}", "jax", limits=Limits(timeout=timeout),
        judging=Judging(levels=tuple(range(1, HIGHEST + 1)), episodes=EPISODES, held_out=EPISODES),
        max_steps=MAX_STEPS,
    ).project  # fmt: skip
    recording = record(project_twin(project, project.folder), 0, timeout=timeout)
    hasty = dataclasses.replace(project, limits=dataclasses.replace(project.limits, timeout=HANG_SECONDS))
    judge, without_scan, impatient = (
        kind(of, project.scenarios, folder / "repro", sandbox, recording=recording)
        for kind, of in ((Judge, project), (JudgeWithoutScan, project), (JudgeWithoutScan, hasty))
    )
    return Judges(project, judge, without_scan, impatient)


def first_failure(judge: Judge, frozen: Frozen, expected: Level | None, seed: int) -> Verdict | None:
    """The first verdict that rejects a candidate, None if none does; the `expected` level is asked first."""
    levels = levels_up_to(judge.project, HIGHEST)
    if expected is not None:
        levels.remove(expected)
        levels.insert(0, expected)
    for level in levels:
        verdict = judge.judge(frozen, level, seed)
        if not verdict.passed:
            return verdict
    return None
