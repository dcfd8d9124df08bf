"""A verdict holds as long as what it was given by: after a change of the contract a run asks again, and only then."""

import dataclasses

import pytest
from recipe.scripted_run import ScriptedRun, env

from overclock.recipe.contract.file import Closeness, format_contract
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.loop.context import OptionalSteps
from overclock.recipe.project.project import Changes, Judging, Limits
from overclock.recipe.runs.run import Run

QUIET = OptionalSteps(optimise=False)


def waiting(folder, **more):
    """A run that passed levels 1 and 2 and waits for a person at level 3."""
    script = {"translate": [env("3=fail")], "repair": ["waiting"]}
    story = ScriptedRun(folder, script, QUIET, **more)
    assert story.go() == "waiting"
    return story


def loosened(project):
    close = Closeness({"state": 0.5}, {"state": 0.5}, "a test says so")
    contract = dataclasses.replace(project.contract, precisions={"float64": close})
    project.contract_path.write_text(format_contract(contract))
    return dataclasses.replace(project, contract=contract)


def rules(story, project):
    with Run.open(story.run, write=True) as run:
        return store_rules(run.journal, project, story.run / "scenarios")


def test_a_changed_contract_ends_every_verdict_given_by_the_old_one(tmp_path):
    story = waiting(tmp_path)
    before = len(story.events("judged"))
    other = loosened(story.project)
    story.script = {"repair": [{}]}  # nothing is repaired: the same program is judged by another contract
    story.go(other)
    again = [event.facts["level"] for event in story.events("judged")[before:]]
    assert again[:4] == [0, 1, 2, 3]
    assert story.go(other) == "stuck"  # and the journal can be gone on with, as always


def test_a_run_that_is_resumed_twice_asks_once(tmp_path):
    story = waiting(tmp_path)
    other = loosened(story.project)
    story.script = {"repair": [env("4=fail"), "waiting"]}
    assert story.go(other) == "waiting"
    count = len(story.events("judged"))
    story.script = {"repair": {1: env("speed=100")}}
    assert story.go(other) == "done"
    judged = story.events("judged")
    assert {event.facts["candidate"] for event in judged[count:]}.isdisjoint(
        event.facts["candidate"] for event in judged[:count]
    )


def test_a_candidate_that_held_before_the_contract_changed_is_judged_before_the_end(tmp_path):
    script = {"translate": [env("speed=100")], "optimise": ["waiting"]}
    story = ScriptedRun(tmp_path, script)
    assert story.go() == "waiting"
    other = loosened(story.project)
    story.script = {"optimise": [{}]}
    assert story.go(other) == "done"
    assert {level for _, level, _, _ in story.judge.judged} == {0, 1, 2, 3, "held-out", 4}
    (said,) = story.report()["judged_by"]["tolerances"]
    assert (said["of"], said["per_step"], said["reason"]) == ("state", 0.5, "a test says so")


def test_a_contract_that_changes_under_the_judge_s_hands_stops_the_run(tmp_path):
    story = ScriptedRun(tmp_path, {"translate": [env("speed=100")]}, QUIET)
    assert story.go(before=lambda what: loosened(story.project) if what == "judge 2" else None) == "stopped"
    assert "changed while it was judged" in story.said[-1]
    assert [level for (level,) in story.facts("judged", "level")] == [0, 1]


@pytest.mark.parametrize(
    "other",
    [
        lambda project: dataclasses.replace(project, judging=Judging(episodes=7)),
        lambda project: dataclasses.replace(project, limits=Limits(timeout=7.0)),
        lambda project: dataclasses.replace(project, reference=dataclasses.replace(project.reference, max_steps=7)),
        loosened,
    ],
)
def test_whatever_a_verdict_depends_on_is_part_of_it(tmp_path, other):
    story = ScriptedRun(tmp_path, {})
    assert rules(story, story.project) != rules(story, other(story.project))


def test_budgets_comments_and_a_run_s_own_tests_are_not(tmp_path):
    story = waiting(tmp_path)  # level 3 has added a scenario
    known = story.facts("run started", "rules")[0][0]
    assert len(list((story.run / "scenarios").iterdir())) == 2
    path = story.project.contract_path
    path.write_text("# as agreed\n" + path.read_text())
    assert rules(story, Changes(budget=99.0, levels=(1, 3)).of(story.project)) == known
    (story.run / "scenarios" / "first.json").write_text("{}")
    assert rules(story, story.project) != known
