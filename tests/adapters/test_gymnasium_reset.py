"""Beside Gymnasium's own CartPole: the bounds of one reset, and what is said to those who forget to reset."""

import warnings

import numpy as np
import pytest

from overclock.errors import UsageError

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

from overclock.adapters.gymnasium import GymnasiumEnv, make_vec  # noqa: E402

LANES = 4
RIGHT = np.ones(LANES, np.int64)  # always pushing right drops the pole in about ten steps


def both_singles():
    return gymnasium.make("CartPole-v1"), gymnasium.make("overclock/cartpole-v1")


def test_low_and_high_bound_one_reset():
    for options, low, high in [
        ({"low": 0.03, "high": 0.03}, 0.03, 0.03),  # no randomness is left, so both give the same
        ({"low": 0.04}, 0.04, 0.05),
        ({"high": np.float64(-0.049)}, -0.05, -0.049),
        (None, -0.05, 0.05),
    ]:
        low, high = np.float32(low), np.float32(high)
        for env in both_singles():
            for _ in range(10):
                obs, _ = env.reset(options=options)
                assert np.all((obs >= low) & (obs <= high)), (options, obs)


@pytest.mark.parametrize("options", [{"low": 0.2}, {"low": 1, "high": -1}, {"low": "far"}, {"high": None}])
def test_impossible_bounds_are_refused_by_both(options):
    theirs, ours = both_singles()
    with pytest.raises(ValueError, match=r"bound|float"):
        theirs.reset(options=options)
    with pytest.raises(UsageError, match="reset option"):
        ours.reset(options=options)


def test_bounds_hold_for_the_lanes_and_the_reset_they_are_given_to():
    theirs, ours = (
        SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * LANES, autoreset_mode=AutoresetMode.SAME_STEP),
        make_vec("cartpole", LANES, "same_step"),
    )
    bounds, mask = {"low": 0.1, "high": 0.1}, np.array([True, False, True, False])
    compiled = None
    for envs in (theirs, ours):
        envs.reset(seed=1)
        obs, _ = envs.reset(options={"reset_mask": mask, **bounds})
        np.testing.assert_array_equal(obs == np.float32(0.1), np.repeat(mask[:, None], 4, axis=1))
        obs, _ = envs.reset(seed=1, options=bounds)
        np.testing.assert_array_equal(obs, np.full((LANES, 4), 0.1, np.float32))
        over = np.zeros(LANES, bool)
        while not over.all():
            obs, _, terminated, _, _ = envs.step(RIGHT)
            assert np.all(np.abs(obs[terminated]) <= 0.05)  # episodes that start by themselves have the usual bounds
            over |= terminated
        if envs is ours:
            cache = type(envs.host.venv).reset_lanes._cache_size
            compiled = cache()
            envs.reset(seed=2, options={"low": 0.0, "high": 0.01})
            assert cache() == compiled
    np.testing.assert_array_equal(ours.reset(seed=1)[0], make_vec("cartpole", LANES).reset(seed=1)[0])


def test_rust_batches_have_fixed_bounds():
    pytest.importorskip("overclock_native", reason="the Rust extension overclock_native is not built")
    with pytest.raises(UsageError, match="use backend='xla'"):
        GymnasiumEnv("cartpole", backend="native").reset(options={"low": 0.0})


def test_stepping_past_the_end_warns_once_as_gymnasium_does(backend):
    for env in (gymnasium.make("CartPole-v1"), gymnasium.make("overclock/cartpole-v1", backend=backend)):
        for seed in range(2):  # in each episode
            env.reset(seed=seed)
            said = []
            while True:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    terminated = env.step(1)[2]
                said.append(len(caught))
                if terminated and len(said) > 14:
                    break
            ends = len(said) - said[::-1].index(1) - 1
            assert sum(said) == 1
            assert 8 <= ends <= 12  # the step after the pole fell
