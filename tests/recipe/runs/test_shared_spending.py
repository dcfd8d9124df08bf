"""Runs of one project that are under way at the same time share its caps; one after the other, each has its own."""

import threading

import pytest

from overclock.recipe.gateway.budget import Amount, Meter, RefusedError
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.shared_spending import FILE, SharedSpending, SharedSpendingError


@pytest.fixture
def journals(tmp_path):
    """The journals of two runs that are under way."""
    opened = []
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        opened.append(Journal(tmp_path / "runs" / name / "journal.sqlite"))
    yield opened
    for journal in opened:
        journal.close()


def pay(meter, dollars):
    meter.settle(meter.reserve(dollars, "m"), Usage(calls=1, dollars=dollars))


def test_two_runs_at_once_cannot_pass_the_cap_together(journals):
    first, second = (Meter(cap=10.0, sharing=SharedSpending(journal.path)) for journal in journals)
    pay(first, 6.0)
    with pytest.raises(RefusedError, match=r"\$6.0000 of it by other runs"):
        second.reserve(5.0, "m")
    pay(second, 4.0)
    with pytest.raises(RefusedError, match="is spent"):
        first.check()


def test_a_call_waits_until_one_of_another_run_is_paid(journals):
    first, second = (Meter(cap=10.0, sharing=SharedSpending(journal.path)) for journal in journals)
    under_way, done = first.reserve(6.0, "m"), threading.Event()
    threading.Thread(target=lambda: (pay(second, 5.0), done.set()), daemon=True).start()
    assert not done.is_set()
    first.settle(under_way, Usage(calls=1, dollars=1.0))
    assert done.wait(10.0)
    assert second.spent().dollars == 5.0


def test_a_run_that_was_killed_has_paid_what_it_reserved(journals):
    first, second = (Meter(cap=10.0, sharing=SharedSpending(journal.path)) for journal in journals)
    first.reserve(6.0, "m")
    journals[0].close()
    with pytest.raises(RefusedError, match="could be passed"):
        second.reserve(5.0, "m")


def test_a_run_that_begins_when_no_other_is_under_way_has_the_whole_cap(journals):
    pay(Meter(cap=10.0, sharing=SharedSpending(journals[0].path)), 9.0)
    assert SharedSpending(journals[1].path).others()[0] == Amount(9.0, 0, 1)
    journals[0].close()
    assert SharedSpending(journals[1].path).others() == (Amount(), Amount())


def test_tokens_and_calls_are_shared_as_well(journals):
    first, second = (Meter(max_tokens=100, max_calls=3, sharing=SharedSpending(journal.path)) for journal in journals)
    first.settle(first.reserve(None, "m", 80), Usage(calls=1, input_tokens=60, output_tokens=20))
    with pytest.raises(RefusedError, match="80 are used and this call can use up to 30"):
        second.reserve(None, "m", 30)
    for _ in range(2):
        second.settle(second.reserve(None, "m", 1), Usage(calls=1))
    with pytest.raises(RefusedError, match="limit of 3 model calls"):
        second.check()


def test_a_damaged_file_is_one_sentence_and_nothing_goes_out(journals, tmp_path):
    meter = Meter(cap=10.0, sharing=SharedSpending(journals[0].path))
    (tmp_path / "runs" / FILE).write_text("{")
    with pytest.raises(SharedSpendingError, match="remove it while no run is under way") as raised:
        meter.reserve(1.0, "m")
    assert raised.value.exit_code == 4
