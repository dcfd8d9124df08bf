"""`overclock report`: what a run did, step by step, and what it cost.

Not `report.py`: the package that draws pages has that name.
"""

import dataclasses

from overclock.cli import output
from overclock.cli.loop.status import RunName
from overclock.results import encode


@dataclasses.dataclass
class Report:
    """Write a run's report: every iteration with its verdict, cost and diff, what each level caught, the tests' curve.

    report.html, report.md and report.json are computed from the run's journal alone and written to its folder.

    Examples:
      overclock report
      overclock report my_cartpole
      overclock report my_cartpole/runs/my_cartpole-20261115-120000 --json
    """

    run_name: RunName = None
    """Folder or id of a run, or its project's folder; by default the run here in which something happened last."""
    json: bool = False
    """Print one JSON object (schema overclock.run/1) as well as writing the files."""

    def run(self) -> int:
        """Compute the report, write its files, print it."""
        from overclock.recipe.runs.page import summary, write_run_report
        from overclock.recipe.runs.report import run_report
        from overclock.recipe.runs.run import Run, find
        from overclock.recipe.runs.tables import iterations_table

        with Run.open(find(self.run_name)) as run:
            report = run_report(run)
            page = write_run_report(run.folder, report)
        if self.json:
            output.emit(encode(report))
            return 0
        table = iterations_table(report)
        output.table(list(table.columns), table.rows, title=report.project)
        for sentence in summary(report):
            print(sentence)
        print(f"page: {page}")
        return 0
