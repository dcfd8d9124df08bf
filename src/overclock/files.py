"""Files that appear only when they are complete, and numbers that JSON can hold."""

import contextlib
import math
import os
from pathlib import Path
from typing import Any

from overclock.errors import UsageError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside its place and rename it; its folder is made if need be."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    except OSError as error:
        _forget(unfinished)
        raise UsageError(f"Cannot write '{path}': {error.strerror}; choose another place.") from error
    except BaseException:
        _forget(unfinished)
        raise


def _forget(unfinished: Path) -> None:
    with contextlib.suppress(OSError):
        unfinished.unlink()


def check_folder(path: Path) -> None:
    """Refuse a place for results that cannot be a folder, before any work is done."""
    for place in (path, *path.parents):
        if place.exists():
            if not place.is_dir():
                raise UsageError(f"'{place}' is a file, not a folder; choose another place for the results.")
            return


def finite(value: Any) -> Any:
    """The same value from JSON's own types: arrays by their numbers, paths by their names, NaN and infinity as null."""
    if isinstance(value, dict):
        return {str(key): finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    if isinstance(value, os.PathLike):
        return str(value)
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
