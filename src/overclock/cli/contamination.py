"""`overclock contamination`: does an agent translate, or does it know the environment by heart?"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import tyro

from overclock.cli import output
from overclock.cli.translate import Sandbox

EXIT_CODES = {"followed": 0, "recited": 1, "neither": 3, "unfinished": 3}


@dataclasses.dataclass
class Contamination:
    """Change constants of the reference in a private copy and let the same agent translate that.

    A translation follows the changed numbers. A model that recites the original from memory fails against the copy and
    passes against the original. The copy is a project of its own in PROJECT/control/SEED; a run of it that waits or
    was cut off is gone on with when the same command is given again. Exit codes: 0 followed, 1 recited, 3 no verdict.

    Examples:
      overclock contamination my_cartpole --agent claude --budget 5
      overclock contamination my_cartpole --seed 1 --json
    """

    project: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PROJECT")]
    """A folder with overclock.toml."""
    seed: int = 0
    """Decides which constants are changed, and by how much."""
    agent: str | None = None
    """Who translates; by default whom the project names."""
    model: str | None = None
    """The agent's model."""
    budget: float | None = None
    """Dollars that the run may cost."""
    repair: bool = True
    """Send failures back; the candidate before the first repair is looked at in any case."""
    sandbox: Sandbox = "best"
    """What keeps a candidate apart; none is stamped UNSANDBOXED in the report."""
    agent_sandbox: Sandbox = "best"
    """What keeps the agent apart."""
    upstream: str | None = None
    """Another address for the model, such as a proxy or a scripted server on loopback."""
    json: bool = False
    """Print one JSON object (schema overclock.contamination/1) instead of a table."""

    def run(self) -> int:
        """Work, print."""
        from overclock.recipe.contamination import control
        from overclock.recipe.loop import Options
        from overclock.recipe.project import Changes, load_project
        from overclock.recipe.translate import Ways

        ways = Ways(self.sandbox, self.agent_sandbox, self.upstream, options=Options(self.repair), say=_say)
        changes = Changes(self.agent, self.model, self.budget)
        found = control(load_project(self.project), self.seed, ways, changes)
        report = described(found, self.seed)
        if self.json:
            output.emit(report)
        else:
            show(report)
        return EXIT_CODES[found.verdict]


def described(found: Any, seed: int) -> dict[str, Any]:
    """What came of it, as plain data."""
    constants = [
        {"name": one.name, "file": Path(one.file).name, "line": one.line, "before": one.before, "after": one.after}
        for one in found.constants
    ]
    return {"schema": "overclock.contamination/1", "seed": seed, **dataclasses.asdict(found), "constants": constants}


def show(report: dict[str, Any]) -> None:
    """The same for people."""
    rows = [
        [one["name"], f"{one['file']}:{one['line']}", repr(one["before"]), repr(one["after"])]
        for one in report["constants"]
    ]
    output.table(["constant", "where", "before", "after"], rows)
    print(report["sentence"])
    print(f"run: {report['run']} ({report['outcome']})")


def _say(sentence: str) -> None:
    output.console().print(sentence, markup=False, highlight=False)
