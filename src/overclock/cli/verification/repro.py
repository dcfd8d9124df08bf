"""`overclock repro`: does a recorded divergence still show?"""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from overclock.cli import output
from overclock.verify.text import as_kernel

if TYPE_CHECKING:
    from overclock.verify.repro.replay import ReplayedField, ReplayReport

CELL_WIDTH = 44  # characters of a value before it is cut


@dataclasses.dataclass
class Repro:
    """Replay a recorded divergence on both sides and say whether it is still there.

    DIR is a folder that a failed comparison wrote (repro/1, say). Exit code 0: no longer diverges; 1: still diverges;
    4: could not verify, for example because the reference does something else than when the repro was recorded.

    Examples:
      overclock repro repro/1
      overclock repro repro/1 --plant polemass-plus
      overclock repro repro/1 --json
    """

    dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Folder with a repro.json."""
    plant: str | None = None
    """Put a known bug into the performance side, by its name in the twin."""
    timeout: float = 120.0
    """Seconds after which a side that does not answer is stopped."""
    json: bool = False
    """Print one JSON object (schema overclock.replay/1) instead of a table."""

    def run(self) -> int:
        """Replay the repro and print the report; returns the exit code."""
        from overclock.verify.repro.replay import describe, replay, twin_of
        from overclock.verify.repro.repro import load_repro

        repro = load_repro(self.dir)
        twin = twin_of(repro, self.plant)
        report = describe(self.dir, replay(repro, twin, self.timeout), twin, self.plant)
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0 if report.finding is None else 1


def show(report: "ReplayReport") -> None:
    """Print the report as a table and a sentence."""
    columns = ["step", "action", "field", "reference", "performance", "error", "tolerance", ""]
    title = f"{report.twin}{as_kernel(report.backend)}, {report.precision}, {report.mode.replace('_', ' ')}"
    output.table(columns, [_cells(row) for row in report.steps], title=title)
    print(report.sentence)
    planted = report.recorded.plant
    if planted is not None and report.plant is None:
        print(f"It was recorded with the bug '{planted}' planted; --plant {planted} plants it again.")


def _cells(row: "ReplayedField") -> list[str]:
    values = [_cut(str(value)) for value in (row.step, row.action, row.field, row.reference, row.performance)]
    return [*values, f"{row.error:.3g}", f"{row.tolerance:.3g}", "DIFFERENT" if row.different else ""]


def _cut(text: str) -> str:
    return text if len(text) <= CELL_WIDTH else f"{text[: CELL_WIDTH - 3]}..."
