"""Scripted players of level 3: where they come to, and the planted bugs of docs/adequacy.md that they show."""

import dataclasses
import itertools

import numpy as np
import pytest

from overclock.env.registry import load
from overclock.envs.cartpole.twin import twin as cartpole
from overclock.envs.halfcheetah.twin import twin as halfcheetah
from overclock.envs.hopper.twin import twin as hopper
from overclock.envs.pong import twin as pong
from overclock.envs.walker2d.twin import twin as walker2d
from overclock.errors import MissingError
from overclock.progress import silent
from overclock.verify.rollout.level import CONTROLLED, plan
from overclock.verify.rollout.lockstep import compare_sides
from overclock.verify.sides.pair import Sides

LANES = 8


def ready(twin):
    """The twin, if its reference is here."""
    try:
        if twin.prepare is not None:
            load(twin.prepare)()
    except MissingError as error:
        pytest.skip(str(error))
    return twin


def played(twin, player, lanes=LANES):
    """Every moment of one episode per lane, played by one player: the state, with the flags after a step."""
    reference = load(str(twin.reference.entry_point))(lanes, **dict(twin.reference.options))
    act, generator = load(player)(reference.describe()), np.random.default_rng(0)
    seen = reference.reset(np.ones(lanes, np.bool_), np.arange(lanes, dtype=np.int64))
    over = np.zeros(lanes, np.bool_)
    while not over.all():
        seen = reference.step(act(generator, seen))
        yield {**seen.state, **seen.outputs, "over": over.copy()}
        over |= seen.outputs["terminated"] | seen.outputs["truncated"]


def most(moments, name):
    """The largest absolute value per lane and element, while its episode lasts."""
    values, over = (np.stack([one[key] for one in moments]) for key in (name, "over"))
    return np.max(np.abs(values) * ~over.reshape(*over.shape, *(1,) * (values.ndim - 2)), axis=0)


@pytest.mark.parametrize("build", [pong.twin, pong.frameskip_8, pong.continuous, pong.continuous_8])
def test_both_players_of_pong_rally_and_one_makes_the_ball_as_fast_as_it_can_be(build):
    twin = ready(build())
    patient, spinning = (list(itertools.islice(played(twin, player, 4), 13_000)) for player in twin.players)
    assert most(patient, "n_bounces").min() >= 260
    assert most(spinning, "n_bounces").min() >= 44
    assert most(spinning, "ball_vy").max() == 13
    assert patient[-1]["score_r"].min() > 0


def test_a_patient_game_is_longer_than_20000_steps_and_ends_before_it_is_cut():
    twin = ready(pong.twin())
    assert twin.uncut is not None
    assert 20_000 < len(list(played(twin, twin.players[0], 2))) < twin.uncut


def test_one_player_of_cartpole_reaches_the_time_limit_and_the_other_the_end_of_the_track():
    twin = cartpole()
    balancing, leaving = (list(played(twin, player)) for player in twin.players)
    assert len(balancing) == 500
    assert not np.any([one["terminated"] for one in balancing])
    assert most(leaving, "x").min() > 2.4
    assert most(leaving, "theta").max() < 0.2


def test_one_player_of_halfcheetah_runs_and_the_other_turns_over():
    twin = ready(halfcheetah())
    running, tumbling = (most(list(played(twin, player, 3)), "qpos") for player in twin.players)
    assert running[:, 0].min() > 50
    assert running[:, 2].max() < np.pi < tumbling[:, 2].max()


@pytest.mark.parametrize("build", [hopper, walker2d])
def test_the_player_of_a_robot_that_falls_falls_backwards_at_once(build):
    twin = ready(build())
    (player,) = twin.players
    moments = list(played(twin, player))
    assert len(moments) < 10
    assert all(one["qpos"][:, 2].max() < 0.05 for one in moments)


# ---- planted bugs that level 3 finds by itself ----


def controlled(twin, step_limit=None):
    """The last comparison of level 3 with scripted players, as it is planned; with fewer steps if so given."""
    if step_limit is not None:
        contracts = {name: dataclasses.replace(one, step_limit=step_limit) for name, one in twin.contracts.items()}
        twin = dataclasses.replace(twin, contracts=contracts, uncut=None)
    *_, last = (one for one in plan(twin, None, 20, 0, 60.0, silent) if one.actions == CONTROLLED)
    with Sides(twin, 120.0) as sides, sides.pair(last.precision, last.episodes, traced=False) as pair:
        return compare_sides(
            *pair, twin, last.episodes, last.mode, last.precision, last.actions, last.source(), seed=1, uncut=last.uncut
        )


@pytest.mark.parametrize("plant", ["speed-cap-after-30-hits", "fast-after-40-hits"])
def test_a_rally_that_ends_with_a_spin_shows_bugs_of_long_rallies(plant):
    found = controlled(ready(pong.twin()).planted(plant), step_limit=2_500).first_divergence
    assert found is not None
    assert found.field in ("state.ball_vx", "state.ball_vy")


@pytest.mark.long
@pytest.mark.parametrize(
    ("plant", "field", "step"),
    [(None, None, None), ("truncated-after-20000", "truncated", 20_000), ("hits-wrap-at-256", "state.n_bounces", None)],
)
def test_an_uncut_game_shows_bugs_of_long_games(plant, field, step):
    twin = ready(pong.twin())
    result = controlled(twin if plant is None else twin.planted(plant))
    assert result.steps > 20_000
    assert result.terminated == 1
    found = result.first_divergence
    assert (found and found.field) == field
    assert step in (None, found and found.step)


@pytest.mark.long
def test_a_cheetah_that_turns_over_shows_that_turns_are_forgotten():
    found = controlled(ready(halfcheetah()).planted("turns-are-forgotten")).first_divergence
    assert found is not None
    assert found.field == "state.qpos"
