"""`overclock contamination`: does an agent translate, or does it know the environment by heart?"""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from overclock.cli import output
from overclock.cli.arguments import ProjectFolder
from overclock.cli.loop.options import AgentCommand

if TYPE_CHECKING:
    from overclock.recipe.studies.contamination import Control

EXIT_CODES = {"followed": 0, "partly recited": 1, "recited": 1, "neither": 3, "unfinished": 3}


@dataclasses.dataclass(kw_only=True)
class Contamination(AgentCommand):
    """Change constants of the reference in a private copy and let the same agent translate that.

    A translation follows the changed numbers. A model that recites the original from memory fails against the copy and
    passes against the original. The copy is a project of its own in PROJECT/control/SEED; a run of it that waits or
    was cut off is gone on with when the same command is given again. Exit codes: 0 followed, 1 recited (or
    in part), 3 no verdict.

    Examples:
      overclock contamination my_cartpole --agent claude --budget 5
      overclock contamination my_cartpole --seed 1 --json
    """

    project: ProjectFolder
    """A folder with overclock.toml."""
    seed: int = 0
    """Decides which constants are changed, and by how much."""
    no_repair: bool = False
    """Send no failure back to the agent; the candidate before the first repair is looked at in any case."""
    json: bool = False
    """Print one JSON object (schema overclock.contamination/1) instead of a table."""

    def run(self) -> int:
        """Run the control, then print what came of it."""
        from overclock.recipe.loop.context import OptionalSteps
        from overclock.recipe.project.project import load_project
        from overclock.recipe.studies.contamination import control

        options = self.run_options(steps=OptionalSteps(not self.no_repair))
        found = control(load_project(self.project), self.seed, options, self.changes())
        if self.json:
            constants = [
                {
                    "name": one.name,
                    "file": Path(one.file).name,
                    "line": one.line,
                    "before": one.before,
                    "after": one.after,
                }
                for one in found.constants
            ]
            schema = {"schema": "overclock.contamination/1", "seed": self.seed}
            output.emit({**schema, **dataclasses.asdict(found), "constants": constants})
        else:
            show(found)
        return EXIT_CODES[found.verdict]


def show(found: "Control") -> None:
    """Print the constants that were changed, and the conclusion."""
    rows = [
        [one.name, f"{Path(one.file).name}:{one.line}", repr(one.before), repr(one.after)] for one in found.constants
    ]
    output.table(["constant", "where", "before", "after"], rows)
    print(found.sentence)
    print(f"run: {found.run} ({found.outcome})")
