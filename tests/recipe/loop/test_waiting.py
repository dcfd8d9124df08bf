"""A run that waits for a person: what they have written for it is never taken away without their word."""

import pytest
from recipe.scripted_run import small_project

from overclock.errors import UsageError
from overclock.recipe.judging.judge import Judge
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.translate import resume, translate
from overclock.recipe.project.project import Changes
from overclock.recipe.runs.run import Run


@pytest.fixture
def waiting(tmp_path):
    """A project, options, and a run that waits for a person."""
    project, options = small_project(tmp_path / "pond"), RunOptions(agent_sandbox="none", sandbox="none")
    return project, options, translate(project, "1", options, Changes("manual")).run


def test_resuming_does_not_take_away_what_a_person_has_written(waiting):
    project, options, run = waiting
    place = run / "candidate" / "env.py"
    place.write_text("an afternoon of work\n")
    with pytest.raises(UsageError, match=r"overclock submit .*overclock resume .* --discard"):
        resume(project, run, options)
    assert place.read_text() == "an afternoon of work\n"
    assert resume(project, run, options, discard=True).outcome == "waiting"
    assert not place.exists()


def test_a_run_that_waits_is_resumed_where_nobody_has_written_anything(waiting):
    project, options, run = waiting
    (run / "candidate" / "notes.md").write_text("what I think about it\n")
    (run / "candidate" / "tests").mkdir()
    (run / "candidate" / "tests" / "test_mine.py").write_text("assert True\n")
    assert resume(project, run, options).outcome == "waiting"
    assert (run / "candidate" / "notes.md").exists()
    assert (run / "candidate" / "tests" / "test_mine.py").exists()


def test_a_submission_that_a_kill_cut_off_is_not_taken_away_either(waiting):
    project, options, run = waiting
    place = run / "candidate" / "env.py"
    place.write_text("an afternoon of work\n")
    with Run.open(run, write=True) as opened:  # as `submit` leaves it in the moment before the task ends
        facts = opened.journal.events("task sent")[-1].facts
        opened.journal.append("run started", **opened.journal.events("run started")[-1].facts)
        opened.journal.append("task sent", **{**facts, "start": None})
    with pytest.raises(UsageError, match="not handed in"):
        resume(project, run, options)
    assert place.exists()


def test_a_run_that_was_stopped_while_it_judged_goes_on_without_a_word(waiting, monkeypatch):
    project, options, run = waiting
    (run / "candidate" / "env.py").write_text("an afternoon of work\n")

    def stopped(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Judge, "judge", stopped)
        with pytest.raises(KeyboardInterrupt):
            resume(project, run, options, submitted=True)
    assert resume(project, run, options).outcome == "waiting"
    with Run.open(run) as opened:
        (judged,) = opened.journal.events("judged")
    assert judged.facts["verdict"] == "fail"


def test_another_run_is_begun_beside_it_only_by_name(waiting):
    project, options, run = waiting
    with pytest.raises(UsageError, match=r"The run '1' waits for you: `overclock submit .*; --run-id NAME begins"):
        translate(project, None, options, Changes("manual"))
    assert [place.name for place in run.parent.iterdir()] == ["1"]
    assert translate(project, "2", options, Changes("manual")).outcome == "waiting"


def test_nothing_is_not_handed_in(waiting):
    project, options, run = waiting
    with pytest.raises(UsageError, match=r"nothing to hand in: .*candidate' is empty"):
        resume(project, run, options, submitted=True)
    assert resume(project, run, options).outcome == "waiting"  # no attempt was counted
