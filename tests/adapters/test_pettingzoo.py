"""Games behind PettingZoo's parallel interface, judged by PettingZoo's own tests and played by hand."""

import dataclasses
import importlib
import math
import sys
import warnings

import jax
import numpy as np
import pytest
from games import GAMES, ROLL, Pig, RockPaperScissors, RockPaperScissorsParams, TicTacToe

from overclock.env import Box, Dict, Discrete, Rng
from overclock.envs.cartpole.env import CartPole
from overclock.errors import MissingError, UsageError

pytest.importorskip("pettingzoo", reason="PettingZoo is the extra 'pettingzoo'")
from pettingzoo.test import parallel_api_test, parallel_seed_test
from pettingzoo.utils.conversions import parallel_to_aec

from overclock.adapters.pettingzoo import PettingZooParallel

ONE, TWO = "player_0", "player_1"


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_tests_pass_without_a_warning(game):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(PettingZooParallel(game), num_cycles=60)
        parallel_seed_test(lambda: PettingZooParallel(game), num_cycles=20)


def test_a_game_is_the_kernels_own():
    game = Pig()
    env, rng = PettingZooParallel(game), Rng.of(5)
    seen, _ = env.reset(seed=5)
    obs, state = game.reset(rng)
    for _ in range(12):
        assert all(np.array_equal(seen[agent], obs[player]) for player, agent in enumerate([ONE, TWO]))
        assert all(seen[agent] in env.observation_space(agent) for agent in env.agents)
        rng = rng.advance()
        obs, state, reward, *_ = game.step_env(rng, state, np.array([ROLL, ROLL], np.int32))
        seen, rewards, *_ = env.step({ONE: ROLL, TWO: ROLL})
        assert rewards == {ONE: float(reward[0]), TWO: float(reward[1])}


@dataclasses.dataclass(frozen=True)
class PigInWords(Pig):
    """Pig with a dict as observation."""

    def observation_space(self, params):
        return Dict({"turn": Discrete(2), "table": Box(0, math.inf, (3,))})

    def observe(self, state, params):
        flat = super().observe(state, params)
        return {"turn": flat[:, 3].astype(np.int32), "table": flat[:, :3]}


def test_dict_observations():
    env = PettingZooParallel(PigInWords())
    seen, infos = env.reset(seed=0)
    for agent in (ONE, TWO):
        assert env.observation_space(agent).contains(seen[agent])
        assert seen[agent]["turn"] == infos[agent]["acting"]
    parallel_api_test(env, num_cycles=10)


def test_simultaneous_moves():
    env = PettingZooParallel(RockPaperScissors(), RockPaperScissorsParams(rounds=2))
    _, infos = env.reset(seed=0)
    assert infos == {ONE: {"acting": True}, TWO: {"acting": True}}
    seen, rewards, terminations, truncations, _ = env.step({ONE: 1, TWO: 0})  # paper covers rock
    assert rewards == {ONE: 1.0, TWO: -1.0}
    assert seen[ONE].tolist() == [0, 1, 0, 1, 0, 0]
    assert seen[TWO].tolist() == [1, 0, 0, 0, 1, 0]
    assert terminations == truncations == {ONE: False, TWO: False}
    _, rewards, terminations, *_ = env.step({ONE: 0, TWO: 0})
    assert (rewards, terminations) == ({ONE: 0.0, TWO: 0.0}, {ONE: True, TWO: True})
    assert env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_turns_masks_and_the_end_of_a_board_game():
    env = PettingZooParallel(TicTacToe())
    _, infos = env.reset(seed=0)
    first, second = (ONE, TWO) if infos[ONE]["acting"] else (TWO, ONE)
    for mover, other, cell in [(first, second, 0), (second, first, 3), (first, second, 1), (second, first, 4)]:
        assert (infos[mover]["acting"], infos[other]["acting"]) == (True, False)
        seen, rewards, _, _, infos = env.step({mover: cell})  # the other's action may be left out
        assert set(rewards.values()) == {0.0}
    assert np.flatnonzero(infos[first]["action_mask"]).tolist() == [2, 5, 6, 7, 8]
    assert np.array_equal(seen[first]["action_mask"], infos[first]["action_mask"])
    assert seen[first]["observation"][..., 0].sum() == 2
    seen, rewards, terminations, _, _ = env.step({first: 2, second: 7})
    assert rewards == {first: 1.0, second: -1.0}
    assert all(terminations.values())
    assert seen[second]["observation"][0, :, 1].tolist() == [1, 1, 1]  # the last position is not lost
    assert env.agents == []


def test_masks_can_stay_out_of_the_observation():
    env = PettingZooParallel(TicTacToe(), mask_in_observation=False)
    seen, infos = env.reset(seed=0)
    assert seen[ONE].shape == (3, 3, 2)
    assert infos[ONE]["action_mask"].dtype == np.int8
    assert env.observation_space(ONE).contains(seen[ONE])


def test_truncation_is_not_termination():
    env = PettingZooParallel(Pig(), Pig().default_params().replace(max_steps=2))
    env.reset(seed=1)
    env.step({ONE: ROLL, TWO: ROLL})
    _, _, terminations, truncations, _ = env.step({ONE: ROLL, TWO: ROLL})
    assert terminations == {ONE: False, TWO: False}
    assert truncations == {ONE: True, TWO: True}
    assert env.agents == []


def starters(env, seeds):
    return [env.reset(seed=seed)[1][ONE]["acting"] for seed in seeds]


def test_seeds_repeat_and_unseeded_games_go_on():
    env = PettingZooParallel(TicTacToe())
    assert starters(env, range(20)) == starters(env, range(20))
    assert len(set(starters(env, range(20)))) == 2
    assert len(set(starters(env, [3] + [None] * 20))) == 2


def test_it_converts_to_pettingzoos_turn_based_interface():
    env = parallel_to_aec(PettingZooParallel(Pig()))
    env.reset(seed=0)
    for agent in env.agent_iter(max_iter=10):
        _, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample())


def draw_board(env, state, params):
    board = np.asarray(state.rules.board).reshape(3, 3)
    return np.repeat((board * 100).astype(np.uint8)[..., None], 3, axis=-1)


def test_rendering():
    env = PettingZooParallel(TicTacToe(), renderer=draw_board, render_mode="rgb_array")
    assert env.metadata["render_modes"] == ["rgb_array"]
    with pytest.raises(UsageError, match="reset"):
        env.render()
    _, infos = env.reset(seed=0)
    env.step({ONE: 4, TWO: 4})
    assert env.render()[1, 1].tolist() == [100 if infos[ONE]["acting"] else 200] * 3
    assert PettingZooParallel(TicTacToe(), renderer=draw_board).render() is None


def test_mistakes_are_one_sentence():
    with pytest.raises(UsageError, match="one player"):
        PettingZooParallel(CartPole())
    with pytest.raises(UsageError, match="one player"):
        PettingZooParallel("cartpole")
    with pytest.raises(UsageError, match="renderer"):
        PettingZooParallel(TicTacToe(), render_mode="rgb_array")
    with pytest.raises(UsageError, match="render_mode"):
        PettingZooParallel(TicTacToe(), render_mode="human")
    with pytest.raises(UsageError, match="object already"):
        PettingZooParallel(TicTacToe(), size=4)
    env = PettingZooParallel(RockPaperScissors())
    with pytest.raises(UsageError, match="reset"):
        env.step({ONE: 0, TWO: 0})
    env.reset()
    with pytest.raises(UsageError, match="player_1's move"):
        env.step({ONE: 0})
    with pytest.raises(UsageError, match="player_2"):
        env.step({ONE: 0, TWO: 0, "player_2": 0})
    with pytest.raises(UsageError, match="below 3"):
        env.step({ONE: 0, TWO: 3})


def test_missing_pettingzoo_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.delitem(sys.modules, "overclock.adapters.pettingzoo")
    with pytest.raises(MissingError, match=r"overclock\[pettingzoo\]"):
        importlib.import_module("overclock.adapters.pettingzoo")


def test_equal_games_compile_once():
    jax.clear_caches()
    envs = [PettingZooParallel(RockPaperScissors()) for _ in range(2)]
    for env in envs:
        env.reset()
        env.step({ONE: 0, TWO: 0})
        env.step({ONE: 2, TWO: 1})
    from overclock.adapters import pettingzoo

    assert pettingzoo._step._cache_size() == 1
