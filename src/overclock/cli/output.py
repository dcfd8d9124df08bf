"""What commands print: one JSON object or a table on stdout; progress and messages on stderr, so that pipes stay clean.

Every import of rich is inside a function: `--json` and scripts start without it.
"""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 200  # columns of a table that goes to a file or a pipe, where nobody's window limits it


def emit(payload: dict[str, Any]) -> None:
    """Print the one JSON object of a `--json` run. It must name its `schema`; numbers JSON lacks become null."""
    if not isinstance(payload.get("schema"), str):
        raise ValueError("A JSON report needs a 'schema' field, for example 'overclock.list/1'.")
    sys.stdout.write(json.dumps(_plain(payload), allow_nan=False) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """The same value from JSON's own types: NumPy and JAX values by their numbers, paths by their names."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def console() -> "Console":
    """Where progress and messages go: stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table on stdout; cells are shown as they are, without markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(*columns, title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    stdout = Console(highlight=False)
    if stdout.is_terminal:
        stdout.print(shown)
        return
    stdout = Console(highlight=False, width=PIPED_WIDTH)
    with stdout.capture() as text:
        stdout.print(shown)
    for row in text.get().splitlines():
        print(row.rstrip())
