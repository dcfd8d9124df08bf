"""Our environments in the hands of Gymnasium's wrappers and checker, with dicts, masks, pictures and single steps."""

import importlib
import sys
import warnings

import numpy as np
import pytest
from games import RockPaperScissors

from overclock.env import Box, Dict, Discrete, MultiDiscrete
from overclock.errors import MissingError, UsageError
from overclock.vector import host_vector

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.wrappers import vector as vector_wrappers  # noqa: E402

from overclock.adapters.gymnasium import (  # noqa: E402
    MODES,
    GymnasiumEnv,
    from_gymnasium_space,
    make_vec,
    to_gymnasium_space,
)

LANES = 4
RIGHT = np.ones(LANES, np.int64)  # always pushing right drops the pole in about ten steps
AUTORESETS = list(MODES)

# ---- environments with more than CartPole has ----


@pytest.mark.parametrize("mode", AUTORESETS)
def test_dict_observations_masks_and_info(mode, stairs):
    envs = make_vec(stairs, 3, mode)
    obs, info = envs.reset(seed=0)
    assert obs in envs.observation_space
    assert set(info) == {"action_mask", "_action_mask"}
    for _ in range(12):
        legal = info["action_mask"]
        assert legal.dtype == np.int8  # what Discrete.sample takes
        np.testing.assert_array_equal(legal, [[1, 1, height < 3] for height in obs["height"]])
        actions = np.array([envs.single_action_space.sample(mask) for mask in legal])
        obs, _, terminated, truncated, info = envs.step(actions)
        assert obs in envs.observation_space
        if mode == "off" and (terminated | truncated).any():
            obs, info = envs.reset(options={"reset_mask": terminated | truncated})


def test_the_facts_of_an_ended_episode_are_in_final_info(stairs):
    envs = make_vec(stairs, 2, "same_step")
    envs.reset(seed=0)
    envs.step(np.array([2, 0]))
    obs, _, terminated, _, info = envs.step(np.array([2, 1]))
    np.testing.assert_array_equal(terminated, [True, False])
    np.testing.assert_array_equal(obs["height"], [0, 1])
    np.testing.assert_array_equal(info["final_obs"]["height"], [4, 1])
    np.testing.assert_array_equal(info["final_info"]["stair"], [4, 0])
    np.testing.assert_array_equal(info["final_info"]["_stair"], [True, False])
    assert info["final_info"]["ledger"]["total"][0] > 0
    np.testing.assert_array_equal(info["stair"], [0, 1])
    np.testing.assert_array_equal(info["_stair"], [False, True])


def test_games_are_refused_with_a_pointer_to_pettingzoo():
    for build in (lambda: make_vec(RockPaperScissors(), 2), lambda: GymnasiumEnv(RockPaperScissors())):
        with pytest.raises(UsageError, match=r"2 players; use overclock\.adapters\.pettingzoo"):
            build()


def test_spaces_come_back_from_gymnasium():
    spaces = [
        Discrete(7),
        MultiDiscrete((2, 3)),
        Box(-1.0, (1.0, 2.0), (2,)),
        Box(0, 255, (2, 2, 3), np.uint8),
        Dict({"b": Discrete(2), "a": Dict({"c": Box(0, 1, (1,), np.float64)})}),
    ]
    for space in spaces:
        theirs = to_gymnasium_space(space)
        assert to_gymnasium_space(from_gymnasium_space(theirs)) == theirs
        value = theirs.sample()
        assert from_gymnasium_space(theirs).contains(value)
    with pytest.raises(UsageError, match="no counterpart"):
        from_gymnasium_space(gymnasium.spaces.Text(3))


# ---- Gymnasium's wrappers around ours ----


@pytest.mark.parametrize("mode", AUTORESETS)
def test_record_episode_statistics_counts_whole_episodes(mode, backend):
    """In SAME_STEP, Gymnasium 1.3.0's wrapper overlooks the first step of later episodes, whoever is inside it."""
    envs = vector_wrappers.RecordEpisodeStatistics(make_vec("cartpole", LANES, mode, backend))
    envs.reset(seed=1)
    lengths, overlooked = np.zeros(LANES, int), np.zeros(LANES, int)
    over, recorded = np.zeros(LANES, bool), 0
    for _ in range(40):
        restarting = over & (mode == "next_step")
        *_, terminated, truncated, info = envs.step(RIGHT)
        lengths = np.where(restarting, 0, lengths + 1)
        over = terminated | truncated
        if over.any():
            np.testing.assert_array_equal(info["_episode"], over)
            np.testing.assert_array_equal(info["episode"]["l"][over], (lengths - overlooked)[over])
            np.testing.assert_array_equal(info["episode"]["r"], info["episode"]["l"])  # one point per step
            recorded += int(over.sum())
            lengths[over] = 0
            overlooked[over] = mode == "same_step"
            if mode == "off":
                envs.reset(options={"reset_mask": over})
    assert recorded >= 2 * LANES


def test_observation_and_reward_wrappers(backend):
    envs = vector_wrappers.NormalizeObservation(make_vec("cartpole", LANES, "next_step", backend))
    envs = vector_wrappers.NormalizeReward(vector_wrappers.ClipReward(envs, 0.0, 0.5))
    obs, _ = envs.reset(seed=1)
    for _ in range(60):
        obs, reward, *_ = envs.step(envs.action_space.sample())
        assert np.all(np.isfinite(obs))
        assert np.all(np.isfinite(reward))
    assert np.abs(obs).max() > 0


def test_info_as_lists(stairs):
    envs = vector_wrappers.DictInfoToList(make_vec(stairs, 2, "same_step"))
    _, info = envs.reset(seed=0)
    assert [sorted(one) for one in info] == [["action_mask"]] * 2
    envs.step(np.array([2, 1]))
    *_, info = envs.step(np.array([2, 1]))
    assert info[0]["final_info"]["stair"] == 4
    assert "final_info" not in info[1]
    assert info[1]["ledger"]["total"] > 0


def test_flattened_dicts(stairs):
    envs = vector_wrappers.FlattenObservation(make_vec(stairs, 2, "next_step"))
    obs, _ = envs.reset(seed=0)
    np.testing.assert_array_equal(obs[:, :5], np.eye(5)[[0, 0]])
    np.testing.assert_array_equal(envs.step(np.array([1, 2]))[0][:, :5], np.eye(5)[[1, 2]])


# ---- the single environment ----


def warnings_of_the_checker(env: GymnasiumEnv) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env)
    return [str(warning.message) for warning in caught]


def test_gymnasiums_checker_has_nothing_new_to_say(backend):
    """The two remarks it has are those about Gymnasium's own CartPole: velocities are unbounded."""
    ours = warnings_of_the_checker(GymnasiumEnv("cartpole", backend=backend))
    assert len(ours) == 2
    assert all("infinity" in message for message in ours)


def test_gymnasiums_checker_passes_dicts_and_masks(stairs):
    messages = warnings_of_the_checker(GymnasiumEnv(stairs))
    assert all("not having a spec" in message for message in messages)


def test_single_environment_keeps_the_flags_apart(stairs):
    env = GymnasiumEnv(stairs)
    env.reset(seed=0)
    flags = [env.step(0)[2:4] for _ in range(6)]
    assert flags == [(False, False)] * 5 + [(False, True)]
    env.reset()
    env.step(2)
    obs, reward, terminated, truncated, info = env.step(2)
    assert (terminated, truncated) == (True, False)
    assert isinstance(reward, float)
    assert info["stair"] == obs["height"] == 4
    assert env.action_space.sample(info["action_mask"]) in env.action_space


def test_single_environment_needs_a_batch_of_one_without_auto_reset():
    with pytest.raises(UsageError, match="num_envs=1"):
        GymnasiumEnv(host_vector("cartpole", 2, "off"))
    with pytest.raises(UsageError, match="autoreset='off'"):
        GymnasiumEnv(host_vector("cartpole", 1, "same_step"))


# ---- pictures, and what is missing ----


def test_rendering_shows_each_lane(stairs):
    envs = make_vec("cartpole", 2, render_mode="rgb_array")
    envs.reset(seed=0)
    for _ in range(8):
        envs.step(np.array([0, 1]))
    left, right = envs.render()
    assert left.shape == right.shape
    assert left.dtype == np.uint8
    assert left.shape[-1] == 3
    assert not np.array_equal(left, right)
    single = GymnasiumEnv("cartpole", render_mode="rgb_array")
    single.reset(seed=1)
    for _ in range(8):
        single.step(1)
    np.testing.assert_array_equal(single.render(), right)
    assert make_vec("cartpole", 2).render() is None
    unpainted = make_vec(stairs, 2, render_mode="rgb_array")
    assert unpainted.metadata["render_modes"] == []
    assert unpainted.render() is None
    with pytest.raises(UsageError, match="render_mode"):
        make_vec("cartpole", 2, render_mode="human")


def test_options_are_checked():
    for bad, sentence in [
        ({"autoreset": "later"}, "autoreset must be"),
        ({"backend": "tpu"}, "backend must be"),
        ({"sutton_reward": True}, "did you mean 'sutton_barto_reward'"),
        ({"max_episode_steps": 0}, "whole number from 1"),
        ({"max_episode_steps": 2.5}, "or -1 for no limit, got 2.5"),
        ({"max_steps": 3}, "called max_episode_steps"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            make_vec("cartpole", 2, **bad)


def test_without_gymnasium_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for name in ("overclock.adapters.gymnasium", "overclock.adapters.gymnasium_spaces"):
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingError, match=r"pip install 'overclock\[gymnasium\]'"):
        importlib.import_module("overclock.adapters.gymnasium")
