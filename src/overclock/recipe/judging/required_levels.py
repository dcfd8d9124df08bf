"""Which verdicts a candidate needs to hold at a level."""

from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Level
from overclock.recipe.project.project import Project


def levels_up_to(project: Project, level: int) -> list[Level]:
    """Hygiene, every level of the project up to this one, and from level 3 on held-out episodes; in this order."""
    needed: list[Level] = [HYGIENE, *(one for one in project.judging.levels if one <= level)]
    if level >= 3:
        needed.append(HELD_OUT)
    return needed


def levels_to_rank_by(project: Project, level: int) -> list[Level]:
    """What decides which of several candidates is best in the phase of a level.

    As far up as costs no training, whatever the phase: judging costs time, a wrong choice costs another repair.
    """
    return levels_up_to(project, max(level, min(3, max(project.judging.levels))))
