"""`overclock redteam`: does the judge catch every candidate that cheats?"""

import dataclasses
import math
from typing import TYPE_CHECKING

from overclock.cli import output
from overclock.errors import UsageError

if TYPE_CHECKING:
    from overclock.recipe.redteam.result import RedteamReport


@dataclasses.dataclass
class Redteam:
    """Try candidates that cheat, in every way we know, and show which layers of the judge catch them.

    Each one is a CartPole that calls the reference, replays recordings, edits tests, patches the judge, ends or floods
    its process, and so on. An honest candidate is tried with them and must pass. Exit code 0: all were caught and the
    honest one passed; 1: otherwise.

    Examples:
      overclock redteam
      overclock redteam --only host-callback
      overclock redteam --without-scan
      overclock redteam --list
      overclock redteam --sandbox none --json
    """

    only: str | None = None
    """Try only the cheat of this name (and the honest candidate)."""
    sandbox: str = "best"
    """What they run in: bubblewrap, landlock or none; by default the strongest that works here."""
    seed: int | None = None
    """Repeat the held-out episodes of an earlier run; drawn afresh by default."""
    jobs: int | None = None
    """Suspects tried side by side; by default one per core, at most 4."""
    timeout: float = 120.0
    """Seconds after which a suspect that does not answer is stopped."""
    without_scan: bool = False
    """Read nobody's source: only what stands behind the static scan can catch them. The figure is in every run."""
    list: bool = False
    """Only list the cheats: what each does, and what is there to catch it behind the static scan."""
    json: bool = False
    """Print one JSON object (schema overclock.redteam/1) instead of a table."""

    def run(self) -> int:
        """Try the cheats and print the report; returns the exit code."""
        from overclock.cli.progress import ProgressDisplay
        from overclock.recipe.redteam import find_cheats, redteam

        if not 0 < self.timeout < math.inf:
            raise UsageError(f"--timeout must be a number of seconds above 0, got {self.timeout:g}.")
        if self.list:
            cheats = find_cheats(self.only)
            output.table(["cheat", "what it does", "caught by"], [[one.name, one.what, one.wall] for one in cheats])
            return 0
        with ProgressDisplay() as progress:
            report = redteam(
                self.only, self.sandbox, self.seed, self.jobs, self.timeout, progress, scan=not self.without_scan
            )
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0 if report.caught == report.total and report.control.passed else 1


def show(report: "RedteamReport") -> None:
    """The report as a table for people."""
    rows = [
        [cheat.name, cheat.what, ", ".join(one.layer for one in cheat.layers) or "NOT CAUGHT", f"{cheat.seconds:.0f}"]
        for cheat in report.cheats
    ]
    title = f"sandbox: {report.sandbox}, seed {report.seed}, {report.seconds:.0f} s"
    output.table(["cheat", "what it does", "caught by", "s"], rows, title=title)
    control = report.control
    if control.passed:
        print("The honest candidate passed.")
    else:
        print(f"The honest candidate was caught by {control.by}: {control.sentence}")
    behind = "" if not report.scan else f", {report.caught_without_scan} also without the static scan"
    print(f"{report.caught} of {report.total} caught{behind}")
