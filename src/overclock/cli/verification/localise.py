"""`overclock localise`: how far does a level's report narrow a mistake down?"""

import dataclasses
from typing import TYPE_CHECKING

from overclock.cli import output
from overclock.cli.arguments import EnvId

if TYPE_CHECKING:
    from overclock.recipe.studies.localise_result import LocaliseReport, ViewSummary


@dataclasses.dataclass
class Localise:
    """Plant mistakes in an environment, one at a time, and measure how much code each level leaves to search.

    For every mistake that a level notices: the lines that could hold it, given what the level reports, as a share of
    the lines on which a mistake can be planted; and whether the mistake is among them. docs/localisation.md defines it.
    No model is involved.

    Examples:
      overclock localise cartpole --sample 40
      overclock localise cartpole --json
    """

    env: EnvId
    """Id of the environment, for example cartpole."""
    sample: int | None = None
    """Plant only so many, chosen at random by the seed."""
    episodes: int = 100
    """Random episodes of level 3."""
    seed: int = 0
    """Seed of the recorded episodes and of the sample."""
    jobs: int | None = None
    """Mutants examined side by side; by default one per core, at most 8."""
    timeout: float = 60.0
    """Seconds after which a mutant that does not answer counts as broken down."""
    json: bool = False
    """Print one JSON object (schema overclock.localise/1) instead of a table."""

    def run(self) -> int:
        """Examine the mutants and print the report."""
        from overclock.cli.progress import ProgressDisplay
        from overclock.recipe.studies.localise import localise

        with ProgressDisplay() as progress:
            report = localise(self.env, self.sample, self.episodes, self.seed, self.timeout, self.jobs, progress)
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0


def show(report: "LocaliseReport") -> None:
    """The report as a table for people."""
    rows = [[name, f"{view.noticed} of {report.mutants}", *_cells(view)] for name, view in report.views.items()]
    columns = ["what is known", "noticed", "lines left", "share", "mean", "has function", "has line", "facts"]
    title = f"{report.env}: {report.mutants} mutants, {report.lines} lines, {report.seconds:.0f} s"
    output.table(columns, rows, title=title)
    for name, pair in report.paired.items():
        if pair.mutants:
            print(
                f"Full hierarchy against {name}, {pair.mutants} mutants that both notice: fewer lines left in "
                f"{pair.hierarchy_leaves_fewer}, the same in {pair.the_same}, more in {pair.hierarchy_leaves_more}."
            )


def _cells(view: "ViewSummary") -> list[str]:
    """The numbers of a view; empty where it notices nothing."""
    numbers = (
        (view.lines_median, "g"), (view.share_median, ".0%"), (view.share_mean, ".0%"), (view.has_function, ".1%"),
        (view.has_line, ".1%"), (view.facts_mean, ".1f"),
    )  # fmt: skip
    return ["" if number is None else format(number, form) for number, form in numbers]
