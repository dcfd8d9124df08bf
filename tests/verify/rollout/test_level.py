"""Level 3 as a whole: which comparisons are made, that none repeats another, and what is said of them."""

import dataclasses

import numpy as np
import pytest
from verify.documented import undocumented
from verify.ticker import Here, contract, ticking

from overclock.errors import UsageError
from overclock.results import encode
from overclock.verify.contract import Field, causes_first
from overclock.verify.rollout.level import check_rollouts, plan
from overclock.verify.sides import pair as sides
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.statistics import bound_clean_episodes
from overclock.verify.text import level_text, where_text

CONTROLLER = "overclock.envs.cartpole.render:balance"


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Tickers in this process."""
    monkeypatch.setattr(sides, "ProcessSubject", Here)
    monkeypatch.setattr(Here, "made", [])


def checked(twin, seed=0, episodes=4):
    return check_rollouts(twin, None, episodes, seed, 60.0, lambda *_: None)


def planned(**more):
    twin = dataclasses.replace(ticking({}, {}, contract(**more)), traced=True, transfer="somewhere:PLAN")
    steps = plan(twin, CONTROLLER, 20, 0, 60.0, lambda *_: None)
    return [(comparison.actions, comparison.mode) for comparison in steps]


def test_an_exact_contract_runs_every_source_free_too():
    sources = ("uniform", "controlled", "sticky", "coverage-guided", "trained")
    both = [(actions, mode) for actions in sources for mode in ("per_step", "free_running")]
    assert planned() == both
    free = Field("state.steps", free_running=1.0, reason="it drifts")
    assert [actions for actions, mode in planned(fields=(free,)) if mode == "free_running"] == ["uniform"]


def test_policies_are_trained_once_for_both_modes(monkeypatch):
    trained = []
    monkeypatch.setattr("overclock.verify.rollout.level.trained", lambda *_: trained.append(1))
    twin = dataclasses.replace(ticking({}, {}), transfer="somewhere:PLAN")
    for comparison in plan(twin, None, 20, 0, 60.0, lambda *_: None):
        if comparison.actions == "trained":
            comparison.source()
    assert trained == [1]


@pytest.mark.parametrize(("episodes", "policies"), [(20, 2), (1000, 10)])
def test_no_more_policies_are_trained_than_there_are_episodes_to_play(monkeypatch, episodes, policies):
    pytest.importorskip("flax", reason="policies need the extra 'train'")
    seeds = []

    def train_sides(twin, plan, wanted, chosen, *_):
        seeds.extend(chosen)
        raise KeyboardInterrupt

    monkeypatch.setattr("overclock.verify.transfer.policies.train_sides", train_sides)
    twin = dataclasses.replace(ticking({}, {}), transfer="overclock.envs.cartpole.transfer:PLAN")
    learnt = next(one for one in plan(twin, None, episodes, 3, 60.0, lambda *_: None) if one.actions == "trained")
    with pytest.raises(KeyboardInterrupt):
        learnt.source()
    assert seeds == list(range(3, 3 + policies))


def test_no_two_comparisons_share_an_episode():
    for seed in (0, 1):
        checked(ticking({}, {}), seed)
    played = [seed for made in Here.made if made.name == "the reference" for seed in made.seeds]
    assert len(played) >= 8 * 4  # two runs of four comparisons of four episodes
    assert len(set(played)) == len(played)


def started(twin, **more):
    checked(twin, **more)
    return [(made.name, made.num_envs) for made in Here.made]


def test_comparisons_share_the_processes_of_both_sides():
    assert started(ticking({}, {})) == [("the reference", 4), ("the performance side", 4)]
    assert all(made.closed for made in Here.made)


def test_a_precision_has_a_performance_side_of_its_own():
    twin = dataclasses.replace(ticking({}, {}), contracts={"float64": contract(), "float32": contract()})
    assert started(twin) == [("the reference", 4), ("the performance side", 4), ("the performance side", 4)]
    assert [dict(made.spec.environment).get("JAX_ENABLE_X64") for made in Here.made[1:]] == ["1", "0"]


def test_a_reference_is_traced_in_a_process_that_nothing_else_uses():
    tracing = dataclasses.replace(ticking({"traces": True}, {}), traced=True)
    level, _ = checked(tracing)
    assert [one.actions for one in level.comparisons if one.branches] == ["coverage-guided"] * 2
    references = [made for made in Here.made if made.name == "the reference"]
    assert [made.traced for made in references] == [0, 1, 1, 0], "the last one is asked for a search, which it lacks"
    assert all(made.closed for made in Here.made)


def test_a_side_of_other_lanes_takes_the_place_of_the_one_before():
    check_rollouts(ticking({}, {}), "verify.ticker:still", 20, 0, 60.0, lambda *_: None)
    assert [made.num_envs for made in Here.made] == [20, 20, 2, 2, 20, 20]
    assert {made.beside for made in Here.made} == {0, 1}


def test_both_sides_end_where_one_breaks_down():
    with pytest.raises(CouldNotVerifyError, match="obs is NaN"):
        checked(ticking({"nan_at": 3}, {}))
    assert [made.closed for made in Here.made] == [True, True]


def test_what_is_not_compared_is_said():
    every, _ = checked(ticking({}, {}))
    assert level_text(every) == "16 episodes, 80 steps, every contracted field at every step"
    drifting = contract((Field("state.steps", free_running=1.0, reason="it drifts"),))
    bounded = dataclasses.replace(drifting, free_running_steps=3, free_running_reason="it drifts away")
    level, _ = checked(ticking({}, {}, bounded))
    assert level_text(level) == (
        "12 episodes, 60 steps, every contracted field; 8 free-running steps beyond the horizon not compared; "
        "12 episodes to their end in float64: flags, lengths and rewards are those of the unrounded reference"
    )
    reasons = {(one.mode, one.horizon, one.free_running_reason) for one in level.comparisons}
    assert reasons == {("per_step", None, ""), ("free_running", 3, "it drifts away")}


def test_of_fields_that_are_wrong_at_one_step_the_cause_is_named_and_not_its_consequence():
    level, _ = checked(ticking({"length": 3}, {"length": 4, "nan_at": 3}))
    assert {one.first_divergence.field for one in level.comparisons} == {"terminated"}
    assert level.comparisons[0].fields[0].name == "obs"  # although the contract names that first
    assert [causes_first(name) for name in ("terminated", "truncated", "reward", "state.x")] == [0, 1, 2, 3]
    assert causes_first("state.x") < causes_first("action_mask") < causes_first("obs")


def test_every_field_of_a_comparison_is_documented():
    level, _ = checked(ticking({}, {}))
    assert undocumented("verify", [key for one in level.comparisons for key in encode(one)]) == []


def test_only_clean_random_play_states_a_bound():
    level, _ = checked(ticking({}, {}))
    bounds = {(one.actions, one.divergence_bound) for one in level.comparisons}
    assert bounds == {("uniform", bound_clean_episodes(4)), ("sticky", None)}
    level, _ = checked(ticking({}, {"early": 1}))
    assert {one.divergence_bound for one in level.comparisons} == {None}


def test_episodes_that_were_cut_are_said():
    endless = {"length": 10**9}
    level, _ = checked(ticking(endless, endless, contract(step_limit=3)))
    assert level.verdict == "pass"
    assert [one.cut for one in level.comparisons] == [4] * 4
    assert level_text(level).endswith("; 16 episodes cut at the step limit")


def played_on(performance=None):
    """A long episode of the reference beside a performance side with other options, cut after 3 steps but for one."""
    long = {"length": 12}
    twin = ticking(long, {**long, **(performance or {})}, contract(step_limit=3))
    twin = dataclasses.replace(twin, players=("verify.ticker:idle",), uncut=20)
    level, _ = checked(twin)
    return level, [one for one in level.comparisons if one.actions == "controlled"]


def test_one_episode_of_a_scripted_player_is_played_on_beyond_the_step_limit():
    level, (per_step, free) = played_on()
    assert level.verdict == "pass"
    assert (per_step.cut, per_step.steps, per_step.terminated) == (1, 3, 0)
    assert (free.cut, free.steps, free.terminated) == (0, 12, 1)


def test_what_is_wrong_only_beyond_the_step_limit_is_found():
    level, (_, free) = played_on({"early": 2})
    assert level.verdict == "fail"
    assert [one.passed for one in level.comparisons] == [one is not free for one in level.comparisons]
    assert (free.first_divergence.field, free.first_divergence.step) == ("terminated", 10)


def test_an_uncut_episode_that_never_ends_is_cut_all_the_same():
    endless = {"length": 10**9}
    twin = dataclasses.replace(
        ticking(endless, endless, contract(step_limit=3)), players=("verify.ticker:idle",) * 2, uncut=20
    )
    level, _ = checked(twin)
    counted = [(one.cut, one.steps) for one in level.comparisons if one.actions == "controlled"]
    assert counted == [(2, 6), (2, 23)], "two players, two episodes, one of them twenty steps long"
    with pytest.raises(UsageError, match="no players, or no steps, for its uncut episode"):
        dataclasses.replace(twin, players=())


def test_excuses_are_said_and_many_of_them_fail():
    near = contract(distance_to_limit=lambda state: np.zeros(len(state["steps"])), limit_reason="rounding")
    level, diverging = checked(ticking({}, {"early": 1}, near))
    assert (level.verdict, diverging) == ("fail", None)
    first = level.comparisons[0]
    assert (first.excused_flags, first.excusable_flags, first.limit_reason) == (4, 20, "rounding")
    assert where_text(level) == "4 of 20 flags differ next to a threshold, more than rounding explains"
