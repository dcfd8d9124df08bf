"""Files that appear only when they are complete, and numbers that JSON can hold."""

import contextlib
import errno
import hashlib
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overclock.errors import UsageError

FULL = (errno.ENOSPC, errno.EDQUOT)


class FullDiskError(UsageError):
    """There is no space left on a disk; the message says for which file."""

    exit_code = 4


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside its place and rename it; its folder is made if need be."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _forget(unfinished)  # left by a kill, or a link that somebody put there: opening it anew follows none
        with unfinished.open("xb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError as error:
        _forget(unfinished)
        if error.errno in FULL:
            raise FullDiskError(f"Cannot write '{path}': {error.strerror}; make room, then do it again.") from error
        raise UsageError(f"Cannot write '{path}': {error.strerror}; choose another place.") from error
    except BaseException:
        _forget(unfinished)
        raise


def _forget(unfinished: Path) -> None:
    with contextlib.suppress(OSError):
        unfinished.unlink()


def kept(folder: Path, key: str, ending: str, make: Callable[[Path], None]) -> Path:
    """The file of a key in a cache, which `make(path)` writes where it is not there.

    Its name carries a digest of what is in it, so that a file which was damaged is known and made anew.
    """
    for path in sorted(folder.glob(f"{key}-*{ending}")):
        if path.name == _kept_name(key, path, ending):
            return path
        _forget(path)
    with tempfile.TemporaryDirectory(dir=folder, prefix="building-") as place:
        unfinished = Path(place) / f"{key}{ending}"
        make(unfinished)
        made = folder / _kept_name(key, unfinished, ending)
        os.replace(unfinished, made)
    return made


def _kept_name(key: str, path: Path, ending: str) -> str:
    return f"{key}-{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}{ending}"


def check_folder(path: Path) -> None:
    """Refuse a place for results that cannot be written to, before any work is done.

    A file is made and removed where the results will lie or, while that folder is missing, in the nearest one above it:
    permissions do not tell what a full, read-only or virtual file system does.
    """
    try:
        for place in (path, *path.parents):
            try:
                os.lstat(place)
            except (FileNotFoundError, NotADirectoryError):
                continue
            if not place.is_dir():
                raise UsageError(f"'{place}' is a file, not a folder; choose another place for the results.")
            with tempfile.NamedTemporaryFile(dir=place, prefix=".overclock-"):
                return
    except OSError as error:
        raise UsageError(f"Cannot write to '{path}': {error.strerror}; choose another place.") from error


def require_empty(folder: Path, what: str) -> None:
    """Refuse a place that has something in it already; `what` shall be written there."""
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"'{folder}' is not empty; choose a new folder for the {what}.")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; choose a new folder for the {what}.")


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
