"""`overclock verify`: is the fast environment the same as its reference?"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import tyro

from overclock.cli import output
from overclock.env import registry
from overclock.errors import UsageError
from overclock.verify.text import closing_lines, divergence_text, level_text, rollouts, worst_text

LEVELS = (1, 2, 3, 4)
EXIT_CODES = {"pass": 0, "fail": 1, "inconclusive": 3, "could not verify": 4}


@dataclasses.dataclass
class Verify:
    """Compare an environment with its reference: functions, scenarios, whole episodes, trained policies.

    Both sides run in processes of their own, with the same actions and the same random draws (recorded from the
    reference). A level that fails ends the run with a repro, the shortest episode that shows the difference. The page,
    report.html, is written to the output folder. Exit codes: 0 every requested level passed, 1 a difference,
    3 inconclusive, 4 no verdict was possible.

    Examples:
      overclock verify cartpole
      overclock verify cartpole --level 3 --episodes 1000 --json
      overclock verify cartpole --plant polemass-plus
    """

    env: Annotated[str, tyro.conf.Positional]
    """Id of an environment, such as cartpole; or a folder with a twin.py; or 'package.module:function' for a Twin."""
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
    keep_going: bool = False
    """Run the remaining levels, too, after one has failed."""
    output: Path | None = None
    """Folder for report.html, report.md, report.json and repro/; runs/verify-ENV by default."""
    write_tests: Path | None = None
    """Folder for level 1 as pytest files with their recorded cases, which run without the reference."""
    json: bool = False
    """Print one JSON object (schema overclock.verify/1) instead of tables."""

    def run(self) -> int:
        """Compare and print."""
        from overclock.files import check_folder
        from overclock.report.page import write_report
        from overclock.verify.engine import SCHEMA, verify
        from overclock.verify.process import CouldNotVerifyError

        chosen = self.level if self.only is None else self.only
        if chosen not in LEVELS:
            raise UsageError(f"There are levels 1 to 4, got {chosen}.")
        folder = self.output or Path("runs") / f"verify-{_name(self.env)}"
        for place in (folder, self.write_tests):
            if place is not None:
                check_folder(place)
        if self.write_tests is not None and (self.only or 1) != 1:
            raise UsageError("--write-tests needs level 1; leave --only away.")
        levels = range(1, self.level + 1) if self.only is None else [self.only]
        try:
            with Progress() as progress:
                report = verify(
                    self.env, self.episodes, self.seed, self.timeout, list(levels), self.plant, self.keep_going, folder,
                    self.write_tests, progress,
                )  # fmt: skip
        except CouldNotVerifyError as error:
            if not self.json:
                raise
            output.emit({"schema": SCHEMA, "env": self.env, "verdict": "could not verify", "reason": str(error)})
            return error.exit_code
        page = write_report(folder, report, None)
        if self.json:
            output.emit(report)
        else:
            show(report)
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
    for said in closing_lines(report):
        print(said)


def _name(target: str) -> str:
    """What the default folder is called after: the full id, an entry point without its colon, a folder's name."""
    from overclock.verify.twins import is_folder

    if is_folder(target):
        return Path(target).resolve().name
    return target.replace(":", ".") if ":" in target else registry.spec(target).id
