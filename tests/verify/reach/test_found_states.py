"""Level 3 from found states: games whose rare rules are wrong are not accepted, and those that are right are."""

import numpy as np
import pytest
from verify.reach.games.fast import BUGS
from verify.reach.games.twins import twin

from overclock.envs.cartpole.reference import reference
from overclock.verify.rollout.found_states import check_found
from overclock.verify.sides.pair import Sides

FAST = [("sokoban", ""), ("tetris", "four-lines-are-worth-less")]
ALL = [(game, bug) for game in BUGS for bug in ("", *BUGS[game])]


def found_differences(game, bug, seed=0):
    """The first divergence of every mode, and what the search did."""
    with Sides(twin(game, bug), timeout=120.0) as sides:
        found, results = check_found(sides, twin(game, bug), ("per_step", "free_running"), seed, 120.0)
    assert found is not None
    assert [result.mode for result in results] == ["per_step", "free_running"]
    assert all(result.episodes > 20 and result.steps > 100 for result in results)
    return [result.first_divergence for result in results], found.counts


@pytest.mark.parametrize(("game", "bug"), FAST)
def test_a_rare_rule_that_is_wrong_is_seen_from_found_states(game, bug):
    differences, counts = found_differences(game, bug)
    assert all(one is not None for one in differences) if bug else differences == [None, None]
    assert counts.reached_from_changed_states, "play alone does not come there"
    assert {one.field for one in differences if one is not None} <= {"reward", "state.score"}


@pytest.mark.long
@pytest.mark.parametrize(("game", "bug"), [one for one in ALL if one not in FAST])
def test_every_planted_bug_of_the_games_is_seen(game, bug):
    differences, _ = found_differences(game, bug)
    assert all(one is not None for one in differences) if bug else differences == [None, None]


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("game", BUGS)
def test_right_games_are_accepted_by_other_searches_too(game, seed):
    assert found_differences(game, "", seed)[0] == [None, None]


@pytest.mark.parametrize(("where", "allowed"), [({"x": 2.4}, True), ({"x": 2.5}, False), ({"theta": -0.3}, False)])
def test_no_search_begins_after_the_end_of_an_episode(where, allowed):
    """CartPole also counts the steps since its end, which is no part of the state that can be set."""
    subject = reference(1)
    seen = subject.reset(np.ones(1, np.bool_), np.zeros(1, np.int64))
    subject.set_state({**seen.state, **{name: np.array([value]) for name, value in where.items()}})
    if allowed:
        assert subject._searchable()["x"] == 2.4
    else:
        with pytest.raises(ValueError, match="has ended"):
            subject._searchable()
