"""`overclock translate`, `resume` and `submit`: runs of the closed loop."""

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from overclock.cli import output
from overclock.errors import UsageError

EXIT_CODES = {"done": 0, "stuck": 1, "out of budget": 1, "waiting": 3, "stopped": 4}
Sandbox = Literal["best", "bubblewrap", "landlock", "none"]


@dataclasses.dataclass(kw_only=True)
class _Ways:
    """Options that every one of the three commands takes."""

    sandbox: Sandbox = "best"
    """What keeps a candidate apart; none is stamped UNSANDBOXED in the report."""
    agent_sandbox: Sandbox = "best"
    """What keeps the agent apart: it writes its candidate, and reaches the gateway alone."""
    upstream: str | None = None
    """Another address for the model, such as a proxy or a scripted server on loopback."""
    program: str | None = None
    """Where the agent's program lies, if it is not on the PATH."""
    prices: Path | None = None
    """A price table of your own (TOML), for models that ours does not know or that cost you something else."""
    json: bool = False
    """Print one JSON object (schema overclock.translate/1) when it ends."""

    def ways(self, **more: Any) -> Any:
        """As `recipe.translate` wants them."""
        from overclock.recipe.translate import Ways

        given = (self.sandbox, self.agent_sandbox, self.upstream, self.program, self.prices)
        return Ways(*given, say=_say, **more)

    def end(self, finished: Any) -> int:
        """Say how it ended."""
        report = {"schema": "overclock.translate/1", **dataclasses.asdict(finished)}
        if self.json:
            output.emit(report)
        else:
            dollars = finished.cost["dollars"]
            spent = "cost not reported" if dollars is None else f"${dollars:.4f} spent"
            print(f"{finished.outcome} ({spent}): {finished.sentence}")
            print(f"run: {finished.run}; page: {finished.page}")
        return EXIT_CODES[finished.outcome]


@dataclasses.dataclass(kw_only=True)
class Translate(_Ways):
    """Translate a project: module by module, judged level by level, failures go back to the agent, the budget holds.

    SOURCE is a project (a folder with overclock.toml), or a reference as `overclock new` takes it: then the project is
    made first, in ./NAME. Exit codes: 0 done, 1 stuck or out of budget, 3 waiting for you, 4 no verdict was possible.

    Examples:
      overclock translate my_cartpole
      overclock translate gymnasium:CartPole-v1 --to jax --agent claude --budget 10
    """

    source: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE")]
    """A project, or a reference."""
    to: Literal["jax", "rust"] | None = None
    """The target of a new project."""
    agent: str | None = None
    """Who translates; by default whom the project names."""
    model: str | None = None
    """The agent's model."""
    budget: float | None = None
    """Dollars that this run may cost."""
    levels: tuple[int, ...] | None = None
    """Levels to judge by; by default those of the project (1 2 3 4)."""
    repair: bool = True
    """Send failures back; with --no-repair the first one ends the run."""
    optimise: bool = True
    """Make it faster once it holds."""
    run_id: str | None = None
    """Name of the run; by default the project's and the time."""

    def run(self) -> int:
        """Work, print."""
        from overclock.recipe.loop import Options
        from overclock.recipe.project import Changes
        from overclock.recipe.translate import translate

        changes = Changes(self.agent, self.model, self.budget, self.levels)
        ways = self.ways(options=Options(self.repair, self.optimise))
        return self.end(translate(self._project(), self.run_id, ways, changes))

    def _project(self) -> Any:
        from overclock.recipe.new import new_project
        from overclock.recipe.project import FILE, load_project
        from overclock.recipe.survey.source import resolve

        if (Path(self.source) / FILE).is_file():
            return load_project(Path(self.source))
        if Path(self.source).is_dir():
            raise UsageError(f"'{self.source}' is no project: it has no {FILE}; `overclock new` makes one.")
        return new_project(Path(resolve(self.source).name), self.source, self.to).project


@dataclasses.dataclass(kw_only=True)
class Resume(_Ways):
    """Go on with a run that was stopped, killed, stuck or out of budget; nothing that is finished is done again.

    Examples:
      overclock resume my_cartpole/runs/my_cartpole-20261115-120000
      overclock resume RUN --budget 20 --note "the reward is per step, not per episode"
    """

    run_name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of the run."""
    budget: float | None = None
    """A new limit in dollars, what is spent included."""
    agent: str | None = None
    """Another agent from here on."""
    note: str = ""
    """What you did about it, for the journal."""

    def run(self) -> int:
        """Work, print."""
        return self.end(_continued(self, submitted=False))


@dataclasses.dataclass(kw_only=True)
class Submit(_Ways):
    """Hand in the candidate that a waiting run asked you for, and go on.

    Examples:
      overclock submit my_cartpole/runs/my_cartpole-20261115-120000
    """

    run_name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder of the run."""

    def run(self) -> int:
        """Work, print."""
        return self.end(_continued(self, submitted=True))


def _continued(command: Any, submitted: bool) -> Any:
    from overclock.recipe.project import Changes, load_project
    from overclock.recipe.run import Run, find
    from overclock.recipe.translate import resume

    folder = find(command.run_name)
    with Run.open(folder) as run:
        project = load_project(Path(run.about["folder"]))
    changes = Changes(getattr(command, "agent", None), None, getattr(command, "budget", None))
    return resume(project, folder, command.ways(), getattr(command, "note", ""), submitted, changes)


def _say(sentence: str) -> None:
    output.console().print(sentence, markup=False, highlight=False)
