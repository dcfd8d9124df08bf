"""Where suspects are tried: a project of its own, the product's judge, and that judge as if it could not read.

The reference, its contract and scenarios are made as `overclock new` makes them. What level 1 records is recorded once.
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
HIGHEST = 3  # level 4 trains for minutes, and nobody gets that far
EPISODES = 4  # of every comparison: a cheat that needs more luck than this is none of ours
PRACTICE_SEED, PRACTICE_LANES = 1, 48
HANG_SECONDS = 8.0  # importing a few small files, on a busy machine


class Unread(Judge):
    """The judge without its first fence: what would happen to a cheat whose text gave nothing away?"""

    def read(self, folder: Path) -> list[Finding]:
        """Nothing is found."""
        return []


@dataclasses.dataclass(frozen=True)
class Court:
    """One project and its judges; `impatient` is an `unread` that waits for nobody."""

    project: Project
    judge: Judge
    unread: Judge
    impatient: Judge

    def practise(self) -> Episodes:
        """The episodes that candidates may see."""
        twin = project_twin(self.project, self.project.folder)
        return record_episodes(twin.reference, PRACTICE_LANES, PRACTICE_SEED, self.project.limits.timeout)


def open_court(folder: Path, sandbox: str = "best", timeout: float = 120.0) -> Court:
    """Look at the reference and record it, in a folder of the court's own."""
    source = folder / REFERENCE
    write_whole(source, resources.files("overclock.recipe.redteam").joinpath(REFERENCE).read_bytes())
    project = new_project(
        folder / "project", f"{source}:{CLASS}", "jax", limits=Limits(timeout=timeout),
        judging=Judging(levels=tuple(range(1, HIGHEST + 1)), episodes=EPISODES, held_out=EPISODES),
        max_steps=MAX_STEPS,
    ).project  # fmt: skip
    recording = record(project_twin(project, project.folder), 0, timeout=timeout)
    hasty = dataclasses.replace(project, limits=dataclasses.replace(project.limits, timeout=HANG_SECONDS))
    judge, unread, impatient = (
        kind(of, project.scenarios, folder / "repro", sandbox, recording=recording)
        for kind, of in ((Judge, project), (Unread, project), (Unread, hasty))
    )
    return Court(project, judge, unread, impatient)


def first_failure(judge: Judge, frozen: Frozen, expected: Level | None, seed: int) -> Verdict | None:
    """The verdict that rejects a candidate: of the level that is expected to, or else of the first that does."""
    levels = levels_up_to(judge.project, HIGHEST)
    if expected is not None:
        levels.remove(expected)
        levels.insert(0, expected)
    for level in levels:
        verdict = judge.judge(frozen, level, seed)
        if not verdict.passed:
            return verdict
    return None
