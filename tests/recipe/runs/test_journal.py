"""The journal keeps what it was told, whoever is killed and whenever, and cannot be rewritten."""

import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.vocabulary import VOCABULARY, Event

# Appends for ever and says the number of every event once `append` has returned.
WRITER = """
import sys
from pathlib import Path
from overclock.recipe.runs.journal import Journal
journal = Journal(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    name = journal.store(b"text " * 400 + str(journal.last_time()).encode())
    print(journal.append("help given", note=name).number, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal.sqlite"


def writer(path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_journal_is_read_on_a_disk_that_cannot_be_written(path, monkeypatch):
    connect = sqlite3.connect

    def beside_it(address, *given, **more):  # as SQLite does where it cannot write its index beside the file
        if str(path) in address:
            raise sqlite3.OperationalError("unable to open database file")
        return connect(address, *given, **more)

    with Journal(path) as journal:
        written = journal.append("help given", note="It is in the write-ahead log only.")
        monkeypatch.setattr("overclock.recipe.runs.journal.sqlite3.connect", beside_it)
        with pytest.raises(UsageError, match="unable to open"):
            Journal.reading(path)
        monkeypatch.setattr("overclock.recipe.runs.journal.os.access", lambda *_: False)
        with Journal.reading(path) as reading:
            assert reading.events() == [written]
            place = reading._copy.name
        assert not Path(place).exists()


def test_events_come_back_as_they_were_appended(path):
    with Journal(path) as journal:
        first = journal.append("help given", note="Look at the sign.", more={"a": [1, 2.5, None]})
        second = journal.append("run ended", outcome="done", sentence="All pass.")
        assert (first.number, second.number) == (1, 2)
        assert first.facts == {"note": "Look at the sign.", "more": {"a": [1, 2.5, None]}}
        assert journal.events() == [first, second]
        assert journal.events("run ended") == [second]
        assert journal.events(after=1) == [second]
        assert journal.events("help given", after=1) == []
    with Journal.reading(path) as journal:
        assert journal.events() == [first, second]
        assert isinstance(journal.events()[0], Event)
        assert journal.last_time() == second.time


def test_numbers_that_json_lacks_become_null_and_keys_become_text(path):
    with Journal(path) as journal:
        event = journal.append("measured", candidate="c", sps={32: float("nan")}, device="cpu")
        assert event.facts["sps"] == {"32": None}
        assert journal.events() == [event]


def test_unknown_events_missing_facts_and_missing_texts_are_refused(path):
    with Journal(path) as journal:
        with pytest.raises(ValueError, match="knows no event 'judgd'"):
            journal.append("judgd", level=1)
        with pytest.raises(ValueError, match="lacks sentence"):
            journal.append("run ended", outcome="done")
        with pytest.raises(ValueError, match="not stored"):
            journal.append("test added", level=1, name="t", why="w", file="0" * 64)
        with pytest.raises(ValueError, match="not stored"):
            journal.append("candidate frozen", candidate="c", files={"a.py": "0" * 64}, task=None, lines=1)
        with pytest.raises(ValueError, match="no event"):
            journal.events("judgd")
        assert journal.events() == []


def test_the_vocabulary_is_that_of_the_loop():
    assert set(VOCABULARY) == {
        "run started", "phase started", "task sent", "task ended", "candidate frozen", "candidate chosen",
        "seeds drawn", "judged", "test added", "call opened", "call closed", "help asked", "help given", "measured",
        "optimisation", "run ended",
    }  # fmt: skip


def test_texts_are_kept_once_under_their_hash(path):
    content = bytes(range(256)) * 100
    with Journal(path) as journal:
        name = journal.store(content)
        assert name == hashlib.sha256(content).hexdigest()
        assert journal.store(content) == name
        assert journal.blob(name) == content
        assert journal.blob(journal.store(b"")) == b""
        with pytest.raises(KeyError, match="holds no text"):
            journal.blob("0" * 64)
    (count,) = sqlite3.connect(path).execute("SELECT count(*) FROM blobs").fetchone()
    assert count == 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET facts = '{}'",
        "DELETE FROM events",
        "REPLACE INTO events VALUES (1, 0, 'help given', '{}')",
        "INSERT OR REPLACE INTO events VALUES (1, 0, 'help given', '{}')",
        "UPDATE blobs SET content = x'00'",
        "DELETE FROM blobs",
    ],
)
def test_history_cannot_be_rewritten(path, statement):
    with Journal(path) as journal:
        journal.store(b"text")
        journal.append("help given", note="n")
    with sqlite3.connect(path) as database, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        database.execute(statement)


def test_a_text_cannot_be_replaced(path):
    with Journal(path) as journal:
        name = journal.store(b"text")
    with sqlite3.connect(path) as database:
        database.execute("REPLACE INTO blobs VALUES (?, x'00')", (name,))
    with Journal.reading(path) as journal:
        assert journal.blob(name) == b"text"


def test_the_disk_is_waited_for(path):
    with Journal(path) as journal:
        assert journal._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert journal._database.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_many_threads_append_without_gaps(path):
    returned = []
    with Journal(path) as journal:

        def work(number):
            for count in range(20):
                name = journal.store(f"{number} {count}".encode())
                returned.append(journal.append("help given", note=name, thread=number, count=count))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        events = journal.events()
        assert [event.number for event in events] == list(range(1, 161))
        assert sorted(returned, key=lambda event: event.number) == events
        for number in range(8):
            assert [e.facts["count"] for e in events if e.facts["thread"] == number] == list(range(20))
        assert all(journal.blob(e.facts["note"]) == f"{e.facts['thread']} {e.facts['count']}".encode() for e in events)


def test_a_second_writer_is_refused_and_a_reader_is_not(path):
    with Journal(path) as journal:
        journal.append("help given", note="1")
        with pytest.raises(UsageError, match=r"Another process .* works on this run"):
            Journal(path)
        with Journal.reading(path) as reader:
            assert reader.worked_on()
            assert len(reader.events()) == 1
            journal.append("help given", note="2")
            assert len(reader.events(after=1)) == 1
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                reader.append("help given", note="3")
    with Journal.reading(path) as reader:
        assert not reader.worked_on()
    with Journal(path) as journal:
        assert len(journal.events()) == 2


def test_looking_whether_somebody_works_never_keeps_a_worker_out(path):
    Journal(path).close()
    over = threading.Event()

    def look():
        with Journal.reading(path) as reader:
            while not over.is_set():
                reader.worked_on()

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            Journal(path).close()
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment_loses_nothing_that_was_reported(path, seed):
    chance = random.Random(seed)
    process = writer(path)
    with Journal.reading(path) as reader:
        said = [int(process.stdout.readline()) for _ in range(chance.randrange(1, 60))]
        assert reader.worked_on()
        with pytest.raises(UsageError, match=f"process \\({process.pid}\\)"):
            Journal(path)
        process.kill()
        said += [int(line) for line in process.stdout.read().splitlines() if line]
        process.stdout.close()
        process.wait()
        assert not reader.worked_on()
        assert [event.number for event in reader.events()][: len(said)] == said
    with Journal.reading(path) as reader:  # the first to open it after the kill only reads
        numbers = [event.number for event in reader.events()]
        assert numbers[: len(said)] == said
        assert len(numbers) <= len(said) + 1  # at most one was written and not yet reported
    with Journal(path) as journal:
        assert all(journal.blob(event.facts["note"]) for event in journal.events())
        assert journal.append("help given", note="on").number == numbers[-1] + 1
        assert journal._database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_files_that_are_no_journal_are_refused_in_a_sentence(path):
    with pytest.raises(UsageError, match="There is no journal"):
        Journal.reading(path)
    path.write_text(json.dumps({"not": "a database"}) * 100)
    for write in (False, True):
        with pytest.raises(UsageError, match="cannot be used as a run's journal"):
            Journal(path, write)
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(UsageError, match="newer Overclock"):
        Journal(path)
    path.unlink()
    Journal(path).close()  # the refusals let the lock go
