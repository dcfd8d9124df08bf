"""Writing into an agent's home. The agent has worked in there, so whatever may be a link is never followed.

Every step goes through the open folder above it. Something of another kind than the one that is needed is removed: the
home is there for our settings, and a link or a file in the place of a folder is nothing that an agent needs.
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
    """A folder below the home; the home as well."""
    with _open(home, PurePosixPath(name).parts):
        pass


def write_file(home: Path, name: str, content: bytes) -> None:
    """A file below the home, in place of whatever has its name."""
    *parents, last = PurePosixPath(name).parts
    with _open(home, parents) as folder:
        with contextlib.suppress(FileNotFoundError):
            _remove(last, folder)
        with os.fdopen(os.open(last, NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)


@contextlib.contextmanager
def _open(home: Path, parts: Sequence[str]) -> Iterator[int]:
    """The innermost of these folders, made where it is missing."""
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
