"""The journal of a run: an append-only store of everything that happened, in one SQLite file.

What `append` or `store` returned from survives kill -9 and a power cut: every call is a transaction of its own, written
through to the disk. One process writes, from as many threads as it likes; any number of others read meanwhile.

Every event is chained to the one before it by a hash, and every stored text is named by its own, so that a file that
was damaged or changed by other means is noticed when it is read. A journal of an earlier version gets its chain when it
is continued.
"""

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import urllib.parse
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from overclock.errors import UsageError
from overclock.files import finite
from overclock.recipe.runs.lock import WorkerLock, worked_on
from overclock.recipe.runs.vocabulary import VOCABULARY, Event, blobs_of, check

VERSION = 2
WITH_CHAIN = 2
# What reading a damaged file raises besides the errors of SQLite.
UNREADABLE = (zlib.error, UnicodeDecodeError, json.JSONDecodeError, OverflowError)
NO_HASH = ""  # what the first event is chained to
BUSY_S = 30.0  # a reader that starts may hold the file for a moment, to recover it after a kill
# History cannot be rewritten, not even by our own mistakes. REPLACE deletes without a word to the triggers on DELETE,
# so a row that is there already is refused on the way in; a text that is there already is the same text, and is kept.
SCHEMA = f"""
BEGIN;
CREATE TABLE IF NOT EXISTS events (number INTEGER PRIMARY KEY, time REAL NOT NULL, kind TEXT NOT NULL,
                                   facts TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS blobs (sha256 TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chain (number INTEGER PRIMARY KEY, sha256 TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS events_stay BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_remain BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_follow BEFORE INSERT ON events
    WHEN EXISTS (SELECT 1 FROM events WHERE number = NEW.number)
    BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS blobs_stay BEFORE UPDATE ON blobs
    BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS blobs_remain BEFORE DELETE ON blobs
    BEGIN SELECT RAISE(ABORT, 'a journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS blobs_once BEFORE INSERT ON blobs
    WHEN EXISTS (SELECT 1 FROM blobs WHERE sha256 = NEW.sha256)
    BEGIN SELECT RAISE(IGNORE); END;
PRAGMA user_version = {VERSION};
COMMIT;
"""


class JournalError(UsageError):
    """A journal is damaged, or cannot be read or written; the message says which and what to do."""

    exit_code = 4


class Journal:
    """Use it with `with`, or `close` it. `Journal(path)` writes and reads; `Journal.reading(path)` only reads."""

    def __init__(self, path: Path, write: bool = True) -> None:
        self.path = path
        self._copy: tempfile.TemporaryDirectory[str] | None = None  # of a journal on a disk that cannot be written
        self._turn = threading.RLock()  # one connection, many threads
        self._checked = (0, NO_HASH)  # the newest event whose hash was compared, and that hash
        self._lock = WorkerLock(path) if write else None
        try:
            self._database = self._connect(write)
        except BaseException:
            if self._lock is not None:
                self._lock.close()
            raise

    @classmethod
    def reading(cls, path: Path) -> "Journal":
        """For somebody who watches: changes nothing, and may be there while another process writes."""
        return cls(path, write=False)

    def append(self, kind: str, /, **facts: Any) -> Event:
        """Add an event, for ever; the texts that it names must have been stored."""
        check(kind, facts)
        text = json.dumps(finite(facts), allow_nan=False)
        with self._turn, self._sentences():
            for name in blobs_of(kind, facts):
                if not self._has(name):
                    raise ValueError(f"The event '{kind}' names a text that was not stored: {name}.")
            self._check()
            now, (number, before) = time.time(), self._checked
            number += 1
            link = _link(before, number, now, kind, text)
            with self._transaction():
                self._database.execute(
                    "INSERT INTO events (number, time, kind, facts) VALUES (?, ?, ?, ?)", (number, now, kind, text)
                )
                self._database.execute("INSERT INTO chain VALUES (?, ?)", (number, link))
            self._checked = number, link
            return Event(number, now, kind, json.loads(text))

    def events(self, kind: str | None = None, after: int = 0) -> list[Event]:
        """What happened, oldest first: all of it, or one kind, or what has a number greater than `after`."""
        if kind is not None and kind not in VOCABULARY:
            raise ValueError(f"A journal knows no event '{kind}'.")
        question = "SELECT number, time, kind, facts FROM events WHERE number > ? AND kind = ifnull(?, kind)"
        with self._turn, self._sentences():
            self._check()
            rows = self._database.execute(f"{question} ORDER BY number", (after, kind)).fetchall()
            return [Event(number, when, name, json.loads(facts)) for number, when, name, facts in rows]

    def last_time(self) -> float | None:
        """When the last event was written."""
        with self._turn, self._sentences():
            row = self._database.execute("SELECT time FROM events ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else row[0]

    def store(self, content: bytes) -> str:
        """Keep a text and return its name, its SHA-256; the same text is kept once."""
        name = hashlib.sha256(content).hexdigest()
        with self._turn, self._sentences():
            if not self._has(name):
                self._database.execute("INSERT INTO blobs VALUES (?, ?)", (name, zlib.compress(content)))
        return name

    def blob(self, name: str) -> bytes:
        """A stored text by its name."""
        with self._turn, self._sentences():
            row = self._database.execute("SELECT content FROM blobs WHERE sha256 = ?", (name,)).fetchone()
            if row is None:
                raise KeyError(f"The journal '{self.path}' holds no text {name}.")
            content = zlib.decompress(row[0])
        if hashlib.sha256(content).hexdigest() != name:
            raise self._damaged(f"the text {name[:12]} is another one")
        return content

    def worked_on(self) -> bool:
        """Whether a process, this one or another, works on the run now."""
        return self._lock is not None or worked_on(self.path)

    def close(self) -> None:
        """Let others work on the run."""
        with self._turn:
            self._database.close()
        if self._copy is not None:
            self._copy.cleanup()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _has(self, name: str) -> bool:
        return self._database.execute("SELECT 1 FROM blobs WHERE sha256 = ?", (name,)).fetchone() is not None

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        """Around every use of the file: what SQLite or a damaged text raises becomes one sentence."""
        try:
            yield
        except UNREADABLE as error:
            raise self._damaged(str(error)) from error
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code == sqlite3.SQLITE_READONLY:  # a bug of ours: somebody writes who opened it to read
                raise
            if code == sqlite3.SQLITE_FULL:
                raise JournalError(
                    f"There is no space left for the journal '{self.path}'; what it holds is whole. Make room, then "
                    f"`overclock resume {self.path.parent}` goes on."
                ) from error
            if isinstance(error, sqlite3.OperationalError):
                raise JournalError(
                    f"The journal '{self.path}' cannot be used: {error}; see that its disk works."
                ) from error
            raise self._damaged(str(error)) from error

    def _damaged(self, how: str) -> JournalError:
        return JournalError(
            f"The journal '{self.path}' is damaged or was changed by other means ({how}); put back a copy of it, or "
            "start a new run."
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # SQLite may have done it already
                self._database.execute("ROLLBACK")
            raise

    def _check(self) -> None:
        """Compare the hashes of the events that were written since the last time."""
        if not self._chained:
            return
        done, before = self._checked
        rows = self._database.execute(
            "SELECT events.number, time, kind, facts, chain.number, sha256 FROM events LEFT JOIN chain "
            "ON chain.number = events.number WHERE events.number > ? ORDER BY events.number", (done,)
        ).fetchall()  # fmt: skip
        for number, when, kind, facts, _, link in rows:
            before = _link(before, number, when, kind, facts)
            if number != done + 1 or link != before:
                raise self._damaged(f"event {done + 1} is not the one that was written")
            done = number
        (last,) = self._database.execute("SELECT ifnull(max(number), 0) FROM chain").fetchone()
        if last > done:
            # A writer may have added events since the rows were read; those are checked the next time.
            (newest,) = self._database.execute("SELECT ifnull(max(number), 0) FROM events").fetchone()
            if last > newest:
                raise self._damaged(f"event {newest + 1} is missing")
        self._checked = done, before

    def _chain_what_is_there(self) -> None:
        """Chain the events of a journal that was written without hashes."""
        before = NO_HASH
        rows = self._database.execute("SELECT number, time, kind, facts FROM events ORDER BY number").fetchall()
        with self._transaction():
            for number, when, kind, facts in rows:
                before = _link(before, number, when, kind, facts)
                self._database.execute("INSERT INTO chain VALUES (?, ?)", (number, before))

    def _connect(self, write: bool) -> sqlite3.Connection:
        if not write and not self.path.is_file():
            raise UsageError(f"There is no journal '{self.path}'; give the folder of a run.")
        try:
            try:
                return self._opened(self.path, write)
            except sqlite3.OperationalError:
                if write or os.access(self.path.parent, os.W_OK):
                    raise
                return self._opened(self._copied(), write)
        except (sqlite3.Error, *UNREADABLE) as error:
            raise JournalError(
                f"'{self.path}' cannot be used as a run's journal: {error}; put back a copy of it, or start a new run."
            ) from error

    def _opened(self, path: Path, write: bool) -> sqlite3.Connection:
        address = f"file:{urllib.parse.quote(str(path.absolute()))}?mode={'rwc' if write else 'ro'}"
        database = sqlite3.connect(
            address, BUSY_S, uri=True, isolation_level=None, check_same_thread=False, cached_statements=32
        )
        try:
            self._database, self._chained = database, False
            self._prepare(database, write)
            self._check()
        except BaseException:
            database.close()
            raise
        return database

    def _copied(self) -> Path:
        """The same journal elsewhere: even to read one, SQLite writes beside it."""
        self._copy = tempfile.TemporaryDirectory(prefix="overclock-")
        for end in ("", "-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(f"{self.path}{end}", self._copy.name)
        return Path(self._copy.name) / self.path.name

    def _prepare(self, database: sqlite3.Connection, write: bool) -> None:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise UsageError(f"'{self.path}' was written by a newer Overclock; update this one to read it.")
        if not write:
            database.execute("SELECT 1 FROM events LIMIT 1").fetchone()
            self._chained = version >= WITH_CHAIN
            return
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            with contextlib.closing(database.cursor()) as cursor:
                cursor.executescript(SCHEMA)
            self._chain_what_is_there()
        self._chained = True


def _link(before: str, number: int, when: float, kind: str, facts: str) -> str:
    """The hash of an event and of everything before it."""
    return hashlib.sha256(json.dumps([before, number, when, kind, facts], default=repr).encode()).hexdigest()
