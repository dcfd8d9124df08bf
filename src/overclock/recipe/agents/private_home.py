"""Writes into an agent's private home without following links, which the agent may have put there.

Every step is relative to the open folder above it (openat). A link or a file in the place of a folder is removed: the
home is there for our settings, and an agent needs no such thing.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from overclock.errors import UsageError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def make_folder(home: Path, name: str) -> None:
    """Make a folder below the home, and the home itself."""
    with _open(home, PurePosixPath(name).parts):
        pass


def write_file(home: Path, name: str, content: bytes) -> None:
    """Write a file below the home; whatever has its name is removed first."""
    *parents, last = PurePosixPath(name).parts
    with _open(home, parents) as folder:
        with contextlib.suppress(FileNotFoundError):
            _remove(last, folder)
        with os.fdopen(os.open(last, NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)


@contextlib.contextmanager
def _open(home: Path, parts: Sequence[str]) -> Iterator[int]:
    """Open the innermost of these nested folders; missing ones are made. UsageError if that fails."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            folder = os.open(home, FOLDER)
            stack.callback(os.close, folder)
            for part in parts:
                folder = _step(part, folder)
                stack.callback(os.close, folder)
            yield folder
    except OSError as error:
        raise UsageError(
            f"The agent's home '{home}' cannot be written: {error}; remove it, or make it writable."
        ) from error


def _step(name: str, folder: int) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        pass
    except OSError:  # a link, or no folder
        os.unlink(name, dir_fd=folder)
    os.mkdir(name, 0o700, dir_fd=folder)
    return os.open(name, FOLDER, dir_fd=folder)


def _remove(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except (IsADirectoryError, PermissionError):  # as Linux and as macOS say it of a folder
        shutil.rmtree(name, dir_fd=folder)
