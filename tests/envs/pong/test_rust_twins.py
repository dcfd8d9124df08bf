"""The Rust Pong as a side of twins: with PufferLib's C, and with JAX, at every level of verification."""

import dataclasses
import sys

import pytest

pytest.importorskip("overclock_native", reason="overclock-native is not built; run `make native`")

from overclock.env.registry import load
from overclock.envs.pong import library, transfer, twin
from overclock.errors import MissingError
from overclock.verify.engine import verify
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.playback import play_reference
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.property.level import check_recorded, record
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.transfer.level import check_transfer

WITH_C = (twin.rust, twin.rust_8, twin.rust_continuous, twin.rust_continuous_8)
WITH_JAX = (twin.jax_rust, twin.jax_rust_8)
LATE = "ends-after-500-steps"
PLANTS = sorted(twin.rust().plants.keys() - {LATE})


def named(builders):
    return pytest.mark.parametrize("build", builders, ids=lambda build: build.__name__)


@pytest.fixture(scope="module")
def reference():
    try:
        library.prepare()
    except MissingError as error:
        pytest.skip(str(error))


def few_games(side, steps=150):
    """Sixteen games, or as much of them as fits into a few steps."""
    contract = dataclasses.replace(side.contracts["float32"], step_limit=steps)
    short = dataclasses.replace(side, contracts={"float32": contract})
    return compare_rollouts(short, 16, "free_running", "float32", "uniform", uniform, num_lanes=16)


@named(WITH_C)
def test_a_few_games_of_c_and_rust_are_equal_bit_for_bit(reference, build):
    result = few_games(build())
    assert result.passed
    assert all(field.largest_error == 0.0 and not field.tolerance for field in result.fields.values())


def test_a_few_games_of_jax_and_rust_are_equal_bit_for_bit():
    result = few_games(twin.jax_rust_8())
    assert result.passed
    assert result.episodes == 16
    assert all(field.largest_error == 0.0 for field in result.fields.values())


@pytest.fixture(scope="module")
def played(reference):
    scenarios = load_scenarios(str(twin.rust().scenarios))
    return scenarios, play_reference(twin.rust(), scenarios)


@pytest.mark.parametrize("plant", [None, *PLANTS])
def test_scenarios_see_every_bug_planted_in_rust_and_nothing_else(played, plant):
    scenarios, recorded = played
    side = twin.rust() if plant is None else twin.rust().planted(plant)
    level = check_interactions(side, scenarios=scenarios, recorded=recorded, metamorphic=False)
    assert level.verdict == ("pass" if plant is None else "fail")


def test_a_step_of_rust_from_every_boundary_is_that_of_c(reference):
    recording = record(twin.rust_continuous(), sources={})
    found = check_recorded(twin.rust_continuous(), recording)
    assert found.verdict == "pass"
    assert found.gate.passed
    assert sum(module.boundary for module in found.modules) > 5000
    planted = check_recorded(twin.rust_continuous().planted("up-is-down"), recording)
    assert planted.verdict == "fail"
    assert planted.first_failure.module == "step"


def test_the_bug_that_no_scenario_lasts_long_enough_for_is_seen_by_games(reference):
    result = few_games(twin.rust().planted(LATE), steps=501)
    wrong = {name for name, field in result.fields.items() if field.first_divergence is not None}
    assert wrong == {"truncated"}


@named((*WITH_C, *WITH_JAX))
def test_plans_have_a_margin_of_one_point_and_bugs_of_their_twin(build):
    side = build()
    plan = load(str(side.transfer))
    assert set(plan.margins.values()) == {transfer.POINT} == {1.0}
    assert {plan.planted, plan.unseen} < set(side.plants)


def test_what_the_rust_side_needs_is_said_before_anything_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "overclock_native", None)
    with pytest.raises(MissingError, match="make native"):
        verify("overclock.envs.pong.twin:rust", levels=[3])


def test_a_bug_is_planted_once_also_where_the_control_of_level_4_plants_it_again():
    once = twin.rust_8().planted("up-is-down")
    assert once.planted("up-is-down") == once
    assert len(dict(once.planted(LATE).performance.options)["patches"]) == 2


@pytest.mark.long
def test_policies_do_equally_well_on_c_and_rust_and_a_planted_bug_is_seen(reference):
    found = check_transfer(twin.rust_8())
    assert found.verdict == "pass", found.summary
    assert {group.verdict for group in found.groups} == {"equivalent"}
    assert {group.trained_on for group in found.groups} == {"nothing", "performance", "reference"}
    assert {group.margin for group in found.groups} == {1.0}
    assert found.controls.planted.seen
    assert not found.controls.planted.synthetic


@pytest.mark.long
def test_a_bug_in_rust_is_found_by_policies_alone(reference):
    found = check_transfer(twin.rust_8().planted("up-is-down"))
    assert found.verdict == "fail", found.summary
