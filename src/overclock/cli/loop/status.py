"""`overclock status`: where does a run stand?"""

import dataclasses
from typing import Annotated

import tyro

from overclock.cli import output
from overclock.results import encode

RunName = Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[RUN]")]


@dataclasses.dataclass
class Status:
    """Show where a run stands: phase, level, tests passing, iterations, tokens, dollars, time, what it waits for.

    Works while the run is under way, and after it was killed.

    Examples:
      overclock status
      overclock status my_cartpole
      overclock status my_cartpole/runs/my_cartpole-20261115-120000 --json
    """

    run_name: RunName = None
    """Folder or id of a run, or its project's folder; by default the run here in which something happened last."""
    json: bool = False
    """Print one JSON object (schema overclock.status/1) instead of a table."""

    def run(self) -> int:
        """Read the journal and print the status."""
        from overclock.recipe.runs.run import Run, find
        from overclock.recipe.runs.status import status
        from overclock.recipe.runs.words import status_lines

        with Run.open(find(self.run_name)) as run:
            found = status(run.journal)
        if self.json:
            output.emit({**encode(found), "run": run.folder})
        else:
            output.table(["run", str(run.folder)], [list(pair) for pair in status_lines(found)])
        return 0
