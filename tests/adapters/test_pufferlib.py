"""PufferLib's buffers filled in place; randomness that moves on; truncation that stays truncation."""

import importlib
import sys
import types

import numpy as np
import pytest
from games import RockPaperScissors

from overclock.errors import UsageError
from overclock.vector import host_vector

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

from overclock.adapters import pufferlib as adapter  # noqa: E402
from overclock.adapters.gymnasium import make_vec  # noqa: E402
from overclock.adapters.pufferlib import PufferVec  # noqa: E402

LANES = 4
RIGHT = np.ones(LANES, np.int32)  # always pushing right drops the pole in about ten steps


def shared_buffers(workers: int) -> dict[str, np.ndarray]:
    """One worker's slices of memory that several share, as PufferLib's Multiprocessing hands them out."""
    n = workers * LANES
    return {
        "observations": np.full((n, 4), np.nan, np.float32),
        "rewards": np.full(n, np.nan, np.float32),
        "terminals": np.ones(n, bool),
        "truncations": np.ones(n, bool),
        "masks": np.zeros(n, bool),
        "actions": np.zeros(n, np.int32),
    }


def test_buffers_are_allocated_as_pufferlib_does(backend):
    env = PufferVec("cartpole", LANES, backend=backend)
    kinds = {name: (getattr(env, name).shape, getattr(env, name).dtype) for name in shared_buffers(1)}
    assert kinds == {name: (array.shape, array.dtype) for name, array in shared_buffers(1).items()}
    assert env.masks.all()
    assert (env.num_agents, env.agents_per_batch, env.emulated, env.done) == (LANES, LANES, False, False)
    assert env.driver_env is env
    assert env.single_observation_space == gymnasium.make("CartPole-v1").observation_space
    assert env.single_action_space == gymnasium.spaces.Discrete(2)
    assert env.observation_space.shape == (LANES, 4)
    assert env.action_space.shape == (LANES,)


def test_every_call_returns_the_same_buffers(backend):
    env = PufferVec("cartpole", LANES, backend=backend)
    buffers = env.observations, env.rewards, env.terminals, env.truncations
    assert env.reset(seed=0)[0] is env.observations
    for _ in range(3):
        for returned, buffer in zip(env.step(RIGHT)[:4], buffers, strict=True):
            assert returned is buffer


def test_the_callers_slices_are_filled_and_nothing_else(backend):
    memory = shared_buffers(workers=3)
    mine = {name: array[LANES : 2 * LANES] for name, array in memory.items()}
    env, plain = PufferVec("cartpole", LANES, buf=mine, backend=backend), PufferVec("cartpole", LANES, backend=backend)
    env.reset(seed=5)
    plain.reset(seed=5)
    mine["actions"][:] = [0, 1, 0, 1]
    env.step(mine["actions"])
    plain.step(np.array([0, 1, 0, 1]))
    for name, array in memory.items():
        np.testing.assert_array_equal(array[LANES : 2 * LANES], getattr(plain, name), err_msg=name)
        untouched, before = np.delete(array, np.s_[LANES : 2 * LANES], 0), shared_buffers(2)[name]
        np.testing.assert_array_equal(untouched, before, err_msg=name)


def test_discrete_actions_may_be_shared_in_the_spaces_own_integers():
    """PufferLib's Multiprocessing allocates them so."""
    buf = {**shared_buffers(1), "actions": np.zeros(LANES, np.int64)}
    env = PufferVec("cartpole", LANES, buf=buf)
    env.reset(seed=0)
    env.step(RIGHT)
    np.testing.assert_array_equal(buf["actions"], RIGHT)


def test_episodes_are_those_of_the_gymnasium_adapter(backend):
    env, envs = PufferVec("cartpole", LANES, backend=backend), make_vec("cartpole", LANES, "same_step", backend)
    np.testing.assert_array_equal(env.reset(seed=2)[0], envs.reset(seed=2)[0])
    returns = np.zeros(LANES)
    finished = []
    for _ in range(40):
        observations, rewards, terminals, truncations, infos = env.step(RIGHT)
        obs, reward, terminated, truncated, info = envs.step(RIGHT)
        np.testing.assert_array_equal(observations, obs)
        np.testing.assert_array_equal(rewards, reward)
        np.testing.assert_array_equal(terminals, terminated)
        np.testing.assert_array_equal(truncations, truncated)
        returns += reward
        over = terminated | truncated
        expected = [{"episode_return": total, "episode_length": int(total)} for total in returns[over]]
        assert infos == expected
        finished += infos
        returns[over] = 0
        if over.any():
            np.testing.assert_array_equal(env.final_observations[over], info["final_obs"][over])
    assert len(finished) >= 2 * LANES


def test_send_and_recv_are_step(backend):
    split, whole = (PufferVec("cartpole", LANES, backend=backend) for _ in range(2))
    split.async_reset(seed=1)
    obs, infos = whole.reset(seed=1)
    observations, rewards, terminals, truncations, received, ids, masks = split.recv()
    np.testing.assert_array_equal(observations, obs)
    assert received == infos == []
    assert not np.any([rewards, terminals, truncations])
    np.testing.assert_array_equal(ids, np.arange(LANES))
    assert masks.all()
    for _ in range(15):
        split.send(RIGHT)
        for got, wanted in zip(split.recv()[:5], whole.step(RIGHT), strict=True):
            np.testing.assert_array_equal(got, wanted)


# ---- the two faults of PufferLib's gymnax bridge ----


def test_randomness_moves_on_with_every_step_episode_and_reset(flat_stairs):
    env = PufferVec(flat_stairs, 2)
    env.reset(seed=0)
    draws = [env.observations[:, 1].copy()]
    for _ in range(20):  # three episodes of six steps and more
        env.step(np.zeros(2, np.int32))
        draws += [env.observations[:, 1].copy(), env.final_observations[:, 1].copy()]
    for _ in range(3):
        draws.append(env.reset()[0][:, 1].copy())
    for lane in range(2):
        values = {float(draw[lane]) for draw in draws}
        assert len(values) == 1 + 20 + 3 + 3  # start, steps, three restarts inside step, three resets
    assert not {float(draw[0]) for draw in draws} & {float(draw[1]) for draw in draws}


def test_cartpoles_later_episodes_start_elsewhere(backend):
    env = PufferVec("cartpole", LANES, backend=backend)
    starts = [env.reset(seed=0)[0].copy()]
    for _ in range(60):
        observations, _, terminals, _, _ = env.step(RIGHT)
        starts.append(observations[terminals].copy())
    starts = np.concatenate(starts)
    assert len(np.unique(starts, axis=0)) == len(starts) >= 5 * LANES


def test_truncations_are_not_terminals(flat_stairs):
    env = PufferVec(flat_stairs, 2)
    env.reset(seed=0)
    for _ in range(5):
        env.step(np.array([0, 0]))
        assert not np.any([env.terminals, env.truncations])
    *_, infos = env.step(np.array([0, 2]))
    np.testing.assert_array_equal(env.terminals, [False, False])
    np.testing.assert_array_equal(env.truncations, [True, True])
    assert [info["episode_length"] for info in infos] == [6, 6]
    np.testing.assert_array_equal(env.final_observations[:, 0], [0, 2])  # where to bootstrap from
    np.testing.assert_array_equal(env.observations[:, 0], [0, 0])
    env.step(np.array([2, 0]))
    env.step(np.array([2, 0]))
    np.testing.assert_array_equal(env.terminals, [True, False])
    np.testing.assert_array_equal(env.truncations, [False, False])


# ---- seeds, misuse, and PufferLib itself ----


def test_seeds(backend):
    env = PufferVec("cartpole", LANES, seed=9, backend=backend)
    first = env.reset()[0].copy()
    assert not np.array_equal(env.reset()[0], first)
    np.testing.assert_array_equal(env.reset(seed=9)[0], first)
    np.testing.assert_array_equal(PufferVec("cartpole", 1, backend=backend).reset(seed=11)[0][0], first[2])


def test_reset_forgets_the_running_episode(flat_stairs):
    env = PufferVec(flat_stairs, 2)
    env.reset(seed=0)
    env.step(np.array([1, 1]))
    env.reset()
    for _ in range(6):
        *_, infos = env.step(np.array([0, 0]))
    assert [info["episode_length"] for info in infos] == [6, 6]


def test_misuse_is_refused(stairs):
    with pytest.raises(UsageError, match="Box observations"):
        PufferVec(stairs, 2)
    with pytest.raises(UsageError, match="2 players"):
        PufferVec(RockPaperScissors(), 2)
    with pytest.raises(UsageError, match="autoreset='off'"):
        PufferVec(host_vector("cartpole", 2, "off"))
    with pytest.raises(UsageError, match="buf has no 'masks'"):
        PufferVec("cartpole", LANES, buf={k: v for k, v in shared_buffers(1).items() if k != "masks"})
    with pytest.raises(UsageError, match=r"buf\['observations'\] must have shape \(4, 4\)"):
        PufferVec("cartpole", LANES, buf=shared_buffers(2))
    for name, dtype in [("observations", np.float64), ("rewards", np.float64), ("terminals", np.uint8),
                        ("truncations", np.int8), ("masks", np.float32), ("actions", np.float32)]:  # fmt: skip
        with pytest.raises(UsageError, match=rf"buf\['{name}'\] must be of .*, got {np.dtype(dtype)}"):
            PufferVec("cartpole", LANES, buf={**shared_buffers(1), name: shared_buffers(1)[name].astype(dtype)})
    env = PufferVec("cartpole", LANES)
    for call in (lambda: env.step(RIGHT), env.recv):
        with pytest.raises(UsageError, match="Call"):
            call()


def test_where_pufferlib_is_installed_it_is_one_of_its_environments(monkeypatch):
    """A stand-in for PufferLib (which needs torch): its base class declares read-only properties of these names."""

    class PufferEnv:
        emulated = done = driver_env = agents_per_batch = property(lambda self: None)

    monkeypatch.setitem(sys.modules, "pufferlib", types.SimpleNamespace(PufferEnv=PufferEnv))
    monkeypatch.delitem(sys.modules, adapter.__name__)
    env = importlib.import_module(adapter.__name__).PufferVec("cartpole", LANES)
    assert isinstance(env, PufferEnv)
    assert (env.driver_env, env.agents_per_batch) == (env, LANES)
    env.reset(seed=0)
    assert env.step(RIGHT)[1].sum() == LANES
