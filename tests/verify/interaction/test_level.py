"""Level 2: scenarios pass on equal sides, find planted mistakes, and cannot drift from the reference."""

import dataclasses
import functools

import pytest

pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")

from schema_checks import require_valid_part
from verify.ticker import Here, ticking

from overclock.envs.cartpole.twin import twin
from overclock.errors import UsageError
from overclock.verify.interaction import level as interaction
from overclock.verify.interaction import playback
from overclock.verify.interaction.level import check_interactions, compare_playbacks
from overclock.verify.interaction.playback import play, play_reference, record_scenario, stale_sentence
from overclock.verify.interaction.scenario import Deviation, Scenario, Setup, Step, load_scenarios
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.text import level_text

TWIN = twin()
SCENARIOS = load_scenarios("overclock.envs.cartpole.scenarios")
NAMES = [scenario.name for scenario in SCENARIOS]
ONLY_FLOAT32 = dataclasses.replace(TWIN, contracts={"float32": TWIN.contracts["float32"]})


@pytest.fixture(scope="module")
def recorded():
    return play_reference(TWIN, SCENARIOS)


@functools.cache
def subject(**params):
    return JaxSubject(len(SCENARIOS), "cartpole-v1", params=params)


def here(recorded, scenarios=SCENARIOS, mode="free_running", **params):
    """The scenarios on a performance side in this process (float32): name -> result."""
    played = play(subject(**params), scenarios, recorded, forced=mode == "per_step")
    found = compare_playbacks(TWIN.contracts["float32"], "float32", mode, scenarios, recorded, played)
    return dict(zip(NAMES, found, strict=True))


def changed(name, number, **changes):
    """All scenarios, one of them with a changed step (counted from 1)."""
    scenarios = list(SCENARIOS)
    index = NAMES.index(name)
    steps = list(scenarios[index].steps)
    steps[number - 1] = dataclasses.replace(steps[number - 1], **changes)
    scenarios[index] = dataclasses.replace(scenarios[index], steps=tuple(steps))
    return scenarios


def test_cartpole_passes_in_both_precisions(recorded):
    result = check_interactions(TWIN, recorded=recorded)
    assert (result.level, result.name, result.verdict) == (2, "interaction", "pass")
    assert [scenario.name for scenario in result.scenarios] == NAMES
    for scenario in result.scenarios:
        assert scenario.verdict == "pass"
        assert len(scenario.runs) == 4  # two precisions, free running and per step
        for run in scenario.runs:
            assert set(run.largest_errors) == set(scenario.fields)
            on_a_threshold = run.precision == "float32" and "ulp" in scenario.name
            assert run.excused_flags == int(on_a_threshold)
    names = {(check.name, check.precision) for check in result.metamorphic}
    assert {("same seed twice", "float64"), ("jit and eager", "float32"), ("float32 and float64", "both")} <= names
    assert all(check.passed and check.reason for check in result.metamorphic)
    assert result.notes == []
    require_valid_part(result)


def test_a_planted_bug_is_shown_with_both_values_and_the_state_before(recorded):
    wrong = dataclasses.replace(ONLY_FLOAT32, contracts={"float64": TWIN.contracts["float64"]}).planted("gravity")
    result = check_interactions(wrong, recorded=recorded, metamorphic=False)
    assert result.verdict == "fail"
    found = {scenario.name: scenario.first_mismatch for scenario in result.scenarios}
    first = found["truncated-alone"]
    assert (first.precision, first.step, first.field) == ("float64", 1, "state.x_dot")
    assert first.reference != first.performance
    assert first.error > first.tolerance
    assert first.state_before == {"x": 0.1, "x_dot": 0.0, "theta": 0.01, "theta_dot": 0.0, "steps": 498}
    assert first.action == 0


@pytest.mark.parametrize(
    ("params", "failing", "field"),
    [
        ({"max_steps": 501}, {"truncated-alone", "truncated-and-terminated"}, "truncated"),
        ({"x_threshold": 2.5}, {"leaves-left", "leaves-right"}, "terminated"),
        ({"theta_threshold_radians": 0.3}, {"falls-left", "falls-right", "stays-fallen", "swings-back"}, "terminated"),
    ],
)
def test_a_wrong_limit_fails_the_scenarios_about_it(recorded, params, failing, field):
    results = here(recorded, **params)
    wrong = {name: result.first_mismatch for name, result in results.items() if not result.passed}
    assert failing <= wrong.keys()
    assert all(wrong[name].field == field for name in failing)
    assert "old-velocities-move" not in wrong
    assert "position-on-the-limit" not in wrong


def test_steps_are_compared_one_by_one_too(recorded):
    """An error below the free-running tolerance of float32 is above the one for a single step, and does not add up."""
    free, forced = (here(recorded, mode=mode, masspole=0.1002) for mode in ("free_running", "per_step"))
    assert free["old-velocities-move"].passed
    assert forced["old-velocities-move"].first_mismatch.tolerance == 1e-6
    growing, single = (result["alternating-push"].largest_errors["state.theta"] for result in (free, forced))
    assert growing > 10 * single


def test_a_documented_deviation_is_required_not_allowed(recorded):
    step = SCENARIOS[NAMES.index("swings-back")].steps[3]
    assert step.deviation is not None
    assert here(recorded)["swings-back"].passed
    undocumented = here(recorded, changed("swings-back", 4, deviation=None))["swings-back"]
    assert (undocumented.first_mismatch.step, undocumented.first_mismatch.field) == (4, "reward")
    other = Deviation({"reward": 0.5}, "not what happens")
    assert not here(recorded, changed("swings-back", 4, deviation=other))["swings-back"].passed


def test_a_file_that_the_reference_contradicts_is_stale_and_gives_no_verdict(recorded):
    expect = SCENARIOS[NAMES.index("truncated-alone")].steps[1].expect
    scenarios = changed("truncated-alone", 2, expect={**expect, "truncated": False})
    result = check_interactions(ONLY_FLOAT32, scenarios=scenarios, recorded=recorded, metamorphic=False)
    assert result.verdict == "could not verify"
    stale = result.scenarios[NAMES.index("truncated-alone")]
    assert stale.verdict == "could not verify"
    assert stale.stale == "step 2: the file expects truncated = False, the reference gives True"


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ({"draws": {"x": 0.0}}, "step 0: the file has the draws"),
        ({"expect": {"obs": [0.0]}}, "step 0: the file expects obs"),
        ({"expect": {"state.x": 1e-9}}, "step 0: the file expects state.x"),
    ],
)
def test_a_setup_can_be_stale_too(recorded, part, sentence):
    lane = NAMES.index("falls-left")
    scenario = SCENARIOS[lane]
    assert stale_sentence(TWIN, scenario, recorded, lane) is None
    other = dataclasses.replace(scenario, setup=dataclasses.replace(scenario.setup, **part))
    assert sentence in str(stale_sentence(TWIN, other, recorded, lane))


@pytest.mark.parametrize("name", ["falls-left", "truncated-alone"])
def test_recording_writes_what_the_files_hold(recorded, name):
    lane = NAMES.index(name)
    old = SCENARIOS[lane]
    setup = {"state": old.setup.state} if old.setup.state else {"seed": old.setup.seed}
    new = record_scenario(TWIN, old.name, old.why, setup, [step.action for step in old.steps])
    assert (new.setup.draws, new.fields, len(new.steps)) == (old.setup.draws, old.fields, len(old.steps))
    assert stale_sentence(TWIN, new, recorded, lane) is None
    assert stale_sentence(TWIN, old, recorded, lane) is None


def test_no_scenarios_give_no_verdict():
    result = check_interactions(dataclasses.replace(ONLY_FLOAT32, scenarios=None), metamorphic=False)
    assert (result.verdict, result.scenarios) == ("could not verify", [])


def test_a_field_that_the_contract_does_not_name_is_refused():
    scenario = Scenario("odd", "", Setup(), (Step(0, {"state.mass": 1.0}),))
    with pytest.raises(UsageError, match=r"'odd' expects 'state.mass', which the contract does not name"):
        check_interactions(TWIN, scenarios=[scenario])


# ---- tickers: what must not be overlooked ----

TICK = Scenario("tick", "", Setup(), (Step(1, {"obs": 1}), Step(1, {})))


@pytest.fixture
def ticked(monkeypatch):
    """Scenarios on tickers in this process."""
    for module in (interaction, playback):
        monkeypatch.setattr(module, "ProcessSubject", Here)
    return lambda reference, performance, scenarios=(TICK,): check_interactions(
        ticking(reference, performance), scenarios=scenarios
    )


def test_that_a_side_cannot_check_itself_is_said(ticked):
    result = ticked({}, {})
    assert (result.verdict, result.metamorphic) == ("pass", [])
    assert result.notes == ["the performance side in float64 offers no checks of itself, so none were made"]
    assert level_text(result) == f"1 scenarios, no metamorphic checks; {result.notes[0]}"


def test_a_scenario_that_expects_nothing_is_refused(ticked):
    silent = Scenario("silent", "", Setup(expect={"obs": 0.0}), (Step(1, {}), Step(0, {})))
    with pytest.raises(UsageError, match="'silent' expects nothing of any step"):
        ticked({}, {"off": 1.0}, [silent])


@pytest.mark.parametrize(
    ("reference", "performance", "step"),
    [({"mask": [1, 1]}, {"mask": [0, 1]}, 0), ({}, {"mask": [1, 1]}, 0), ({"mask": [1, 1]}, {"mask": [1, 1]}, None)],
)
def test_action_masks_are_compared_at_every_step(ticked, reference, performance, step):
    result = ticked(reference, performance)
    assert result.verdict == ("pass" if step is None else "fail")
    if step is not None:
        first = result.scenarios[0].first_mismatch
        assert (first.field, first.step) == ("action_mask", step)


@pytest.mark.parametrize(
    ("reference", "performance", "step"),
    [({}, {"overflow_at": 1}, 1), ({}, {"overflow_at": 9}, None), ({"overflow_at": 9}, {}, None)],
)
def test_room_that_runs_out_is_a_difference(ticked, reference, performance, step):
    first = ticked(reference, performance).scenarios[0].first_mismatch
    assert (None if first is None else (first.field, first.step)) == (None if step is None else ("overflow", step))


def test_nothing_is_said_about_the_mask_of_a_state_that_was_only_set(ticked):
    given = dataclasses.replace(TICK, setup=Setup(state={"steps": 2}), steps=(Step(1, {"obs": 3}),))
    first = ticked({"mask": [1, 1]}, {}, [given]).scenarios[0].first_mismatch
    assert (first.field, first.step) == ("action_mask", 1)


def test_a_reference_that_shows_nan_gives_no_verdict(ticked):
    with pytest.raises(CouldNotVerifyError, match="the reference is not sound: obs is NaN at step 2"):
        ticked({"nan_at": 2}, {"nan_at": 2})


def test_a_file_means_the_number_not_the_way_it_is_written(ticked):
    assert ticked({}, {}).scenarios[0].stale is None  # TICK expects 1 where the reference shows 1.0
    flag = dataclasses.replace(TICK, steps=(Step(1, {"obs": True}),))
    assert "the file expects obs = True, the reference gives 1.0" in ticked({}, {}, [flag]).scenarios[0].stale
