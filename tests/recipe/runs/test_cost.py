"""Costs are metered, told by the agent, or not reported; never invented, never counted twice."""

import dataclasses

import pytest
from recipe.written_journal import JournalWriter

from overclock.recipe.gateway.exchange import Exchange
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.recorder import JournalRecorder
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.words import dollars_words, tokens_words

TOLD = dataclasses.asdict(Usage(3, 800, 0, 0, 200, 0, 0.125, basis="self-reported"))


@pytest.fixture
def run(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        yield run


def cost(run):
    return spending(run.journal.events()).so_far()


def test_what_the_gateway_saw_is_metered_and_what_the_agent_says_then_is_not_added(run):
    story = JournalWriter(run)
    story.task("t1", 1, told=TOLD)
    found = cost(run)
    assert (found.basis, found.tokens, found.dollars) == ("metered", 1000, 0.25)
    assert found.self_reported is None
    assert tokens_words(found) == "1,000 (metered)"
    assert dollars_words(found, 2.0) == "$0.2500 of $2.00 (metered)"


def test_without_a_gateway_the_agents_own_words_count_as_such(run):
    JournalWriter(run, meter="agent").task("t1", 1)
    found = cost(run)
    assert (found.basis, found.tokens, found.dollars) == ("self-reported", 1000, 0.125)
    assert dollars_words(found) == "$0.1250 (self-reported)"


def test_what_nobody_reports_is_not_zero(run):
    JournalWriter(run, meter=None).task("t1", 1)
    found = cost(run)
    assert found.basis == "not reported"
    assert found.tokens is found.dollars is found.input_tokens is found.calls is None
    assert tokens_words(found) == "not reported"
    assert dollars_words(found, 2.0) == "not reported of $2.00"


def test_a_run_that_is_partly_reported_costs_at_least_that(run):
    JournalWriter(run, meter="gateway").task("t1", 1)
    JournalWriter(run, meter="agent").task("t2", 1)
    JournalWriter(run, meter=None).task("t3", 1)
    found = cost(run)
    assert (found.basis, found.tokens, found.dollars) == ("partly metered", 2000, 0.375)
    assert (found.metered.dollars, found.self_reported.dollars) == (0.25, 0.125)
    assert found.tasks_not_reported == 1
    assert tokens_words(found) == "at least 2,000 (partly metered)"


def test_a_call_without_an_end_counts_at_the_most_it_can_cost(run):
    story = JournalWriter(run)
    story.call(close=False, reserved=0.5)
    found = cost(run)
    assert (found.basis, found.tokens, found.dollars) == ("metered", None, 0.5)
    assert tokens_words(found) == "not reported"
    story.call()
    found = cost(run)
    assert (found.tokens, found.dollars, found.calls_never_closed) == (1000, 0.75, 1)
    assert "1 call without an end at the most it can cost" in dollars_words(found)


def test_a_price_that_is_not_known_is_said(run):
    JournalWriter(run).call(reserved=None, dollars=None)
    found = cost(run)
    assert (found.tokens, found.dollars) == (1000, None)
    assert dollars_words(found) == "the model's price is not known"


def test_refused_calls_are_counted_and_cost_nothing(run):
    story = JournalWriter(run)
    story.call()
    story.call(status=402)
    found = cost(run)
    assert (found.dollars, found.refused_calls) == (0.25, 1)
    assert dollars_words(found, 0.25) == "$0.2500 of $0.25 (metered, 1 call refused)"


def test_the_sum_does_not_depend_on_the_order_of_parallel_calls(tmp_path):
    amounts = [0.1, 0.2, 0.3]
    sums = set()
    for number, order in enumerate((amounts, amounts[::-1])):
        with Run.create(tmp_path / str(number), {}) as run:
            story = JournalWriter(run)
            for dollars in order:
                story.call(dollars=dollars)
            sums.add(cost(run).dollars)
    assert len(sums) == 1


def test_a_tasks_cost_is_that_of_its_own_calls(run):
    story = JournalWriter(run)
    story.task("t1", 1)
    story.task("t2", 1)
    story.call()  # after both
    found = spending(run.journal.events())
    assert [found.of_task(task).tokens for task in ("t1", "t2")] == [1000, 1000]
    assert found.so_far().tokens == 3000


def test_tasks_side_by_side_share_their_calls(run):
    story = JournalWriter(run)
    prompt = story.text("do it")
    for task in ("a", "b"):
        run.journal.append("task sent", task=task, purpose="repair", level=1, module=None, iteration=1, prompt=prompt)
    story.call()
    for task in ("a", "b"):
        run.journal.append(
            "task ended", task=task, ended="finished", reason="", seconds=1.0, usage=TOLD, session=None, text=prompt
        )
    found = spending(run.journal.events())
    assert (found.of_task("a").basis, found.of_task("a").tokens) == ("shared", None)
    assert (found.so_far().basis, found.so_far().tokens) == ("metered", 1000)


def test_a_task_that_a_kill_cut_off_does_not_take_over_later_calls(run):
    story = JournalWriter(run)
    story.start()
    run.journal.append(
        "task sent", task="dead", purpose="repair", level=1, module=None, iteration=1, prompt=story.text("x")
    )
    story.start()  # resumed
    story.task("t2", 1)
    found = spending(run.journal.events())
    assert found.of_task("t2").basis == "metered"
    assert found.of_task("dead").basis == "not reported"


def test_the_gateway_records_its_calls_in_the_journal(run):
    recorder = JournalRecorder(run.journal)
    opened = Exchange("1", "opened", "gemini", "generate", "m", "/x", False, 0.0, "request", 0.5)
    recorder.record(opened)
    assert cost(run).dollars == 0.5
    usage = Usage(1, 90, 0, 0, 10, 0, 0.125)
    recorder.record(dataclasses.replace(opened, stage="closed", status=200, response="answer", usage=usage))
    assert (cost(run).dollars, cost(run).tokens) == (0.125, 100)
    (closed,) = run.journal.events("call closed")
    assert b"answer" in run.journal.blob(closed.facts["exchange"])
