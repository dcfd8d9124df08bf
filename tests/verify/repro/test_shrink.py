"""Shrinking: what is left of a diverging episode is short, simple, minimal, and still shows the same thing."""

import dataclasses

import numpy as np
import pytest
from verify.subjects_shrink import twin as house

from overclock.verify.repro.arena import Arena
from overclock.verify.repro.episode import Episode, History
from overclock.verify.repro.shrink import shrink, shrink_rollout
from overclock.verify.repro.simplify import complexity, leaves, replaced, simpler
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError

LONG = Episode(7, (2, 0, 1, 2, 2, 0, 1, 0, 3, 2, 3))  # two keys, then the door: the bug shows at the ninth action


def small(options: str = "", bug: str = "door", episode: Episode = LONG, mode="free_running", **more):
    reference = more.pop("reference", "")
    return shrink(house(options, reference).planted(bug), episode, mode, "float64", timeout=60.0, **more)


def finds(options: str, bug: str, episodes: list[Episode], mode, reference: str = ""):
    with Arena(house(options, reference).planted(bug), "float64", 60.0) as arena:
        return arena.find(episodes, mode)


# ---- where the divergence is ----


def test_the_exact_step_field_and_last_matching_state_are_found():
    shrunk = small()
    found = shrunk.original.finding
    assert (found.field, found.step, found.reference, found.performance) == ("reward", 9, 2.0, 3.0)
    assert shrunk.original.episode.actions == LONG.actions[:9]
    assert shrunk.last_matching is not None
    assert shrunk.last_matching.reference.state["keys"].tolist() == [2]
    assert shrunk.last_matching.reference.state["steps"].tolist() == [8]


def test_a_rollout_keeps_the_episode_that_diverged():
    planted = house().planted("door")
    result = compare_rollouts(planted, 12, "free_running", "float64", "uniform", uniform, num_lanes=3)
    episode, divergence = result.first_episode, result.first_divergence
    assert episode is not None
    assert divergence is not None
    assert (episode.seed, len(episode.actions)) == (divergence.episode_seed, divergence.step)
    assert len(episode.draws) == divergence.step + 1
    shrunk = shrink_rollout(planted, result)
    assert shrunk is not None
    assert (shrunk.original.finding.field, shrunk.original.finding.step) == (divergence.field, divergence.step)
    assert shrunk.original.finding.reference == divergence.reference
    assert shrink_rollout(house(), dataclasses.replace(result, fields={})) is None


def test_history_tells_each_lanes_running_episode():
    history, both = History(2), np.array([True, True])
    history.reset(both, {"d": np.array([0.0, 0.1])})
    history.step(np.array([1, 2]), {})
    history.reset(np.array([False, True]), {"d": np.array([9.0, 0.2])})
    history.step(np.array([3, 4]), {"e": np.array([5, 6])})
    assert history.episode(0, 7) == Episode(7, (1, 3), ({"d": 0.0}, {}, {"e": 5}))
    assert history.episode(1, 8) == Episode(8, (4,), ({"d": 0.2}, {"e": 6}))
    history.reset(both, {})
    assert history.episode(0, 9) == Episode(9, (), ({},))


def test_a_divergence_that_does_not_come_back_is_no_verdict():
    with pytest.raises(CouldNotVerifyError, match="did not show again when its 11 actions were replayed"):
        shrink(house(), LONG, "free_running", "float64")


def test_beyond_the_contracts_horizon_nothing_is_a_divergence():
    drifting = house().planted("drift")
    contract = drifting.contracts["float64"]
    bounded = dataclasses.replace(contract, free_running_steps=6, free_running_reason="it drifts")
    with Arena(dataclasses.replace(drifting, contracts={"float64": bounded}), "float64") as arena:
        assert arena.find([Episode(0, (2,) * 9)], "free_running") == [None]
    with Arena(drifting, "float64") as arena:
        (found,) = arena.find([Episode(0, (2,) * 9)], "free_running")
        assert found is not None
        assert found.step == 7


def test_lanes_of_different_length_do_not_disturb_each_other():
    # Lanes that are through are never stepped beyond their end (the house would raise), nor compared any more.
    episodes = [Episode(1, (2,) * 12), Episode(2), Episode(3, (1, 1, 3)), Episode(4, (0,) * 12), Episode(5, (0, 3))]
    together = finds("", "door", episodes, "free_running")
    assert [None if found is None else (found.field, found.step) for found in together] == [
        None, None, ("reward", 3), None, ("reward", 2),
    ]  # fmt: skip
    late, early = ({"keys": 1, "warmth": 0.5, "steps": steps} for steps in (10, 0))
    from_states = [Episode(0, (0,) * 2, (), late), Episode(0, (0, 0, 0, 1, 3), (), early)]
    ended, found = finds("", "door", from_states, "per_step")
    assert ended is None
    assert found is not None
    assert found.step == 5


# ---- how small it gets ----


@pytest.mark.parametrize("mode", ["free_running", "per_step"])
def test_one_action_from_a_simple_state_is_enough(mode):
    shrunk = small(mode=mode)
    assert shrunk.shortest.episode == Episode(0, (3,), (), {"keys": 0, "warmth": 0.0, "steps": 0})
    assert (shrunk.shortest.finding.field, shrunk.shortest.finding.step) == ("reward", 1)
    assert shrunk.minimal
    assert shrunk.tried < 30  # zeros are put everywhere at once; one by one it takes 43


@pytest.mark.parametrize(("options", "more"), [("", {"from_reset": True}), ("", {"reference": "fixed"})])
def test_from_a_reset_only_the_needed_actions_stay(options, more):
    # The bug also shows without any key (a door opened with none), so one action is the true minimum.
    shrunk = small(options, **more)
    assert shrunk.shortest.episode == Episode(0, (3,))


def test_actions_that_are_illegal_are_never_part_of_a_repro():
    # Opening the door without a key is forbidden here, so the keys must stay.
    shrunk = small("masked", from_reset=True)
    assert shrunk.shortest.episode == Episode(0, (1, 1, 3))
    removals = [shrunk.shortest.episode.keep([j for j in range(3) if j != i]) for i in range(3)]
    assert finds("masked", "door", removals, "free_running") == [None, None, None]
    assert finds("masked", "door", [Episode(0, (3, 1, 1, 3))], "free_running") == [None]


def test_a_state_is_not_made_up_where_nobody_says_what_is_legal_in_it():
    shrunk = small("masked")
    assert shrunk.last_matching is not None
    reached = {name: values[0].tolist() for name, values in shrunk.last_matching.reference.state.items()}
    assert shrunk.shortest.episode == Episode(0, (3,), (), reached)


def test_another_bug_on_the_way_is_not_taken_for_this_one():
    shrunk = small(bug="both", episode=Episode(7, (1, 2, 1, 0, 3)), from_reset=True)
    assert shrunk.shortest.episode.actions == (1, 1, 3)
    assert shrunk.shortest.finding.field == "reward"


def test_a_slow_drift_keeps_exactly_the_steps_it_needs():
    # 1e-4 per warm-up is allowed for one step, seven of them are more than an episode may be off.
    episode = Episode(3, (2, 1, 2, 0, 2, 2, 3, 2, 2, 2, 0))
    shrunk = small(bug="drift", episode=episode)
    assert shrunk.shortest.mode == "free_running"
    assert shrunk.shortest.episode.actions == (2,) * 7
    assert shrunk.shortest.finding.field == "state.warmth"
    assert shrunk.shortest.finding.error == pytest.approx(7e-4)


def test_a_divergence_of_the_reset_needs_no_action_and_a_small_seed():
    shrunk = small(bug="start", episode=Episode(31, (1, 2, 3)))
    assert shrunk.shortest.episode == Episode(0)
    assert (shrunk.shortest.finding.field, shrunk.shortest.finding.step) == ("state.warmth", 0)
    assert shrunk.last_matching is None


def test_random_steps_are_replayed_from_the_seed():
    shrunk = small("random", "noise", Episode(5, (0, 1, 0, 2)))
    assert len(shrunk.shortest.episode.actions) == 1
    assert shrunk.moments[1].reference.draws["noise"][0] > 0  # the draw that the performance side drops
    again = finds("random", "noise", [shrunk.shortest.episode], shrunk.shortest.mode)
    assert again == [shrunk.shortest.finding]


def test_draws_become_simple_where_the_reference_starts_from_given_ones():
    draws = ({"start": 0.123456}, {"noise": -0.05}, {"noise": 0.0123456}, {"noise": 0.02})
    shrunk = small("random", "noise", Episode(5, (0, 1, 0), draws), reference="replays", from_reset=True)
    assert shrunk.original.finding.step == 2
    assert shrunk.shortest.episode == Episode(0, (0,), ({"start": 0.0}, {"noise": 0.01}))


def test_simplifications_that_crash_a_side_are_not_taken():
    shrunk = small("fragile")
    state = shrunk.shortest.episode.state
    assert state is not None
    assert state["warmth"] > 0.0
    assert shrunk.shortest.episode.actions == (3,)


def test_shrinking_is_deterministic():
    one, other = (small("masked") for _ in range(2))
    assert one.shortest == other.shortest
    assert one.tried == other.tried


def test_a_search_that_is_cut_short_says_so():
    shrunk = small("masked", from_reset=True, limit=1)
    assert not shrunk.minimal
    assert shrunk.shortest.finding.field == "reward"


# ---- what is simpler ----


@pytest.mark.parametrize(
    ("value", "first", "last"),
    [
        (0.10471975, [0.0, 0.1, 0.104], 0.1047197),
        (-0.7, [0.0, 0.1, 0.7], -0.1),
        (499, [0, 1, 400, 490, 249], 498),
        (True, [False], False),
        (1.7976931348623157e308, [0.0, 1.0, 0.1, 1e308], 1.797693134862315e308),
    ],
)
def test_simpler_values_come_in_order(value, first, last):
    found = simpler(value)
    assert found[: len(first)] == first
    assert found[-1] == last
    assert all(type(candidate) is type(value) for candidate in found)
    assert all(abs(candidate) <= abs(value) for candidate in found)
    assert all(complexity(candidate) < complexity(value) for candidate in found)


@pytest.mark.parametrize("value", [0, 0.0, -0.0, False, float("nan"), float("inf"), float("-inf")])
def test_nothing_is_simpler_than_nothing(value):
    assert simpler(value) == []


def test_numbers_in_trees_are_found_and_replaced():
    tree = {"a": [1, {"b": 2.5}], "c": (True,), "d": "text"}
    assert list(leaves(tree)) == [(("a", 0), 1), (("a", 1, "b"), 2.5), (("c", 0), True)]
    changed = replaced(tree, {("a", 1, "b"): 0.0, ("c", 0): False, ("gone", 3): 1})
    assert changed == {"a": [1, {"b": 0.0}], "c": (False,), "d": "text"}


# ---- CartPole's planted bugs ----


@pytest.fixture(scope="module")
def upright() -> Episode:
    """Five hundred actions that keep the pole up."""
    gymnasium = pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    from overclock.envs.cartpole.render import balance

    env = gymnasium.make("CartPole-v1")
    obs, actions = env.reset(seed=3)[0], []
    for _ in range(500):
        actions.append(int(balance(obs)))
        obs = env.step(actions[-1])[0]
    return Episode(3, tuple(actions))


PUSHED = Episode(3, (1,) * 9)  # the pole falls to the left


@pytest.mark.parametrize(
    ("plant", "field", "state"),
    [
        ("polemass-plus", "state.x_dot", {"x": 0.0, "x_dot": 0.0, "theta": 0.0, "theta_dot": 0.0, "steps": 0}),
        ("gravity", "state.x_dot", {"x": 0.0, "x_dot": 0.0, "theta_dot": 0.0, "steps": 0}),
        ("angle-6-degrees", "terminated", {"x": 0.0, "x_dot": 0.0, "steps": 0}),
        ("late-truncation", "truncated", {"x": 0.0, "theta": 0.0, "steps": 499}),
        ("ignores-the-draw", "state.x", None),
    ],
)
def test_cartpoles_bugs_shrink_to_one_action(upright, plant, field, state):
    from overclock.envs.cartpole.twin import twin

    episode = upright if plant == "late-truncation" else PUSHED
    shrunk = shrink(twin().planted(plant), episode, "per_step", "float64")
    short = shrunk.shortest
    assert short.finding.field == field
    assert len(short.episode.actions) == (0 if state is None else 1)
    assert shrunk.minimal
    if state is None:
        assert short.episode.state is None
    else:
        assert short.episode.state is not None
        assert {name: short.episode.state[name] for name in state} == state
        assert short.episode.actions == (0,)
