"""What a run is carried out with: the options of its command, and what all of its steps share."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from overclock.progress import Progress, silent
from overclock.recipe.agents import Agent
from overclock.recipe.agents.base import Endpoint
from overclock.recipe.gateway.backend import ModelBackend
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import Level, Verdict
from overclock.recipe.loop.briefing import Briefing
from overclock.recipe.project.project import Project
from overclock.recipe.runs.run import Run


@dataclasses.dataclass(frozen=True)
class OptionalSteps:
    """Steps of the loop that a run may leave out; the journal remembers them."""

    repair: bool = True
    optimise: bool = True


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """How a run is carried out: sandboxes, addresses, programs, and who is told about its progress.

    Nothing of this decides whether a candidate is right.
    """

    sandbox: str = "best"
    agent_sandbox: str = "best"
    upstream: str | None = None  # another address for every kind of model, on loopback for example
    recorded: Path | None = None  # a run whose recorded calls are answered again, instead of asking a model
    program: str | None = None  # where an agent's program lies
    prices: Path | None = None
    steps: OptionalSteps = OptionalSteps()
    backend: ModelBackend | None = None  # instead of the providers' own addresses
    agent: Agent | None = None  # instead of the project's
    say: Callable[[str], None] = lambda sentence: None
    progress: Progress = silent


class CandidateJudge(Protocol):
    """What a run needs of a judge (judging/judge.py)."""

    def judge(self, frozen: Frozen, level: Level, seed: int, module: str | None = None, attempt: int = 1) -> Verdict:
        """Judge a candidate at one level, or one module of it that comes before the environment."""
        ...

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Return steps per second by batch size."""
        ...

    def race(self, best: Frozen, new: Frozen) -> Race:
        """Time two candidates by turns."""
        ...


@dataclasses.dataclass
class RunContext:
    """Shared by all steps of a run. Not frozen: a specification that became a reference has another project then."""

    project: Project
    run: Run
    agents: tuple[Agent, ...]  # as many as candidates are made side by side; the first works in the run's own folder
    judge: CandidateJudge
    briefing: Briefing
    options: RunOptions = RunOptions()
    endpoint: Endpoint | None = None
    submitted: bool = False  # a person has done the task that is under way
    remembered: Mapping[str, object] = dataclasses.field(default_factory=dict)  # facts that a resumed run needs

    @property
    def agent(self) -> str:
        """The name of the agent."""
        return self.agents[0].name


class Stop(Exception):  # noqa: N818 (an outcome, not an error)
    """The run ends here, for now, with this outcome."""

    def __init__(self, outcome: str, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome, self.sentence = outcome, sentence
