"""Candidates made side by side in runs that are cut off, refused, stuck, and gone on with."""

import dataclasses
import threading

import pytest
from recipe.scripted_run import (
    TRANSLATE,
    FakeJudge,
    ScriptedRun,
    env,
    files_by_candidate,
    first_events_of,
    needs_git,
    small_project,
    three_candidates,
)

from overclock.recipe.agents.scripted import ScriptedAgent
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.loop import translate as runs
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.project.project import AgentChoice
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.groups import current
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.work_tree import frozen_tree

pytestmark = needs_git
GOOD = env("speed=100")
PRICE = Usage(calls=1, input_tokens=10, output_tokens=1, dollars=0.25, basis="self-reported")


PLACES = ("task sent", "candidate frozen", "task ended", "measured", "candidate chosen", "test added")


def test_a_run_that_is_cut_between_any_two_candidates_goes_on_without_repaying(tmp_path):
    story = three_candidates(
        tmp_path / "whole", [env("1=fail"), env("3=fail"), env("2=fail")], usage=PRICE,
        tasks={"repair-1-level-3": [env("2=fail", "b"), GOOD, env("speed=50")]},
    )  # fmt: skip
    assert story.go() == "done"
    events, tasks, judged = story.events(), sorted(story.hands.tasks), story.judge.judged
    assert len(tasks) == 6
    for count in (event.number for event in events if event.kind in PLACES):
        done = events[:count]
        again = first_events_of(story, tmp_path / str(count), count)
        assert again.go() == "done", count
        ended = {event.facts["task"] for event in done if event.kind == "task ended"}
        assert sorted(again.hands.tasks) == [task for task in tasks if task not in ended], count
        verdicts = sum(event.kind == "judged" for event in done)
        assert len(again.judge.judged) == len(judged) - verdicts, count
        assert again.facts("candidate chosen", "number") == [(2,), (2,)], count
        assert (again.run / "candidate" / "env.py").read_text() == "speed=100\n", count
        assert spending(again.events()).so_far().dollars == 0.25 * len(tasks), count


def test_one_that_is_refused_ends_the_run_and_is_alone_asked_again(tmp_path):
    story = three_candidates(tmp_path, [env("1=fail"), "refused 402", env("2=fail")], usage=PRICE)
    assert story.go() == "out of budget"
    assert story.events("judged", "candidate chosen") == []
    story.script = files_by_candidate({"translate-rules": [{}, GOOD, {}]})
    assert story.go() == "done"
    assert story.hands.tasks == [TRANSLATE[1]]
    assert story.facts("candidate chosen", "number") == [(2,)]


def test_an_agent_that_raises_leaves_what_the_others_have_finished(tmp_path):
    ended = threading.Event()

    def script(task):
        if task.id == TRANSLATE[2]:
            assert ended.wait(30)
            raise RuntimeError("out of luck")
        return GOOD if task.id == TRANSLATE[1] else env("1=fail")

    story = ScriptedRun(tmp_path, script, OptionalSteps(optimise=False), candidates=3)

    def look(what):
        """Once two have ended the third may fail."""
        if what == f"agent {TRANSLATE[2]}":
            threading.Thread(target=wait_for_two, daemon=True).start()

    def wait_for_two():
        while len(story.facts("task ended", "task")) < 2:
            ended.wait(0.01)
        ended.set()

    with pytest.raises(RuntimeError, match="out of luck"):
        story.go(before=look)
    assert not (story.run / "candidates").exists()
    story.script = files_by_candidate({"translate-rules": [{}, {}, env("2=fail")]})
    assert story.go() == "done"
    assert story.hands.tasks == [TRANSLATE[2]]


def test_how_many_there_were_is_known_from_the_journal(tmp_path):
    """A stuck run may go on with more candidates, or with fewer."""
    story = three_candidates(tmp_path, [env("1=fail"), env("1=fail", "b"), env("1=fail", "c")], iterations=1)
    assert story.go() == "stuck"
    with Run.open(story.run, write=True) as run:
        run.journal.append("help given", note="", changed=False)
    story.script = {"repair": {1: GOOD}}
    alone = dataclasses.replace(story.project, agent=AgentChoice())
    assert story.go(alone) == "done"
    assert story.hands.tasks == ["003-repair-2-level-1"]
    assert story.go(alone) == "done"
    assert story.hands.tasks == []


def test_help_without_a_change_by_hand_is_no_change(tmp_path, monkeypatch):
    """The candidate that lies in the run's folder is the kept one, and not the one that was frozen last."""
    monkeypatch.setattr(runs, "Judge", lambda project, scenarios, repros, sandbox, progress: FakeJudge(repros))
    project = small_project(tmp_path / "pond", candidates=2, iterations=1)
    texts = [env("1=fail", "b"), env("0=fail"), GOOD]
    agent = ScriptedAgent(lambda task: texts[int(task.id[-1]) - 1] if task.id[:3] != "003" else GOOD)
    options = RunOptions(agent=agent, sandbox="none", steps=OptionalSteps(optimise=False))
    stuck = runs.translate(project, "1", options)
    assert stuck.outcome == "stuck"
    assert runs.resume(project, stuck.run, options).outcome == "done"
    with Run.open(stuck.run) as run:
        assert [event.facts["changed"] for event in run.journal.events("help given")] == [False]
        assert None not in [event.facts["task"] for event in run.journal.events("candidate frozen")]


def test_what_a_person_submits_is_taken_although_several_are_asked_for_from_then_on(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": ["waiting"]}, OptionalSteps(optimise=False))
    assert story.go() == "waiting"
    (story.run / "candidate" / "env.py").write_text("1=fail\n")
    story.script = files_by_candidate({"repair-1-level-1": [env("0=fail"), GOOD]})
    more = dataclasses.replace(story.project, agent=AgentChoice(candidates=2))
    assert story.go(more, submitted=True) == "done"
    assert story.facts("task ended", "reason")[0] == ("It was submitted.",)
    assert sorted(story.hands.tasks) == ["002-repair-1-level-1.1", "002-repair-1-level-1.2"]


def test_a_person_who_is_asked_finds_the_kept_candidate(tmp_path):
    story = three_candidates(tmp_path, [env("0=fail"), env("4=inconclusive"), env("1=fail")])
    assert story.go() == "inconclusive"
    assert frozen_tree(story.run / "candidate").hash == current(story.events())
