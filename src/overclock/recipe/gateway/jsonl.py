"""Exchanges in a folder of their own, one JSON object per line: for runs without a journal, and for cassettes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.gateway.exchange import Exchange

FILE = "exchanges.jsonl"


class JsonlRecorder:
    """Appends to FOLDER/exchanges.jsonl. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / FILE).open("a+b")
        except OSError as error:
            raise UsageError(f"Cannot write '{folder / FILE}': {error.strerror}; choose another place.") from error
        self._end_torn_line()

    def record(self, exchange: Exchange) -> None:
        """As `Recorder.record`; also survives a power cut."""
        self._file.write(json.dumps(exchange.as_dict()).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> "JsonlRecorder":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def _end_torn_line(self) -> None:
        # A kill in the middle of a write leaves a line without an end; the next record must not continue it.
        if size := self._file.seek(0, os.SEEK_END):
            self._file.seek(size - 1)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")


def read_exchanges(folder: Path) -> Iterator[Exchange]:
    """What a JsonlRecorder wrote there, oldest first; a line torn by a kill was never reported and is left out."""
    try:
        lines = (folder / FILE).read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"Cannot read '{folder / FILE}': {error.strerror}.") from error
    for line in lines:
        try:
            content = json.loads(line)
        except ValueError:
            continue
        yield Exchange.from_dict(content)
