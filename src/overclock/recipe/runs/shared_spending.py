"""What the runs of a project that are under way at the same time have spent: they share the project's caps.

One file beside the runs, written under a lock. A run stays in it until no run that shares it is under way any more, so
that what ends early is not spent twice.
"""

import contextlib
import dataclasses
import fcntl
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.errors import OverclockError
from overclock.files import write_whole
from overclock.recipe.gateway.budget import Amount
from overclock.recipe.runs.lock import worked_on

FILE, LOCK = ".spending.json", ".spending.lock"


class SharedSpendingError(OverclockError):
    """The file that runs share cannot be read or written; the message says which."""

    exit_code = 4


class SharedSpending:
    """The `Sharing` of one run (gateway/budget.py); `journal` is that of the run, which this process works on."""

    def __init__(self, journal: Path) -> None:
        self._journal, self._runs = journal.resolve(), journal.resolve().parent.parent
        self._name = self._journal.parent.name
        with self.turn():
            kept = self._read()
            if not any(self._under_way(name) for name in kept if name != self._name):
                kept = {}
            self._write({name: row for name, row in kept.items() if name != self._name})

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Inside, no other process reads or writes the file."""
        try:
            lock = (self._runs / LOCK).open("ab")
        except OSError as error:
            raise _unusable(self._runs / LOCK, error.strerror) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def others(self) -> tuple[Amount, Amount]:
        """What the other runs have spent, and what calls of those that are still under way have reserved."""
        spent, reserved = Amount(), Amount()
        for name, row in self._read().items():
            if name != self._name:
                spent += Amount(**row["spent"])
                if self._under_way(name):
                    reserved += Amount(**row["reserved"])
                else:  # it was killed, and its open calls are paid at their reservation
                    spent += Amount(**row["reserved"])
        return spent, reserved

    def note(self, spent: Amount, reserved: Amount) -> None:
        """Write what this run has spent and reserved."""
        row = {"spent": dataclasses.asdict(spent), "reserved": dataclasses.asdict(reserved)}
        self._write({**self._read(), self._name: row})

    def _under_way(self, name: str) -> bool:
        return worked_on(self._runs / name / self._journal.name)

    def _read(self) -> dict[str, Any]:
        try:
            return json.loads((self._runs / FILE).read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise _unusable(self._runs / FILE, str(error)) from error

    def _write(self, rows: dict[str, Any]) -> None:
        write_whole(self._runs / FILE, json.dumps(rows).encode())


def _unusable(path: Path, why: str | None) -> SharedSpendingError:
    return SharedSpendingError(
        f"'{path}', by which the runs of a project share their caps, cannot be used ({why}); remove it while no run is "
        "under way."
    )
