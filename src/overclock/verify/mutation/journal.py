"""What an interrupted run has found so far, so that the next one goes on from there.

A line per examined mutant. The first line names the state of everything that decides an outcome (the `fingerprint` of
mutation/state.py). Under another state the journal starts anew.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.results import decode, encode
from overclock.verify.mutation.result import Outcome


class Journal:
    """A file with outcomes; without a path it remembers nothing."""

    def __init__(self, path: Path | None, state: str) -> None:
        self._path = path
        self.known: dict[str, dict[int, Outcome]] = {} if path is None else _read(path, state)  # by mutant id
        if path is not None and not self.known:
            _write(path, "w", {"state": state})

    def add(self, mutant_id: str, outcomes: Mapping[int, Outcome]) -> None:
        """Write the outcomes of one more mutant, so that an interrupted run need not examine it again."""
        if self._path is not None:
            _write(self._path, "a", {"id": mutant_id, "levels": encode(outcomes)})

    def remove(self) -> None:
        """The run is complete and its result is kept elsewhere."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _read(path: Path, state: str) -> dict[str, dict[int, Outcome]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    found: dict[str, dict[int, Outcome]] = {}
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line)
            if number == 0 and entry["state"] != state:
                return {}
            if number:
                found[entry["id"]] = decode(dict[int, Outcome], entry["levels"])
        except (json.JSONDecodeError, KeyError, TypeError):
            break  # the line that was being written when the run was stopped
    return found


def _write(path: Path, mode: str, entry: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise UsageError(f"Cannot write '{path}': {error.strerror}; choose another place.") from error
