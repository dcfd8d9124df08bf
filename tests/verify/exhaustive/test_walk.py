"""Exhaustive comparison: what it calls a proof is one, and it finds what random play does not."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium's")

from schema_checks import require_valid_part
from verify import worlds
from verify.ticker import Here, contract, ticking

from overclock.env import registry
from overclock.errors import UsageError
from overclock.verify.contract import Contract, Field
from overclock.verify.exhaustive.walk import check_exhaustively, explore
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError

WALKABLE = {4: 11, 8: 53}  # cells that are neither hole nor goal


@pytest.fixture(autouse=True)
def keep_registry(monkeypatch):
    monkeypatch.setattr(registry, "_registry", dict(registry._registry))


def sides(twin, lanes):
    """Both sides in this process."""
    return [registry.load(side.entry_point)(lanes, **dict(side.options)) for side in (twin.reference, twin.performance)]


def here(twin, lanes=32, **limits):
    return explore(twin, "float32", *sides(twin, lanes), **limits)


def test_every_state_and_action_of_frozen_lake_is_compared():
    result = check_exhaustively(worlds.lake(8), num_lanes=64)
    assert result.sentence == "exhaustive: 53 states x 4 actions, all equal"
    assert (result.verdict, result.proof, result.level) == ("pass", True, 3)
    assert result.transitions == 4 * WALKABLE[8]
    assert result.notes == ["the step counter was held at 0: the time limit is not part of this"]
    require_valid_part(result)


@pytest.mark.parametrize("lanes", [1, 7, 64])
def test_no_state_and_no_action_is_left_out(lanes):
    reference, performance = sides(worlds.lake(4), lanes)
    stepped, state = set(), {}
    set_state, step = performance.set_state, performance.step

    def remember(values):
        state.update(values)
        set_state(values)

    def note(actions, draws=None):
        stepped.update(zip(state["cell"].tolist(), actions.tolist(), strict=True))
        return step(actions, draws)

    performance.set_state, performance.step = remember, note
    result = explore(worlds.lake(4), "float32", reference, performance)
    assert result.proof
    ice = [cell for cell, letter in enumerate(worlds.MAPS[4].replace(" ", "")) if letter in "SF"]
    assert stepped == {(cell, action) for cell in ice for action in range(4)}
    assert result.transitions == len(stepped)


def test_a_bug_that_random_play_misses_is_found_with_the_shortest_way_to_it():
    twin = worlds.lake(8, bug="shortcut")
    assert compare_rollouts(twin, 100, "per_step", "float32", "uniform", uniform).passed
    result = here(twin)
    assert (result.verdict, result.proof) == ("fail", False)
    found = result.first_mismatch
    assert (found.state_before["cell"], found.action) == (62, worlds.DOWN)
    assert (found.field, found.reference, found.performance) == ("terminated", False, True)  # flags are named first
    assert len(found.path) == 13  # the goal is 14 steps from the start
    assert result.sentence.endswith("then 1")


def test_counting_steps_puts_the_time_limit_into_the_proof():
    late = worlds.lake(4, params={"max_steps": 101})
    assert here(late).verdict == "pass"
    found = here(late, count_steps=True).first_mismatch
    assert (found.field, found.state_before["steps"]) == ("truncated", 99)
    equal = here(worlds.lake(4), lanes=256, count_steps=True)
    assert equal.proof
    assert equal.notes == []
    assert equal.states > 90 * WALKABLE[4] / 2  # a cell is reached at every second step count or so


def test_too_many_states_give_no_verdict():
    result = here(worlds.lake(8), max_states=20)
    assert (result.verdict, result.proof) == ("could not verify", False)
    assert result.sentence == "exhaustive: there are more than 20 states"


def test_random_steps_are_refused():
    with pytest.raises(UsageError, match=r"its steps are random \(slip\)"):
        here(worlds.lake(4, slippery=True))


def test_an_inexact_contract_is_no_proof():
    twin = worlds.lake(4)
    fields = tuple(field for field in twin.contracts["float32"].fields if field.name != "state.cell")
    result = here(dataclasses.replace(twin, contracts={"float32": Contract(fields)}))
    assert (result.verdict, result.proof) == ("pass", False)
    assert "single steps only: the contract does not compare state.cell exactly" in result.notes


@pytest.mark.parametrize("loose", ["obs", "reward"])
def test_outputs_that_may_be_off_are_no_proof(loose):
    twin = worlds.lake(4)
    fields = [
        Field(field.name, per_step=0.5, reason="a test") if field.name == loose else field
        for field in twin.contracts["float32"].fields
    ]
    result = here(dataclasses.replace(twin, contracts={"float32": Contract(tuple(fields))}))
    assert (result.verdict, result.proof) == ("pass", False)
    assert f"single steps only: the contract does not compare {loose} exactly" in result.notes


# ---- tickers: a counter whose only state is its step ----

EVERYTHING = {"count_steps": True, "reset_states": 1}


def ticked(reference, performance, **more):
    twin = ticking(reference, performance, contract((Field("state.steps"),), **more))
    both = [Here(side, 4, "", 0.0).subject for side in (twin.reference, twin.performance)]
    return explore(twin, "float64", *both, **EVERYTHING)


def test_how_the_performance_side_draws_its_first_states_is_no_part_of_a_proof():
    assert ticked({}, {}).notes == []
    result = ticked({"starts": True}, {})
    assert result.proof
    assert result.notes == [
        "first states come from the reference's draws: how the performance side draws its own is open"
    ]


def test_masks_are_part_of_a_proof():
    assert ticked({"mask": [1, 0]}, {"mask": [1, 0]}).proof
    assert ticked({"mask": [1, 0]}, {"mask": [1, 1]}).first_mismatch.field == "action_mask"


def test_a_reference_that_shows_nan_gives_no_verdict():
    with pytest.raises(CouldNotVerifyError, match="the reference is not sound: obs is NaN at step 3"):
        ticked({"nan_at": 3}, {"nan_at": 3})


def test_many_flags_next_to_a_threshold_give_no_verdict():
    result = ticked({}, {"early": 1}, distance_to_limit=lambda state: np.zeros(4), limit_reason="rounding")
    assert (result.verdict, result.proof) == ("could not verify", False)
    assert result.sentence == "exhaustive: 2 of 10 flags differ next to a threshold, more than rounding explains"


def test_random_steps_are_taken_several_times_and_are_no_proof():
    one, other = (worlds.lake_reference(64, slippery=True) for _ in range(2))  # both draw alike
    found = explore(worlds.lake(slippery=True), "float32", one, other, repeats=16)
    assert (found.verdict, found.proof, found.states) == ("pass", False, 11)
    assert found.transitions == 11 * 4 * 16
    assert any("each was taken 16 times" in note for note in found.notes)


@pytest.mark.long
def test_a_walk_that_nobody_requires_may_find_too_many_states():
    assert check_exhaustively(worlds.lake(8), num_lanes=64, required=False, max_states=10) is None
    assert check_exhaustively(worlds.lake(8), num_lanes=64, required=False).proof
