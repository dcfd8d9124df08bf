"""References with lists, objects and draws in branches, sent through the judge with translations right and wrong."""

import dataclasses

import pytest
from recipe import blackjack, drifting_boat

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

from overclock.files import write_whole
from overclock.recipe.contract.file import write_contract
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.judge import Judge
from overclock.recipe.project.new import write_scenarios
from overclock.recipe.project.project import (
    Judging,
    Limits,
    ModulePlan,
    Project,
    Reference,
    format_project,
    load_project,
)
from overclock.recipe.project.twin import project_twin
from overclock.verify.sides.selfcheck import check_reference


def frozen(text):
    files = {"env.py": text.encode()}
    return Frozen(tree_hash(files), files)


def project(folder, name, reference, contract):
    """A project's folder, written by hand."""
    made = Project(
        folder=folder,
        name=name,
        reference=reference,
        target="jax",
        modules=(ModulePlan(name, (f"{name}.py",)),),
        contract=contract,
        limits=Limits(timeout=60.0),
        judging=Judging(levels=(1, 2, 3), episodes=4),
    )
    write_contract(contract, folder)
    write_whole(folder / "overclock.toml", format_project(made).encode())
    return load_project(folder)


def judge(made):
    return Judge(made, made.scenarios, made.folder / "runs" / "1" / "repro")


def modules_of(found, about=""):
    """The modules of level 1 that a verdict complains about."""
    return {sentence.partition(":")[0] for sentence in found.failure.sentences if about in sentence}


@pytest.fixture(scope="module")
def cards(tmp_path_factory):
    known = Reference(
        "gymnasium:Blackjack-v1",
        cls="gymnasium.envs.toy_text.blackjack:BlackjackEnv",
        arguments={"sab": False, "natural": False},
    )
    made = project(tmp_path_factory.mktemp("cards"), "blackjack", known, blackjack.contract())
    write_scenarios(made)
    return judge(made)


@pytest.fixture(scope="module")
def boat(tmp_path_factory):
    folder = tmp_path_factory.mktemp("boat")
    (folder / "drift.py").write_text(drifting_boat.REFERENCE)
    known = Reference(
        "drift.py:Drift", "class", "drift:Drift", max_steps=50, packages=("gymnasium", "drift"), path=str(folder)
    )
    return judge(project(folder, "drift", known, drifting_boat.contract()))


@pytest.mark.long
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_game_of_growing_hands_passes(cards, level):
    found = cards.judge(frozen(blackjack.CANDIDATE), level, seed=1)
    assert found.verdict == "pass", found.failure


@pytest.mark.long
def test_a_rule_left_out_and_loaded_dice_fail_at_level_1_where_they_are(cards):
    """The face of the dealer's card is drawn in some resets only, and nothing but its distribution shows it."""
    both = blackjack.NO_ACES.replace("face=rng.integers(DEALT + 1, 3)", "face=rng.integers(DEALT + 1, 2)")
    assert both != blackjack.NO_ACES
    found = cards.judge(frozen(both), 1, seed=1)
    assert found.verdict == "fail"
    by_luck, by_rule = {"draw", "draw_later", "draw_known"}, {"transition", "observe"}
    assert modules_of(found) == by_luck | by_rule, "all the rest is right"
    assert modules_of(found, about="face") == by_luck


def test_a_reference_of_objects_and_module_luck_is_reproducible(boat):
    twin = project_twin(boat.project, boat.project.folder)
    found = check_reference(twin, lanes=4, steps=60)
    assert (found.passed, found.set_state) == (True, "restores")


@pytest.mark.long
@pytest.mark.parametrize("level", [1, 3])
def test_a_reference_of_objects_and_module_luck_is_judged(boat, level):
    found = boat.judge(frozen(drifting_boat.CANDIDATE), level, seed=1)
    assert found.verdict == "pass", found.failure


@pytest.mark.long
def test_objects_that_stay_too_long_are_noticed(boat):
    found = boat.judge(frozen(drifting_boat.FORGETS), 1, seed=1)
    assert (found.verdict, modules_of(found)) == ("fail", {"transition"}), "all the rest is right"
    assert "gusts_length" in found.failure.sentence
    rows = {row.name: row.boundary for row in found.report.modules}
    assert rows["transition"] > 1_000, "steps from states that were searched for"


def test_a_draw_that_nobody_knows_stops_the_judge_with_its_place(boat):
    draws = tuple(draw for draw in boat.project.contract.step_draws if draw.name != "push")
    contract = dataclasses.replace(boat.project.contract, step_draws=draws)
    folder = boat.project.folder / "poor"
    made = project(folder, "drift", boat.project.reference, contract)
    with pytest.raises(Exception, match=r"draws \(normal\) at drift.py:\d+:\d+"):
        judge(made).judge(frozen(drifting_boat.CANDIDATE), 1, seed=1)
