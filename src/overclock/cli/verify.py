"""`overclock verify`: is the fast environment the same as its reference?"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import tyro

from overclock.cli import output
from overclock.errors import UsageError
from overclock.verify.text import divergence_text, level_text, rollouts, verdict_text, worst_text

LEVELS = (1, 2, 3, 4)
EXIT_CODES = {"pass": 0, "fail": 1, "inconclusive": 3, "could not verify": 4}


@dataclasses.dataclass
class Verify:
    """Compare an environment with its reference: functions, scenarios, whole episodes, trained policies.

    Both sides run in processes of their own, with the same actions and the same random draws (recorded from the
    reference). Exit codes: 0 every requested level passed, 1 a difference, 3 inconclusive, 4 no verdict was possible.

    Examples:
      overclock verify cartpole
      overclock verify cartpole --level 3 --episodes 1000 --json
      overclock verify cartpole --plant polemass-plus --level 1
    """

    env: Annotated[str, tyro.conf.Positional]
    """Id of the environment, for example cartpole."""
    level: int = 4
    """Run levels 1 to this one: 1 property, 2 interaction, 3 rollout, 4 transfer."""
    only: int | None = None
    """Run this level alone."""
    episodes: int = 100
    """Episodes per comparison of level 3; n clean ones bound the diverging share below 3/n at 95 % confidence."""
    seed: int = 0
    """First seed of the episodes."""
    timeout: float = 120.0
    """Seconds after which a side that does not answer is stopped."""
    plant: str | None = None
    """Put a known bug of this name into the performance side, to see that it is found (polemass-plus, say)."""
    output: Path | None = None
    """Folder for report.html, report.md and report.json."""
    json: bool = False
    """Print one JSON object (schema overclock.verify/1) instead of tables."""

    def run(self) -> int:
        """Compare and print."""
        from overclock.files import check_folder
        from overclock.report.page import write_report
        from overclock.verify.engine import verify

        chosen = self.level if self.only is None else self.only
        if chosen not in LEVELS:
            raise UsageError(f"There are levels 1 to 4, got {chosen}.")
        if self.output is not None:
            check_folder(self.output)
        levels = range(1, self.level + 1) if self.only is None else [self.only]
        with Progress() as progress:
            report = verify(self.env, self.episodes, self.seed, self.timeout, list(levels), self.plant, progress)
        page = None if self.output is None else write_report(self.output, report, None)
        if self.json:
            output.emit(report)
        else:
            show(report)
            if page is not None:
                print(f"page: {page}")
        return EXIT_CODES[report["verdict"]]


class Progress:
    """A progress bar per comparison, on stderr."""

    def __enter__(self) -> "Progress":
        import rich.progress

        self._bars = rich.progress.Progress(console=output.console(), transient=True)
        self._tasks: dict[str, Any] = {}
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
        self._bars.update(self._tasks[name], completed=done)


def show(report: dict[str, Any]) -> None:
    """The report as tables for people."""
    output.table(
        ["level", "verdict", "what was seen"],
        [[f"{level['level']} {level['name']}", level["verdict"], level_text(level)] for level in report["levels"]],
        title=f"{report['env']} against {report['reference']}",
    )
    if comparisons := rollouts(report):
        rows = [
            [
                c["actions"], c["precision"], c["mode"].replace("_", " "), f"{c['episodes']:,}", f"{c['steps']:,}",
                worst_text(c), "equal" if c["passed"] else "DIFFERENT",
            ]
            for c in comparisons
        ]  # fmt: skip
        columns = ["actions", "precision", "synchronised", "episodes", "steps", "largest error", "verdict"]
        output.table(columns, rows, title="level 3, whole episodes")
        for comparison in comparisons:
            if comparison["first_divergence"] is not None:
                print(divergence_text(comparison["first_divergence"]))
    print(verdict_text(report))
