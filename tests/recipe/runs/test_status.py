"""Where a run stands, at every turn of the story."""

import dataclasses
from pathlib import Path

import pytest
from recipe.written_journal import COUNTER, JournalWriter, finished_run, write_until_sign_error

from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import LevelTests, status, status_of
from overclock.recipe.runs.words import event_line, status_lines


@pytest.fixture
def story(tmp_path):
    with Run.create(tmp_path / "run", {}) as run:
        yield JournalWriter(run)


def test_before_anything_happened(story):
    found = status(story.journal)
    assert found.schema == "overclock.status/1"
    assert found.phase is found.level is found.outcome is found.time.elapsed_s is None
    assert found.tests == []
    assert found.cost.basis == "not reported"
    assert ("cost", "not reported") in status_lines(found)


def test_in_the_middle(story):
    first = write_until_sign_error(story)
    found = status(story.journal)
    assert (found.project, found.agent, found.target) == ("houses/cartpole", "scripted", "jax")
    assert (found.phase, found.phase_name, found.module) == (1, "modules", "physics")
    assert (found.level, found.iteration, found.iterations_allowed) == (1, 1, 50)
    assert found.tests == [
        LevelTests(0, "pass", passed=None, total=None, candidate=first),
        LevelTests(1, "fail", passed=3, total=5, candidate=first),
    ]
    assert (found.cost.tokens, found.cost.dollars, found.budget_dollars) == (1000, 0.25, 2.0)
    assert (found.time.agent_s, found.time.judge_s) == (2.5, 3.0)
    assert (found.outcome, found.working, found.waits_for) == (None, True, "The next task.")
    lines = dict(status_lines(found))
    assert lines["tests"] == "hygiene pass; level 1 fail, 3 of 5"
    assert lines["phase"] == "1, modules: physics"
    assert lines["iteration"] == "1 of 50 per level"


def test_at_the_end(tmp_path):
    _, _, third = finished_run(tmp_path / "run")
    with Run.open(tmp_path / "run") as run:
        found = status(run.journal)
    assert (found.outcome, found.waits_for, found.working) == ("done", None, False)
    assert [(test.level, test.passed) for test in found.tests] == [
        (0, None), (1, 6), (2, 2), (3, 10), (4, 1), ("held-out", None),
    ]  # fmt: skip
    assert (found.candidate, found.cost.dollars) == (third, 0.75)
    assert dict(status_lines(found))["outcome"] == "done: All levels pass."


def test_time_goes_on_only_while_somebody_works(story):
    story.start()
    story.phase(1, "modules")
    events = [dataclasses.replace(event, time=100.0 + event.number) for event in story.journal.events()]
    assert status_of(events, True, now=111.0).time.elapsed_s == 10.0
    assert status_of(events, False, now=111.0).time.elapsed_s == 1.0
    assert status_of(events, True, now=0.0).time.elapsed_s == 0.0  # a clock that was set back


def waits(story, working=True):
    return status_of(story.journal.events(), working, now=0.0).waits_for


def test_what_it_waits_for(story):
    story.start()
    assert waits(story) == "The verifier, or the next task."
    story.journal.append(
        "task sent", task="t1", purpose="repair", level=1, module=None, iteration=1, prompt=story.text("x")
    )
    assert waits(story) == "The agent (scripted), at task t1: repair."
    assert "`overclock resume` goes on" in waits(story, working=False)
    story.task("t1", 1)
    assert waits(story) == "What the agent left is frozen."
    candidate = story.freeze("t1", env=COUNTER)
    assert waits(story) == f"The verdict on candidate {candidate[:10]}."
    story.journal.append("seeds drawn", candidate=candidate, purpose="level 1", seed=3)
    assert waits(story) == f"The verifier, at level 1 of candidate {candidate[:10]}."
    story.judge(candidate, 1)
    assert waits(story) == "The next level."


def test_the_command_that_goes_on_names_its_run(story):
    story.start()
    story.journal.append("help asked", level=2, sentence="Level 2 is stuck.", how="Repair it, then `overclock resume`.")
    found = status_of(story.journal.events(), False, 0.0, Path("my house/runs/first"))
    assert found.waits_for == "Help: Level 2 is stuck. Repair it, then `overclock resume 'my house/runs/first'`."


def test_a_person_is_waited_for(story):
    story.start()
    story.task("t1", 1, ended="waiting", reason="Edit the files, then run `overclock submit run`.")
    assert waits(story, working=False) == "Edit the files, then run `overclock submit run`."
    story.journal.append("help asked", level=2, sentence="Level 2 is stuck.", how="Add a scenario.")
    story.end("stuck", "50 iterations.")
    assert waits(story, working=False) == "Help: Level 2 is stuck. Add a scenario."
    story.journal.append("help given", note="Look at the counter.")
    assert waits(story) == "The next task."


def test_a_run_that_ended_because_it_waits_says_what_for_and_says_it_once(story):
    story.start()
    story.end("waiting", "Edit the files, then run `overclock submit run`.")
    found = status_of(story.journal.events(), False, now=0.0)
    assert found.waits_for == "Edit the files, then run `overclock submit run`."
    lines = dict(status_lines(found))
    assert (lines["outcome"], lines["waits for"]) == ("waiting", found.waits_for)
    story.end("stopped", "The reference is gone.")
    assert waits(story, working=False) is None


def test_a_run_that_goes_on_after_its_end_has_not_ended(story):
    write_until_sign_error(story)
    story.end("out of budget", "$2.00 are spent.")
    assert status(story.journal).outcome == "out of budget"
    story.call()  # a late answer is no new work
    assert status(story.journal).outcome == "out of budget"
    story.start(budget_dollars=5.0)
    found = status(story.journal)
    assert (found.outcome, found.budget_dollars) == (None, 5.0)
    assert found.cost.dollars == 0.5


def test_every_event_but_calls_and_seeds_has_a_line(tmp_path):
    finished_run(tmp_path / "run")
    with Run.open(tmp_path / "run", write=True) as run:
        run.journal.append("optimisation", candidate="c", kept=False, before=1, after=2, why="slower")
        run.journal.append("help asked", level=1, sentence="Stuck.", how="Help.")
        run.journal.append("help given", note="A note.")
        lines = {event.kind: event_line(event) for event in run.journal.events()}
    assert {kind for kind, line in lines.items() if line is None} == {"call opened", "call closed", "seeds drawn"}
    assert lines["measured"] == "measured: up to 10,000,000 steps per second on cpu"
    assert lines["run started"] == "run started: houses/cartpole to jax, agent scripted"
    assert lines["optimisation"] == "optimisation not kept: slower"


def test_what_an_agent_wrote_commands_no_terminal(story):
    story.start()
    story.task("t1", 1, ended="waiting", reason="two\nlines \x1b[2J\x07 and\u202e more")
    (ended,) = story.journal.events("task ended")
    assert event_line(ended) == "task t1 waiting after 2.5 s: two lines [2J and more"
    assert dict(status_lines(status(story.journal)))["waits for"] == "two lines [2J and more"
    assert dict(status_lines(status(story.journal)))["project"] == "houses/cartpole: gymnasium:CartPole-v1 to jax"
