"""What commands print: one JSON object or a table on stdout; progress and messages on stderr, so that pipes stay clean.

Every import of rich is inside a function: `--json` and scripts start without it.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from overclock.files import finite
from overclock.results import encode

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 200  # columns of a table that goes to a file or a pipe, where nobody's window limits it


def emit(report: Any) -> None:
    """Print the one JSON object of a `--json` run: a dictionary or a dataclass that names its `schema`.

    Numbers that JSON lacks become null.
    """
    payload = encode(report)
    if not isinstance(payload.get("schema"), str):
        raise ValueError("A JSON report needs a 'schema' field, for example 'overclock.list/1'.")
    sys.stdout.write(json.dumps(finite(payload), allow_nan=False) + "\n")
    sys.stdout.flush()


def console() -> "Console":
    """Where progress and messages go: stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(sentence: str) -> None:
    """What goes on, for whoever watches stderr."""
    console().print(sentence, markup=False, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def stdout_kept() -> Iterator[None]:
    """Inside, what a user's own code prints goes to stderr, also past `sys.stdout`: stdout is for results."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table on stdout; cells are shown as they are, without markup, and the title is never broken."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if title is not None:
        print(title)
    shown = Table(*columns, box=None, pad_edge=False, header_style="bold")
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
