"""JSON files of training runs and policies: written whole, and read back with an error that names them."""

import json
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.files import write_whole


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file; it appears only when it is complete."""
    write_whole(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read one back; `what` names it in the error that a missing or damaged file causes."""
    try:
        content = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"There is no {what} at '{path}' ({error.strerror}).") from error
    except ValueError as error:
        raise UsageError(f"'{path}' is not a {what}, or it is damaged ({error}).") from error
    if not isinstance(content, dict):
        raise UsageError(f"'{path}' is not a {what}.")
    return content
