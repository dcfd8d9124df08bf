"""What a run works with, put together once (translate.py) and shared by everything that takes part in it."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Protocol

from overclock.recipe.agents.base import Agent, Endpoint
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import Level, Verdict
from overclock.recipe.loop.briefing import Briefing
from overclock.recipe.project.project import Project
from overclock.recipe.runs.run import Run


class Judging(Protocol):
    """What a run needs of a judge (judge.py)."""

    def judge(self, frozen: Frozen, level: Level, seed: int, module: str | None = None, attempt: int = 1) -> Verdict:
        """One level: of the whole candidate, or of what it has when a module but the last was translated."""
        ...

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second by batch."""
        ...

    def race(self, best: Frozen, new: Frozen) -> Race:
        """Two candidates timed by turns."""
        ...


@dataclasses.dataclass(frozen=True)
class Options:
    """What a run may leave out, for comparisons between ways of working."""

    repair: bool = True
    optimise: bool = True


@dataclasses.dataclass
class Parts:
    """Not frozen: a specification that became a reference goes on with another project and other prompts."""

    project: Project
    run: Run
    agents: tuple[Agent, ...]  # as many as candidates are made side by side; one works in the run's own folder
    judge: Judging
    briefing: Briefing
    endpoint: Endpoint | None = None
    options: Options = Options()
    submitted: bool = False  # a person has done the task that is under way
    remembered: Mapping[str, object] = dataclasses.field(default_factory=dict)  # facts that a resumed run needs
    say: Callable[[str], None] = lambda sentence: None

    @property
    def agent(self) -> str:
        """Who works, by name."""
        return self.agents[0].name


class Stop(Exception):  # noqa: N818 (an outcome, not an error)
    """The run ends here, for now."""

    def __init__(self, outcome: str, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome, self.sentence = outcome, sentence
