"""One player's view of a game: the same game, played against an opponent whose randomness is in the draws."""

import dataclasses
import functools
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from games import GAMES, HOLD, LINES, ROLL, Pig, PigParams, PigState, RockPaperScissors, TicTacToe, TicTacToeState

from overclock.adapters.against import AgainstState, against
from overclock.env import Box, Discrete, Environment, Params, Rng, Section, Struct
from overclock.envs.cartpole.env import CartPole
from overclock.errors import UsageError
from overclock.vector import rollout, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

KEY = jax.random.key(0)
PAPER = 1


def repeats_itself(rng, obs, mask, params):
    """Rock for ever, because that is what an empty observation of its own last move says first."""
    return jnp.argmax(obs[:3])


def first_free_cell(rng, obs, mask, params):
    return jnp.argmax(mask)


def hold_at_six(rng, obs, mask, params):
    return jnp.where(obs[2] >= 6, HOLD, ROLL)


def always_roll(rng, obs, mask, params):
    return jnp.int32(ROLL)


@functools.partial(jax.jit, static_argnames=("env", "lanes", "steps"))
def play(env, lanes, steps, key=KEY, params=None):
    """Random legal play of the player: transitions as [step, lane, ...]."""
    venv = vectorize(env, lanes)
    _, state = venv.reset(key, params)
    return rollout(venv, state, steps, params=params)[1]


@pytest.mark.parametrize("game", GAMES)
def test_it_is_an_ordinary_environment(game):
    env = against(game, player=1)
    params = env.default_params()
    assert env.num_players == 1
    assert env == against(game, player=1)
    assert hash(env) == hash(against(game, player=1))
    assert env != against(game)
    obs, state = env.reset(KEY)
    assert env.observation_space(params).contains(obs)
    action = env.action_space(params).sample(Rng.of(1), 0, env.action_mask(state.rules, params))
    obs, after, reward, terminated, truncated, _ = env.step_env(KEY, state, action)
    assert env.observation_space(params).contains(obs)
    assert (reward.shape, reward.dtype, terminated.shape, truncated.shape) == ((), jnp.float32, (), ())
    chex.assert_trees_all_equal_shapes_and_dtypes(state, after)


def test_simultaneous_moves_cost_one_step_each_and_the_opponent_sees_its_own_side():
    env = against(RockPaperScissors(), repeats_itself)
    _, state = env.reset(KEY)
    for round_ in range(1, 11):
        obs, state, reward, terminated, _, _ = env.step_env(KEY, state, jnp.int32(PAPER))
        assert float(reward) == 1.0
        assert obs.tolist() == [0, 1, 0, 1, 0, 0]
        assert int(state.steps) == round_
        assert bool(terminated) == (round_ == 10)


@pytest.mark.parametrize("player", [0, 1])
def test_a_turn_based_game_is_the_two_player_game_with_the_replies_filled_in(player):
    game, env = TicTacToe(), against(TicTacToe(), first_free_cell, player=player)
    params, openers = game.default_params(), set()
    for seed in range(20):  # who opens is drawn: all alike with probability 2 ** -19
        _, state = env.reset(jax.random.key(seed))
        board, marks = state.rules.game.board, int(jnp.sum(state.rules.game.board != 0))
        openers.add(marks)  # 1 where the opponent opened, with the first cell
        assert board.tolist() == ([2 - player] + [0] * 8 if marks else [0] * 9)
        mine = TicTacToeState(board=board, to_move=jnp.int32(player))
        over = jnp.bool_(False)
        while not over:
            cell = int(np.flatnonzero(env.action_mask(state.rules, params))[-1])
            earned = jnp.float32(0)
            for mover in (player, 1 - player):
                if not over:
                    choice = cell if mover == player else int(np.argmax(mine.board == 0))
                    mine, reward, over = game.transition(mine, jnp.array([choice, choice]), (), params)
                    earned += reward[player]
            obs, state, reward, terminated, _, _ = env.step_env(KEY, state, jnp.int32(cell))
            chex.assert_trees_all_equal(state.rules.game, mine)
            assert (float(reward), bool(terminated)) == (float(earned), bool(over))
            assert jnp.array_equal(obs, game.observe(mine, params)[player])
            assert bool(over) or bool(game.acting(mine, params)[player])
    assert openers == {0, 1}


@pytest.mark.parametrize("player", [0, 1])
def test_rewards_of_skipped_turns_and_of_the_opening_are_summed(player):
    """In Pig every banked point is a reward, so a whole game's return is the difference of the final scores."""
    game = against(Pig(), hold_at_six, player=player)
    env, params = vectorize(game, 64, autoreset="off"), PigParams(max_steps=None)
    obs, state = env.reset(KEY, params)
    assert np.any(np.asarray(obs)[:, 1] > 0)  # somewhere the opponent banked before the first action
    total, running = np.zeros(64), np.ones(64, bool)
    for _ in range(60):
        action = np.where(np.asarray(obs)[:, 2] >= 4, HOLD, ROLL)
        obs, state, reward, terminated, _, _ = env.step(state, jnp.asarray(action, jnp.int32), params)
        total += np.asarray(reward)
        assert np.all(np.asarray(reward)[~running] == 0)  # nothing more after the end
        running &= ~np.asarray(terminated)
    assert not running.any()
    scores = np.asarray(state.lanes.rules.game.scores)
    assert np.array_equal(total, scores[:, player] - scores[:, 1 - player])
    assert set(np.sign(total)) == {-1.0, 1.0}


def test_a_game_that_ends_in_the_opening_is_over_at_the_first_step():
    env = against(Pig(), lambda rng, obs, mask, params: jnp.where(obs[2] >= 2, HOLD, ROLL))
    params = PigParams(target=2)
    ended = 0
    for seed in range(20):
        _, state = env.reset(jax.random.key(seed), params)
        if not bool(state.rules.over):
            continue
        ended += 1
        banked = int(state.rules.game.scores[1])
        assert banked >= 2
        for action in (HOLD, ROLL):
            _, after, reward, terminated, _, _ = env.step_env(KEY, state, jnp.int32(action), params)
            assert (float(reward), bool(terminated)) == (-banked, True)
            chex.assert_trees_all_equal(after.rules.game, state.rules.game)
    assert ended > 0


def test_all_randomness_is_in_the_draw():
    env = against(Pig())
    params = env.default_params()
    _, state = env.reset(KEY)
    state = state.rules
    draws = [env.draw_step(Rng.of(seed), state, params) for seed in range(8)]
    transition = jax.jit(env.transition)
    outcomes = [transition(state, jnp.int32(HOLD), draw, params) for draw in draws]
    again = [transition(state, jnp.int32(HOLD), draw, params) for draw in draws]
    chex.assert_trees_all_equal(outcomes, again)
    assert len({tuple(np.asarray(env.observe(after, params)).tolist()) for after, _, _ in outcomes}) > 1


def test_reset_and_step_of_one_event_share_no_randomness():
    env, rng = against(Pig()), Rng.of(3)
    params = env.default_params()
    step = env.draw_step(rng.of_section(Section.STEP), None, params)
    reset = env.draw_reset(rng.of_section(Section.RESET), params)
    later = env.draw_step(rng.advance().of_section(Section.STEP), None, params)
    names = {(int(stream.k0), int(stream.k1)) for stream in (step, reset, later)}
    assert len(names) == 3


def test_the_random_opponent_is_independent_of_a_random_player():
    reward = np.asarray(play(against(RockPaperScissors()), 64, 100).reward)
    # 6,400 rounds: four standard errors of a share of one third are 0.024.
    for outcome in (-1, 0, 1):
        assert abs(np.mean(reward == outcome) - 1 / 3) < 0.024


def test_the_random_opponent_plays_legally_and_every_legal_action():
    """An illegal mark would lose, so each won episode must show three in a row, and lost ones the opponent's."""
    steps = play(against(TicTacToe()), 64, 60)
    final = np.asarray(steps.info["final_observation"]).reshape(60, 64, 9, 2)
    has_line = final[:, :, LINES].all(axis=3).any(axis=2)  # [step, lane, own / other]
    reward, terminated = np.asarray(steps.reward), np.asarray(steps.terminated)
    assert np.array_equal(reward == 1, has_line[..., 0] & terminated)
    assert np.array_equal(reward == -1, has_line[..., 1] & terminated)
    assert {-1.0, 0.0, 1.0} == set(reward[terminated])
    opened = np.asarray(steps.obs).reshape(60, 64, 9, 2)
    first_marks = opened[opened.sum(axis=(2, 3)) == 1]
    assert np.all(first_marks[..., 1].sum(axis=0) > 0)  # the opponent opens in every cell


def test_lanes_and_episodes_meet_different_replies():
    final = np.asarray(play(against(RockPaperScissors()), 32, 20).info["final_observation"])
    replies = final[..., 3:].argmax(axis=-1).reshape(2, 10, 32)  # [episode, round, lane]
    assert np.all(np.any(replies[0] != replies[1], axis=0))
    assert len(np.unique(replies[0], axis=1).T) == 32


def test_replies_are_bounded():
    """Past `max_replies` the player is shown the game although it is not its turn, and its action is ignored."""
    env, params = against(Pig(), always_roll, max_replies=2), PigParams(target=1000)
    their_turn = PigState(scores=jnp.zeros(2, jnp.int32), pot=jnp.int32(3), to_move=jnp.int32(1))
    state = AgainstState(game=their_turn, over=jnp.bool_(False), owed=jnp.float32(0))
    pots = []
    for seed in range(12):
        draw = env.draw_step(Rng.of(seed), state, params)
        hold, roll = (env.transition(state, jnp.int32(action), draw, params)[0] for action in (HOLD, ROLL))
        # One ignored move of the player and two replies: at most 18 more in the pot.
        assert int(hold.game.pot) <= 3 + 3 * 6
        if int(hold.game.to_move) == 1:
            pots.append(int(hold.game.pot) - 3)
            chex.assert_trees_all_equal(hold, roll)
    assert any(pot % 3 != 0 for pot in pots)  # three throws, each with a die of its own


class TableState(Struct):
    last: Any


@dataclasses.dataclass(frozen=True)
class Table(Environment[TableState, Params]):
    """Three players show a number at once; everybody sees all three."""

    num_players = 3

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Box(0, 7, (3,))

    def action_space(self, params):
        return Discrete(8)

    def init(self, draw, params):
        return TableState(last=jnp.zeros(3, jnp.int32))

    def transition(self, state, action, draw, params):
        return TableState(last=action), jnp.zeros(3, jnp.float32), jnp.bool_(False)

    def observe(self, state, params):
        return jnp.broadcast_to(state.last.astype(jnp.float32), (3, 3))


def test_several_opponents_do_not_move_in_step():
    seen = np.asarray(play(against(Table(), player=1), 8, 50).obs)[1:].reshape(-1, 3)
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        # 392 rounds of two independent numbers out of eight: 49 equal ones, four standard errors are 26.
        assert abs(int(np.sum(seen[:, one] == seen[:, other])) - 49) < 26


def test_it_passes_through_the_gymnasium_adapter():
    checker = pytest.importorskip("gymnasium.utils.env_checker", reason="Gymnasium is not installed")
    from overclock.adapters.gymnasium import GymnasiumEnv

    checker.check_env(GymnasiumEnv(against(TicTacToe())), skip_render_check=True)


def test_mistakes_are_one_sentence():
    with pytest.raises(UsageError, match="one player already"):
        against(CartPole())
    with pytest.raises(UsageError, match="0 to 1"):
        against(TicTacToe(), player=2)
    with pytest.raises(UsageError, match="max_replies"):
        against(TicTacToe(), max_replies=0)
