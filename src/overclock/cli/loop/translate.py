"""`overclock translate`, `resume` and `submit`: runs of the closed loop."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from overclock.cli import output
from overclock.cli.loop.options import EXIT_CODES, AgentCommand, show_end
from overclock.cli.progress import ProgressDisplay
from overclock.errors import UsageError
from overclock.results import encode

if TYPE_CHECKING:
    from overclock.recipe.loop.context import RunOptions
    from overclock.recipe.loop.translate import Finished
    from overclock.recipe.runs.cost import Cost


@dataclasses.dataclass(kw_only=True)
class _Run(AgentCommand):
    """What every one of the three commands takes, and how it ends."""

    recorded: str | None = None
    """A run whose answers are given again to an agent api:...:MODEL instead of asking a model; nothing is paid."""
    json: bool = False
    """Print one JSON object (schema overclock.translate/1) when it ends."""

    def run_options(self, **more: Any) -> "RunOptions":
        """The options of a run, with the run whose answers are repeated."""
        from overclock.recipe.runs.run import find

        return super().run_options(recorded=None if self.recorded is None else find(self.recorded), **more)

    def resume(self, run_name: str, note: str = "", submitted: bool = False, discard: bool = False) -> int:
        """Continue a run and say how it ended."""
        from overclock.recipe.loop.translate import project_of_run, resume
        from overclock.recipe.runs.run import find

        folder = find(run_name)
        project = project_of_run(folder)
        with ProgressDisplay() as progress:
            options = self.run_options(say=progress.say, progress=progress)
            finished = resume(project, folder, options, note, submitted, self.changes(), discard)
        return self.end(finished)

    def end(self, finished: "Finished") -> int:
        """Print how a run ended; returns the exit code."""
        if self.json:
            output.emit({"schema": "overclock.translate/1", **encode(finished)})
        else:
            print(f"{finished.outcome}{_spent(finished.cost)}: {finished.sentence}")
            show_end(finished)
        return EXIT_CODES[finished.outcome]


def _spent(cost: "Cost") -> str:
    if cost.nothing_used:
        return ""
    return " (cost not reported)" if cost.dollars is None else f" (${cost.dollars:.4f} spent)"


@dataclasses.dataclass(kw_only=True)
class Translate(_Run):
    """Translate a project: module by module, judged level by level, failures go back to the agent, the budget holds.

    SOURCE is a project (a folder with overclock.toml), or a reference as `overclock new` takes it: then the project is
    made first, in ./NAME, and without --agent the built-in translator does the work: small, self-contained Python
    environments, with no model and no key. --all-known translates every environment that it is known for. Exit codes:
    0 done, 1 stuck or out of budget, 3 waiting for you or inconclusive, 4 no verdict was possible.

    Examples:
      overclock translate CartPole-v1
      overclock translate my_cartpole
      overclock translate gymnasium:CartPole-v1 --to jax --agent claude --budget 10
      overclock translate --all-known --json
    """

    source: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[SOURCE]")] = None
    """A project, or a reference; left out with --all-known and --known."""
    to: Literal["jax", "rust"] | None = None
    """The target of a new project."""
    levels: tuple[int, ...] | None = None
    """Levels to judge by; by default those of the project (1 2 3 4)."""
    no_repair: bool = False
    """Send no failure back to the agent: the first one ends the run."""
    no_optimise: bool = False
    """Leave it as it is once it holds, instead of making it faster."""
    fallback: str | None = None
    """Who translates what the built-in translator refuses, such as claude; told where it stopped and why."""
    run_id: str | None = None
    """Name of the run; by default the project's and the time."""
    all_known: bool = False
    """The built-in translator on its known environments, levels 1 to 3; --json has schema overclock.known/1."""
    known: tuple[str, ...] = ()
    """Some of them, by name."""
    output: Path | None = None
    """Where --all-known and --known make their projects; by default runs/known."""
    no_measure: bool = False
    """Do not time the known ones beside their originals."""
    mutants: int = 0
    """Mistakes to plant in each of the known ones, to see how many the levels find; 40 take some minutes."""

    def run(self) -> int:
        """Translate, then print how it ended."""
        if self.all_known or self.known:
            return self._translate_known()
        if self.source is None:
            raise UsageError("What shall be translated? Give a project or a reference, such as CartPole-v1.")
        from overclock.recipe.loop.context import OptionalSteps
        from overclock.recipe.loop.translate import translate
        from overclock.recipe.project.apart import find_or_make_project_apart

        steps = OptionalSteps(not self.no_repair, not self.no_optimise)
        project, program = find_or_make_project_apart(self.source, self.to, self.agent, self.fallback, output.say)
        with ProgressDisplay() as progress:
            options = self.run_options(steps=steps, say=progress.say, progress=progress)
            changes = self.changes(self.levels)
            finished = translate(project, self.run_id, options, changes, program=program)
        return self.end(finished)

    def _translate_known(self) -> int:
        from overclock.cli.loop.known import run_known

        if self.source is not None:
            raise UsageError(f"--all-known has a list of its own; leave '{self.source}' out.")
        return run_known(self.known, self.output, self.run_options(), not self.no_measure, self.mutants, self.json)


@dataclasses.dataclass(kw_only=True)
class Resume(_Run):
    """Go on with a run that was stopped, killed, stuck or out of budget; nothing that is finished is done again.

    Examples:
      overclock resume my_cartpole/runs/my_cartpole-20261115-120000
      overclock resume RUN --budget 20 --note "the reward is per step, not per episode"
      overclock resume RUN --agent claude --discard
    """

    run_name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder or id of the run, or its project's folder, whose newest run it is then."""
    note: str = ""
    """What you did about it, for the journal."""
    discard: bool = False
    """Throw away what you have written for the task that a run waits for; without it, such a run is not resumed."""

    def run(self) -> int:
        """Continue, then print how it ended."""
        return self.resume(self.run_name, self.note, discard=self.discard)


@dataclasses.dataclass(kw_only=True)
class Submit(_Run):
    """Hand in the candidate that a waiting run asked you for, and go on.

    A run that waits for your approval takes none: `overclock resume` approves what it shows.

    Examples:
      overclock submit my_cartpole/runs/my_cartpole-20261115-120000
    """

    run_name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder or id of the run, or its project's folder, whose newest run it is then."""

    def run(self) -> int:
        """Hand in, continue, then print how it ended."""
        return self.resume(self.run_name, submitted=True)
