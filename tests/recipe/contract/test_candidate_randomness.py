"""Candidates that follow any luck they are given, and have another of their own: the judge asks what they draw."""

import dataclasses

import pytest
from recipe import windy_walk

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.judge import Judge
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, Limits
from overclock.verify.interaction.scenario import load_scenarios

CAUGHT_BY = {  # the module of level 1 that sees it first
    "stands still in float32": "transition",
    "makes no wind": "draw_step",
    "makes a little less wind": "draw_step_known",
    "has the same wind in every step": "draw_step_later",
    "has the same wind in every lane": "draw_step",
    "begins every episode of a lane alike": "draw_later",
    "begins a little to the right": "draw_known",
    "has no time limit": "time_limit",
    "lasts longer": "time_limit",
    "says one limit and has another": "time_limit",
}


def frozen(text):
    files = {"env.py": text.encode()}
    return Frozen(tree_hash(files), files)


def judge(folder, name, precisions):
    (folder / f"{name.lower()}_{folder.name}.py").write_text(windy_walk.REFERENCE)  # a process imports a name once
    made = new_project(
        folder / name, f"{folder / f'{name.lower()}_{folder.name}.py'}:{name}", "jax", limits=Limits(timeout=60.0),
        judging=Judging(episodes=2, held_out=2), max_steps=50,
    ).project  # fmt: skip
    contract = dataclasses.replace(made.contract, precisions={one: made.contract.precisions[one] for one in precisions})
    return Judge(dataclasses.replace(made, contract=contract), made.scenarios, folder / "repro")


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Judges in float32, which is what people run."""
    return judge(tmp_path_factory.mktemp("walk"), "Walk", ["float32"])


@pytest.fixture(scope="module")
def storm(tmp_path_factory):
    return judge(tmp_path_factory.mktemp("storm"), "Storm", ["float64"])


def test_an_honest_translation_has_the_same_luck(walk):
    found = walk.judge(frozen(windy_walk.CANDIDATE), 1, seed=1)
    assert found.verdict == "pass", found.failure
    rows = {row.name: row for row in found.report.modules}
    assert (rows["draw_step"].boundary, rows["draw_step"].recorded) == (2048, 0), "play is no selection of calls"
    assert {limit.name for limit in rows["time_limit"].comparisons[0].fields} == {
        "max_steps", "default_max_steps", "steps", "truncated",
    }  # fmt: skip


def cheating(*cheats):
    return frozen(windy_walk.changed(*(windy_walk.CHEATS[cheat] for cheat in cheats)))


# At most one cheat about resets, steps, luck of resets and luck of steps, so that no module sees one for another.
TOGETHER = (
    ("stands still in float32", "makes a little less wind", "begins every episode of a lane alike", "lasts longer"),
    ("has the same wind in every step", "begins a little to the right"),
)


@pytest.mark.parametrize(
    "cheats", [TOGETHER[0], *(pytest.param(cheats, marks=pytest.mark.long) for cheats in TOGETHER[1:])]
)
def test_every_cheat_is_caught_by_what_it_draws_or_when_it_ends(walk, cheats):
    found = walk.judge(cheating(*cheats), 1, seed=1)
    wrong = {sentence.partition(":")[0] for sentence in found.failure.sentences}
    assert found.verdict == "fail"
    assert wrong >= {CAUGHT_BY[cheat] for cheat in cheats}
    for sentence in found.failure.sentences:
        assert len(sentence) < 1500, "it goes into a prompt"
        assert "in float32" in sentence, "who looks in float64 does not find it"


@pytest.mark.long
@pytest.mark.parametrize("cheat", CAUGHT_BY)
def test_a_cheat_alone_is_caught(walk, cheat):
    found = walk.judge(cheating(cheat), 1, seed=1)
    assert (found.verdict, found.failure.module) == ("fail", CAUGHT_BY[cheat]), found.failure.sentence


@pytest.mark.long
def test_luck_that_depends_on_the_state_is_compared_in_the_same_states(storm):
    (draw,) = storm.project.contract.step_draws
    assert draw.arguments == "..., ..."
    assert storm.judge(frozen(windy_walk.STORM), 1, seed=1).passed
    found = storm.judge(frozen(windy_walk.EVEN_STORM), 1, seed=1)
    assert (found.verdict, found.failure.module) == ("fail", "draw_step")


@pytest.mark.long
def test_a_time_limit_is_a_scenario_too(walk):
    (last,) = [one for one in load_scenarios(str(walk.scenarios)) if one.name == "time-limit"]
    assert last.setup.state == {"steps": 48}
    assert [step.expect["truncated"] for step in last.steps] == [False, True]
    found = walk.judge(cheating("lasts longer"), 2, seed=1)
    assert "In the scenario 'time-limit'" in found.failure.sentence
    assert "truncated is False after step 2" in found.failure.sentence
