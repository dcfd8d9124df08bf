"""At most one process works on a run. The kernel holds the lock (flock), so it ends with its process in any case.

By hand instead of with filelock: that has no shared lock, with which many may look at once whether a run is worked on
and need no permission to write, and it falls back to a marker file, which outlives its process.
"""

import os
import time
from pathlib import Path
from typing import IO

from overclock.errors import MissingError, UsageError

# `worked_on` holds a lock for a moment when it looks; whoever wants to work tries again for this long.
PATIENCE_S = 0.5
PAUSE_S = 0.02


class WorkerLock:
    """The lock, held from creation until `close` or the end of the process; UsageError if another process holds it."""

    def __init__(self, journal: Path) -> None:
        self._file = _open(journal)
        if not _try(self._file, PATIENCE_S):
            number = _number(self._file)
            self._file.close()
            raise UsageError(
                f"Another process{f' ({number})' if number else ''} works on this run ('{journal.parent}'); wait for "
                "it, or stop it and resume. `overclock watch` shows what it does."
            )
        self._file.seek(0)
        self._file.truncate()
        self._file.write(str(os.getpid()).encode())
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def worked_on(journal: Path) -> bool:
    """Whether any process holds the lock of this run at the moment."""
    try:
        file = _place(journal).open("rb")
    except OSError:
        return False  # nobody has ever worked on it, or nobody here can
    with file:
        return not _try(file, 0.0, shared=True)


def _place(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}.lock")


def _open(journal: Path) -> IO[bytes]:
    try:
        return _place(journal).open("a+b")
    except OSError as error:
        raise UsageError(f"Cannot open '{_place(journal)}': {error.strerror}; choose another place.") from error


def _try(file: IO[bytes], patience: float, shared: bool = False) -> bool:
    try:
        import fcntl
    except ImportError as error:
        raise MissingError("Runs need Linux or macOS; on Windows use WSL.") from error
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(PAUSE_S)


def _number(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()
