"""`overclock update`: a reference has moved on; translate again what changed."""

import dataclasses
from typing import TYPE_CHECKING

from overclock.cli import output
from overclock.cli.arguments import ProjectFolder
from overclock.cli.loop.options import EXIT_CODES, AgentCommand, show_end
from overclock.results import encode

if TYPE_CHECKING:
    from overclock.recipe.project.update import UpdateReport

ASKS = 3  # exit code: somebody has to look at it first


@dataclasses.dataclass(kw_only=True)
class Update(AgentCommand):
    """Find which modules of the reference changed since the last verified run, and translate only those again.

    Comments, docstrings and layout do not count. The run starts from the last verified candidate, and all earlier
    tests guard it. Scenarios that the reference no longer plays are listed, and so is what changes in the contract;
    with --accept they become what the reference does now. Exit codes: 0 done, or nothing to do; 1 stuck or out of
    budget; 3 waiting for you, also without --accept where it is needed; 4 no verdict was possible.

    Examples:
      overclock update my_env --dry-run
      overclock update my_env --accept --agent claude --budget 5
    """

    project: ProjectFolder
    """A folder with overclock.toml, and with a run that is done."""
    dry_run: bool = False
    """Only show what there is to do."""
    accept: bool = False
    """Record stale scenarios anew, and let the contract follow the reference."""
    run_id: str | None = None
    """Name of the run; by default the project's and the time."""
    json: bool = False
    """Print one JSON object (schema overclock.update/1) instead of tables."""

    def run(self) -> int:
        """Compare the reference, show what there is to do, and do it; returns the exit code."""
        from overclock.recipe.project.project import load_project
        from overclock.recipe.project.update import find_update, run_update, update_report

        with output.console().status("looking at the reference"):
            found = find_update(load_project(self.project))
        report = update_report(found)
        if not self.json:
            show(report)
        waits, finished = found.asks and not self.accept, None
        if not (self.dry_run or found.nothing or waits):
            finished = run_update(found, self.accept, self.run_id, self.run_options(), self.changes())
        if self.json:
            output.emit({**encode(report), **({} if finished is None else encode(finished))})
        elif finished is not None:
            print(f"{finished.outcome}: {finished.sentence}")
            show_end(finished)
        elif report.nothing:
            print("Nothing changed in the rules since then.")
        elif waits:
            print("Look at what would change above, then `overclock update --accept`.")
        if finished is not None:
            return EXIT_CODES[finished.outcome]
        return ASKS if waits and not self.dry_run else 0


def show(report: "UpdateReport") -> None:
    """Print what there is to do as a table and sentences."""
    rows = [[module.name, str(module.lines), module.what] for module in report.modules]
    rows += [[name, "", "gone"] for name in report.gone]
    output.table(["module", "lines", "since then"], rows, title=f"verified by {report.verified}")
    for sentence in report.contract:
        print(f"- contract: {sentence}")
    for name, sentence in report.stale.items():
        what = "cannot be played any more" if name in report.dropped else "is stale"
        print(f"- the scenario '{name}' {what}: {sentence}")
