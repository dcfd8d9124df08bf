"""An agent without a model that repeats the work of an earlier run from that run's journal."""

from pathlib import Path

from overclock.recipe.agents.base import Endpoint, Task, Work
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.vocabulary import REFUSED


class ReplayAgent:
    """Each task leaves the candidate that the task of the same id left in that run, and ends in the same way.

    Nothing was asked of a model, so no usage is reported.
    """

    name = "replay"

    def __init__(self, run: Path) -> None:
        self.run = run

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """A task that the run did not finish is a crash."""
        with Run.open(self.run) as run:
            ends = [event.facts for event in run.journal.events("task ended") if event.facts["task"] == task.id]
            left = [event.facts for event in run.journal.events("candidate frozen") if event.facts["task"] == task.id]
            if not left or not ends or ends[-1]["ended"] == REFUSED:
                return Work("crashed", f"The run '{run.id}' has nothing to repeat for the task '{task.id}'.")
            run.restore(left[-1]["candidate"], task.folder)
            return Work(ends[-1]["ended"], ends[-1]["reason"], run.journal.blob(ends[-1]["text"]).decode())
