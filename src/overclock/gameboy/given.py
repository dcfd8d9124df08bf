"""Checks of user input: whole numbers, paths, and bytes from a path or an open file."""

import os
from pathlib import Path
from typing import IO, Any, TypeGuard

import numpy as np

from overclock.errors import UsageError

AnyPath = str | os.PathLike[str]


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether this is a whole number; to Python, True is one."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """A whole number from `least` to `most`; refuses anything else."""
    if not is_whole(value) or value < least or (most is not None and value > most):
        limits = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise UsageError(f"{name} must be a whole number {limits}, got {value!r}.")
    return int(value)


def is_path(value: Any) -> TypeGuard[AnyPath]:
    """Whether this is the path of a file; never as bytes, which are a file's content."""
    return isinstance(os.fspath(value) if isinstance(value, os.PathLike) else value, str)


def content(name: str, source: AnyPath | bytes | IO[bytes]) -> bytes:
    """The bytes themselves, of the file at a path, or of an open file."""
    if is_path(source):
        try:
            return Path(source).read_bytes()
        except OSError as error:
            raise UsageError(f"{os.fspath(source)} cannot be read: {error.strerror}.") from error
    found = source if isinstance(source, bytes) else read(source)
    if found is None:
        raise UsageError(f"{name} must be a path, bytes or a file opened in binary, got {source!r}.")
    return found


def read(file: Any) -> bytes | None:
    """What is left of a file opened in binary; None where it is no such file."""
    try:
        found = file.read()
    except (AttributeError, TypeError, ValueError):  # not a file, or one that is closed or not for reading
        return None
    return found if isinstance(found, bytes) else None
