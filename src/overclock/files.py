"""Files that appear only when they are complete."""

import contextlib
import os
from pathlib import Path

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
