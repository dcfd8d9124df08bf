"""`overclock verify`: is the fast environment the same as its reference?"""

import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from overclock.cli import output
from overclock.cli.arguments import EnvId
from overclock.cli.progress import ProgressDisplay
from overclock.env import registry
from overclock.errors import UnknownEnvironmentError, UsageError
from overclock.verify.margins import margin_rows, warning_lines
from overclock.verify.reach.reached import reached_lines
from overclock.verify.text import (
    closing_lines,
    divergence_text,
    level_text,
    made_with,
    performance_name,
    repro_lines,
    worst_text,
)

if TYPE_CHECKING:
    from overclock.verify.repro.result import ReproSummary
    from overclock.verify.result import VerifyReport

LEVELS = (1, 2, 3, 4)
EXIT_CODES = {"pass": 0, "fail": 1, "inconclusive": 3, "could not verify": 4}


@dataclasses.dataclass
class Verify:
    """Compare an environment with its reference: functions, scenarios, whole episodes, trained policies.

    Both sides run in processes of their own, with the same actions and the same random draws (recorded from the
    reference). A level that fails ends the run with a repro, the shortest episode that shows the difference. The page,
    report.html, is written to the output folder. Exit codes: 0 every requested level passed, 1 a difference,
    3 inconclusive (such as branches of the reference that no comparison took), 4 no verdict was possible.

    Examples:
      overclock verify cartpole
      overclock verify cartpole --level 3 --episodes 1000 --json
      overclock verify cartpole --plant polemass-plus
      overclock verify cartpole --backend c
    """

    env: EnvId
    """Id of an environment, such as cartpole; or a folder with a twin.py; or 'package.module:function' for a Twin."""
    level: int | None = None
    """Run levels 1 to this one (1 property, 2 interaction, 3 rollout, 4 transfer); all four by default."""
    only: int | None = None
    """Run this level alone, instead of --level."""
    episodes: int = 100
    """Episodes per comparison of level 3; n clean ones bound the diverging share below 3/n at 95 % confidence."""
    seed: int = 0
    """First seed of the episodes, from 0 to 2147483647."""
    timeout: float = 120.0
    """Seconds after which a side that does not answer is stopped."""
    plant: str | None = None
    """Put a known bug of this name into the performance side, to see that it is found (polemass-plus, say)."""
    backend: Literal["xla", "c", "cuda"] | None = None
    """What computes the performance side: its rules under XLA, or as a kernel of C or CUDA (on an NVIDIA GPU). By
    default XLA; training at level 4 steps by the kernel where the environment's plan says so."""
    keep_going: bool = False
    """Run the remaining levels, too, after one has failed."""
    output: Path | None = None
    """Folder for report.html, report.md, report.json and repro/. By default runs/verify-ENV, with a kernel
    runs/verify-ENV-c or -cuda, with a planted bug -plant-BUG after it; there every run replaces the report and the
    repros of the one before."""
    write_tests: Path | None = None
    """Folder for level 1 as pytest files with their recorded cases, which run without the reference."""
    json: bool = False
    """Print one JSON object (schema overclock.verify/1) instead of tables."""

    def run(self) -> int:
        """Compare the two sides, write the page, print the report; returns the exit code."""
        from overclock.bench.kept import last_measurement
        from overclock.files import check_folder
        from overclock.report.page import FILES, write_report
        from overclock.verify.engine import verify
        from overclock.verify.result import NoVerdict
        from overclock.verify.sides.process import CouldNotVerifyError
        from overclock.verify.twins import find_twin, require_loadable

        levels = self._levels()
        folder = self.output or Path("runs") / _folder_name(self.env, self.backend, self.plant)
        for place in (folder, self.write_tests):
            if place is not None:
                check_folder(place)
        require_loadable(self.env, self.timeout)
        with output.stdout_kept():
            found = find_twin(self.env)
        shown: list[VerifyReport] = []  # at most one: a difference is told before it is studied further
        try:
            with ProgressDisplay() as progress:

                def tell(report: "VerifyReport") -> None:
                    write_report(folder, report, last_measurement(report.env))
                    if not self.json:
                        with progress.paused():
                            show(report)
                    shown.append(report)

                report = verify(
                    found, self.episodes, self.seed, self.timeout, levels, self.plant, self.backend, self.keep_going,
                    folder, self.write_tests, progress, tell,
                )  # fmt: skip
        except CouldNotVerifyError as error:
            for name in FILES:  # an earlier page would say something about now
                (folder / name).unlink(missing_ok=True)
            self._forget_repros(folder, None)
            if not self.json:
                raise
            output.emit(NoVerdict(env=found.twin.name, backend=self.backend, reason=str(error)))
            return error.exit_code
        self._forget_repros(folder, report.repro)
        page = write_report(folder, report, last_measurement(report.env))
        if self.json:
            output.emit(report)
        else:
            if not shown:
                show(report)
            for said in [*closing_lines(report), f"page: {page}"]:
                print(said)
        return EXIT_CODES[report.verdict]

    def _levels(self) -> list[int]:
        if self.level is not None and self.only is not None:
            raise UsageError("--level N runs levels 1 to N and --only N one level; choose one of them.")
        last = LEVELS[-1] if self.level is None else self.level
        levels = range(1, last + 1) if self.only is None else [self.only]
        if not levels or levels[-1] not in LEVELS:
            raise UsageError(f"There are levels 1 to 4, got {last if self.only is None else self.only}.")
        if self.write_tests is not None and 1 not in levels:
            raise UsageError(f"--write-tests needs level 1, which records the cases; leave --only {self.only} away.")
        return list(levels)

    def _forget_repros(self, folder: Path, kept: "ReproSummary | None") -> None:
        """Remove earlier runs' repros, which would be taken for this one's; a folder of the user's stays as it is."""
        if self.output is None and (folder / "repro").is_dir():
            for old in (folder / "repro").iterdir():
                if kept is None or kept.folder != str(old):
                    shutil.rmtree(old, ignore_errors=True)
            if kept is None:
                shutil.rmtree(folder / "repro", ignore_errors=True)


def show(report: "VerifyReport") -> None:
    """The report as tables for people, and the repro."""
    output.table(
        ["level", "verdict", "what was seen"],
        [[f"{level.level} {level.name}", level.verdict, level_text(level)] for level in report.levels],
        title=f"{performance_name(report)} against {report.reference}",
    )
    if report.comparisons:
        rows = [
            [
                c.actions, c.precision, c.mode.replace("_", " "), f"{c.episodes:,}", f"{c.steps:,}", worst_text(c),
                "equal" if c.passed else "DIFFERENT",
            ]
            for c in report.comparisons
        ]  # fmt: skip
        columns = ["actions", "precision", "synchronised", "episodes", "steps", "largest error", "verdict"]
        output.table(columns, rows, title="level 3, whole episodes")
        for comparison in report.comparisons:
            if comparison.first_divergence is not None:
                print(divergence_text(comparison.first_divergence))
    for said in reached_lines(None if report.rollouts is None else report.rollouts.reached):
        print(said)
    if report.margins:
        columns, rows = margin_rows(report.margins)
        output.table(columns, rows, title="margins: how many times as much is allowed as was seen")
        for said in warning_lines(report.margins):
            print(said)
    if report.tests is not None:
        count, folder = len(report.tests), Path(report.tests[0]).parent
        print(f"tests: {count} pytest files and their {count} data files in {folder}")
    print(made_with(report))
    for said in repro_lines(report):
        print(said)


def _folder_name(target: str, backend: str | None, plant: str | None) -> str:
    """What the default folder is called after: the full id, an entry point without its colon, a folder's name."""
    from overclock.verify.twins import is_folder

    if is_folder(target):
        name = Path(target).resolve().name
    elif ":" in target:
        name = target.replace(":", ".")
    else:
        try:
            name = registry.spec(target).id
        except UnknownEnvironmentError as error:
            raise UnknownEnvironmentError(f"{error} Nor is it a folder with a twin.py.") from error
    kernel = "" if backend is None else f"-{backend}"
    return f"verify-{name}{kernel}" + ("" if plant is None else f"-plant-{plant}")
