"""A journal that was damaged, edited or could not be written is one sentence and exit code 4, and nothing more."""

import contextlib
import sqlite3

import pytest

from overclock.recipe.gateway import Prices, Tokens
from overclock.recipe.gateway.budget import Meter
from overclock.recipe.gateway.call import Call
from overclock.recipe.gateway.ledger import Ledger, Outcome, UnrecordedError
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.journal import Journal, JournalError
from overclock.recipe.runs.recorder import JournalRecorder

BODY = b'{"model": "priced", "max_tokens": 1000, "messages": []}'


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "journal.sqlite"
    with Journal(place) as journal:
        for number in range(3):
            journal.append("help given", note=f"note {number}")
        journal.append("task ended", task="1", ended="finished", reason="", seconds=1, usage=None, session=None,
                       text=journal.store(b"the text " * 50))  # fmt: skip
    return place


def edit(path, *statements, keep=True):
    """Change the file as a program would that knows nothing of journals."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE events SET facts = replace(facts, 'note 1', 'note 9')", "event 2 is not the one"),
        ("UPDATE events SET time = time + 1 WHERE number = 3", "event 3 is not the one"),
        ("DELETE FROM events WHERE number = 2", "event 2 is not the one"),
        ("DELETE FROM events WHERE number = 4", "event 4 is missing"),
        ("DELETE FROM chain WHERE number = 3", "event 3 is not the one"),
        ("INSERT INTO events VALUES (5, 1.0, 'help given', '{\"note\": \"x\"}')", "event 5 is not the one"),
    ],
)
def test_an_edit_shows(path, statement, says):
    edit(path, statement)
    for write in (False, True):
        with pytest.raises(JournalError, match=says) as raised:
            Journal(path, write)
        assert raised.value.exit_code == 4


def test_a_text_that_was_changed_is_not_handed_out(path):
    with Journal.reading(path) as journal:
        name = journal.events("task ended")[0].facts["text"]
    edit(path, f"UPDATE blobs SET content = x'{b'no zlib'.hex()}'")
    with Journal.reading(path) as journal, pytest.raises(JournalError, match="damaged"):
        journal.blob(name)
    other = "789c4b04000062006200".replace("4b04000062006200", "2bc9480500048d01e0")  # another text, whole
    edit(path, f"UPDATE blobs SET content = x'{other}'")
    with Journal.reading(path) as journal, pytest.raises(JournalError, match="damaged"):
        journal.blob(name)


@pytest.mark.parametrize("distance", [13, 97, 1009])
def test_flipped_bytes_are_a_sentence(path, distance):
    content = bytearray(path.read_bytes())
    for place in range(200, len(content), distance):
        content[place] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(JournalError) as raised, Journal.reading(path) as journal:
        journal.events()
    assert "\n" not in str(raised.value)


def test_a_journal_without_a_chain_is_read_and_gets_one_when_it_is_continued(path):
    edit(path, "DROP TABLE chain", "PRAGMA user_version = 1")
    with Journal.reading(path) as journal:
        assert len(journal.events()) == 4
    with Journal(path) as journal:
        journal.append("help given", note="now chained")
    edit(path, "UPDATE events SET facts = replace(facts, 'note 0', 'note 9')")
    with pytest.raises(JournalError, match="event 1 is not the one"):
        Journal.reading(path)


def fill(journal):
    """No page more: SQLite then says what it says on a full disk."""
    (pages,) = journal._database.execute("PRAGMA page_count").fetchone()
    journal._database.execute(f"PRAGMA max_page_count = {pages}")


def test_a_full_disk_is_a_sentence_and_what_is_there_stays_whole(path):
    with Journal(path) as journal:
        fill(journal)
        with pytest.raises(JournalError, match="no space left for the journal"):
            journal.append("help given", note="x" * 100_000)
        journal._database.execute("PRAGMA max_page_count = 100000")
        journal.append("help given", note="there is room again")
    with Journal.reading(path) as journal:
        assert [event.number for event in journal.events()] == [1, 2, 3, 4, 5]


def test_a_call_whose_end_found_no_space_is_paid_once(path, tmp_path):
    (tmp_path / "prices.toml").write_text("[models]\npriced = {input=0, output=1000}")
    prices = Prices.load(tmp_path / "prices.toml")
    with Journal(path) as journal:
        meter = Meter(cap=100.0)
        ledger = Ledger(meter, prices, JournalRecorder(journal), (), 32_000)
        opened = ledger.open(Call.parse("/v1/messages", {}, BODY))
        fill(journal)
        noise = bytes(range(256)) * 4000
        with pytest.raises(UnrecordedError):
            ledger.close(opened, Outcome(200, body=noise, complete=True, tokens=Tokens(input=1, output=500)))
        assert meter.spent().dollars == 0.5
        with pytest.raises(UnrecordedError):  # nothing goes out that could not be written down
            ledger.open(Call.parse("/v1/messages", {}, BODY))
        assert (meter.spent().dollars, meter.reserved()) == (0.5, 0.0)
    with Journal.reading(path) as journal:
        assert spending(journal.events()).so_far().dollars == 1.0  # its reservation, once
