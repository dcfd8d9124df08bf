"""`overclock redteam`: does the judge catch every candidate that cheats?"""

import dataclasses
import math
from typing import Any

from overclock.cli import output
from overclock.errors import UsageError


@dataclasses.dataclass
class Redteam:
    """Try candidates that cheat, in every way we know, and show which layers of the judge catch them.

    Each one is a CartPole that calls the reference, replays recordings, edits tests, patches the judge, ends or floods
    its process, and so on. An honest candidate is tried with them and must pass. Exit code 0: all were caught and the
    honest one passed; 1: otherwise.

    Examples:
      overclock redteam
      overclock redteam --only host-callback
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
    json: bool = False
    """Print one JSON object (schema overclock.redteam/1) instead of a table."""

    def run(self) -> int:
        """Try the cheats and print the report; returns the exit code."""
        from overclock.cli.progress import ProgressDisplay
        from overclock.recipe.redteam import redteam

        if not 0 < self.timeout < math.inf:
            raise UsageError(f"--timeout must be a number of seconds above 0, got {self.timeout:g}.")
        with ProgressDisplay() as progress:
            report = redteam(self.only, self.sandbox, self.seed, self.jobs, self.timeout, progress)
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0 if report["caught"] == report["total"] and report["control"]["passed"] else 1


def show(report: dict[str, Any]) -> None:
    """The report as a table for people."""
    rows = [
        [
            cheat["name"],
            cheat["what"],
            ", ".join(layer["layer"] for layer in cheat["layers"]) or "NOT CAUGHT",
            f"{cheat['seconds']:.0f}",
        ]
        for cheat in report["cheats"]
    ]
    title = f"sandbox: {report['sandbox']}, seed {report['seed']}, {report['seconds']:.0f} s"
    output.table(["cheat", "what it does", "caught by", "s"], rows, title=title)
    control = report["control"]
    if control["passed"]:
        print("The honest candidate passed.")
    else:
        print(f"The honest candidate was caught by {control['by']}: {control['sentence']}")
    print(f"{report['caught']} of {report['total']} caught")
