"""Tables that the page and the Markdown file share, and how numbers are written in them."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from overclock.verify.tolerance import Tolerance

Kind = Literal["text", "number", "words", "code", "verdict"]

GOOD = {"pass", "passed", "equal", "equivalent", "consistent", "holds"}
BAD = {"fail", "failed", "DIFFERENT", "different", "stale"}
IDLE = {"not run", "-"}
FEW_VALUES = 12  # an array longer than this is shown by its first values


@dataclasses.dataclass(frozen=True)
class Table:
    """Cells as text; a column's kind says how the page shows them."""

    columns: Mapping[str, Kind]
    rows: list[list[str]]
    marked: frozenset[int] = frozenset()  # rows that stand out

    def markdown(self) -> str:
        """For a document: one line per row."""
        rule = ["---:" if kind == "number" else "---" for kind in self.columns.values()]
        lines = [list(self.columns), rule, *([_cell(text) for text in row] for row in self.rows)]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def tone(verdict: str) -> str:
    """What a verdict means to a reader: good, bad, open or idle."""
    for name, verdicts in (("good", GOOD), ("bad", BAD), ("idle", IDLE)):
        if verdict in verdicts:
            return name
    return "open"


def small(value: float | None) -> str:
    """An error or a tolerance: two digits are enough."""
    if value is None or math.isnan(value):
        return "not a number"
    return "infinite" if math.isinf(value) else f"{value:.2g}"


def tolerance_text(tolerance: Tolerance) -> str:
    """What is allowed: an absolute part, and a part of the value; of parts by element the smallest and the largest."""
    absolute = tolerance.absolute if isinstance(tolerance.absolute, tuple) else (tolerance.absolute,)
    low, high = small(min(absolute, default=0.0)), small(max(absolute, default=0.0))
    parts = [low if low == high else f"{low} to {high}"] if any(absolute) or not tolerance.relative else []
    parts += [f"{small(tolerance.relative)} of the value"] if tolerance.relative else []
    return " + ".join(parts) + ("; whole numbers equal" if np.any(tolerance.whole) and tolerance else "")


def signed(value: float | None) -> str:
    """A difference with its sign."""
    return "-" if value is None else f"{value:+.4g}"


def shown(value: Any) -> str:
    """A value of a side, to its last digit; a long array by its beginning."""
    flat = flattened(value)
    if len(flat) <= FEW_VALUES:
        return f"{value}"
    return f"[{', '.join(map(str, flat[:FEW_VALUES]))}, ... {len(flat):,} values]"


def flattened(value: Any) -> list[Any]:
    """The numbers of a nested list, in order."""
    return [inner for item in value for inner in flattened(item)] if isinstance(value, list | tuple) else [value]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
