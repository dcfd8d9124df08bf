"""What a Rust batch promises beyond its rules: replay, save and restore, buffers, threads, and clear refusals."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from overclock.env import Rng, Section
from overclock.env.spaces import structure
from overclock.envs.cartpole.native import NativeCartPole
from overclock.errors import UsageError
from overclock.vector import host_vector

pytest.importorskip("overclock_native", reason="overclock-native is not built; run `make native`")

LANES = 8


def play(batch, steps=100, seed=1):
    """Copies of everything that `steps` random steps produce."""
    actions = np.random.default_rng(seed).integers(0, 2, (steps, batch.num_envs), np.int32)
    outputs = []
    for row in actions:
        step = batch.step(row)
        outputs.append([a.copy() for a in (step.obs, step.reward, step.terminated, step.truncated, step.final_obs)])
    return [np.stack(arrays) for arrays in zip(*outputs, strict=True)]


def assert_equal_outputs(left, right):
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


def test_host_vector_gives_the_rust_batch_with_the_spaces_of_the_jax_one():
    native = host_vector("cartpole", LANES, "next_step", seed=4, backend="native")
    assert isinstance(native, NativeCartPole)
    jax_batch = host_vector("cartpole", LANES, "next_step", seed=4)
    for name in ("num_envs", "num_players", "autoreset", "observation_space", "action_space"):
        assert getattr(native, name) == getattr(jax_batch, name)
    assert native.action_mask() is None
    step = native.step(np.zeros(LANES, np.int32))
    expected = structure(native.observation_space, (LANES,))
    assert (step.obs.shape, step.obs.dtype) == (expected.shape, expected.dtype)
    assert (step.reward.dtype, step.terminated.dtype, step.truncated.dtype) == (np.float32, np.bool_, np.bool_)
    assert step.info == {}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_given_draws_replace_the_streams_and_nothing_else(autoreset):
    recorded, replayed = NativeCartPole(LANES, autoreset, seed=1), NativeCartPole(LANES, autoreset, seed=2)
    assert not np.array_equal(recorded.reset(), replayed.reset())
    replayed.reset(draws=recorded.reset())
    actions = np.random.default_rng(0).integers(0, 2, (100, LANES), np.int32)
    restarts = 0
    for row in actions:
        expected = recorded.step(row)
        # The observations after this step: for lanes that restarted in it, their first states.
        got = replayed.step(row, draws=expected.obs)
        np.testing.assert_array_equal(got.obs, expected.obs)
        np.testing.assert_array_equal(got.final_obs, expected.final_obs)
        np.testing.assert_array_equal(got.terminated, expected.terminated)
        restarts += expected.terminated.sum()
    assert restarts > LANES
    left, right = recorded.get_state(), replayed.get_state()
    np.testing.assert_array_equal(left["rng.counter"], right["rng.counter"])
    assert not np.array_equal(left["rng.k0"], right["rng.k0"])


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_a_restored_batch_continues_exactly(autoreset):
    batch = NativeCartPole(LANES, autoreset, seed=3)
    play(batch, 37)
    saved = batch.get_state()
    expected = play(batch)
    other = NativeCartPole(LANES, autoreset, seed=99)
    other.set_state(saved)
    assert_equal_outputs(play(other), expected)
    batch.set_state(saved)
    assert_equal_outputs(play(batch), expected)


def test_a_cloned_lane_repeats_its_source_through_later_episodes():
    batch = NativeCartPole(3, seed=3)
    play(batch, 5)
    untouched = batch.get_state()
    batch.clone(0, 2)
    for name, array in batch.get_state().items():
        assert array[2] == array[0]
        assert array[1] == untouched[name][1]
    ended = 0
    for event in range(100):
        step = batch.step([event % 2, 0, event % 2])
        np.testing.assert_array_equal(step.obs[0], step.obs[2])
        ended += step.terminated[2]
    assert ended > 1


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_play_takes_the_steps_of_the_lanes_own_random_actions(autoreset):
    played, stepped = (NativeCartPole(LANES, autoreset, seed=6, max_steps=30) for _ in range(2))
    rewards = episodes = 0
    for _ in range(100):
        state = stepped.get_state()
        rng = Rng(k0=state["rng.k0"], k1=state["rng.k1"], counter=state["rng.counter"]).of_section(Section.ACTION)
        step = stepped.step(np.asarray(rng.integers(0, 2)))
        rewards += step.reward.sum()
        episodes += (step.terminated | step.truncated).sum()
    assert played.play(100) == (rewards, episodes)
    assert episodes > LANES
    for name, array in stepped.get_state().items():
        np.testing.assert_array_equal(played.get_state()[name], array, err_msg=name)


def test_a_saved_state_is_a_copy():
    batch = NativeCartPole(2, seed=0)
    saved = batch.get_state()
    before = saved["lanes.rules.theta"].copy()
    batch.step([0, 1])
    batch.reset()
    np.testing.assert_array_equal(saved["lanes.rules.theta"], before)


def test_own_arrays_are_reused_and_given_ones_are_written_in_place():
    batch = NativeCartPole(LANES, seed=0)
    actions = np.ones(LANES, np.int32)
    first, second = batch.step(actions), batch.step(actions)
    assert first.obs is second.obs
    assert batch.reset() is first.obs
    big = np.full((2, LANES, 4), np.nan, np.float32)
    flags = np.ones(LANES, bool)
    own_reward = second.reward
    step = batch.step(actions, out={"obs": big[1], "terminated": flags})
    assert np.all(np.isnan(big[0]))
    np.testing.assert_array_equal(big[1], step.final_obs)
    assert step.terminated is flags
    assert not flags.any()
    assert step.reward is own_reward
    expected = batch.reset(out={"obs": big[0]})
    np.testing.assert_array_equal(big[0], expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.uint64, np.bool_])
def test_actions_of_any_integer_dtype_and_layout_mean_the_same(dtype):
    spread = np.zeros(2 * LANES, dtype)
    spread[::2] = np.arange(LANES) % 2
    expected = NativeCartPole(LANES, seed=0).step([lane % 2 for lane in range(LANES)]).obs
    np.testing.assert_array_equal(NativeCartPole(LANES, seed=0).step(spread[::2]).obs, expected)


BATCH_SCRIPT = """
import hashlib, os, signal, numpy as np
from overclock_native import VecCartPole
batch = VecCartPole(3 * 2048 + 5, "same_step", 8)
digest = hashlib.sha256()
for row in np.random.default_rng(1).integers(0, 2, (60, batch.num_envs), np.int32):
    for array in batch.step(row):
        digest.update(array.tobytes())
print(digest.hexdigest())
child = os.fork()
if child == 0:
    signal.alarm(30)  # waiting for threads that a fork does not have would never end
    batch.step(np.zeros(batch.num_envs, np.int32))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_results_do_not_depend_on_threads_and_a_forked_process_still_steps():
    digest = hashlib.sha256()
    batch = NativeCartPole(3 * 2048 + 5, seed=8)
    for row in np.random.default_rng(1).integers(0, 2, (60, batch.num_envs), np.int32):
        step = batch.step(row)
        for array in (step.obs, step.reward, step.terminated, step.truncated, step.final_obs):
            digest.update(array.tobytes())
    for threads in ("1", "3"):
        done = subprocess.run(
            [sys.executable, "-c", BATCH_SCRIPT],
            env={**os.environ, "RAYON_NUM_THREADS": threads},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [digest.hexdigest(), "7"]


NARROW = np.zeros((LANES, 3), np.float32)
FROZEN = np.zeros(LANES, np.float32)
FROZEN.flags.writeable = False
SHARED = np.zeros((LANES, 4), np.float32)
MISALIGNED = np.zeros(4 * LANES + 1, np.uint8)[1:].view(np.float32)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: b.step(np.zeros(LANES - 1, np.int32)), r"Actions must have shape \(8,\), got \(7,\)"),
        (lambda b: b.step(np.zeros((LANES, 1), np.int64)), r"Actions must have shape \(8,\), got \(8, 1\)"),
        (lambda b: b.step(np.zeros(LANES, np.float32)), "Actions must be whole numbers, got float32"),
        (lambda b: b.step(["left"] * LANES), "Actions must be whole numbers, got <U4"),
        (lambda b: b.step([0] * (LANES - 1) + [2]), "Actions must be 0 to 1, got 2 in lane 7"),
        (lambda b: b.step(np.full(LANES, -1, np.int32)), "Actions must be 0 to 1, got -1 in lane 0"),
        (lambda b: b.step([[0], [0, 1]]), "Actions are not an array"),
        (lambda b: b.step(None), "Actions must be whole numbers, got object"),
        (lambda b: b.step([0] * LANES, draws=NARROW), r"draws must have shape \(8, 4\), got \(8, 3\)"),
        (lambda b: b.step([0] * LANES, draws="x"), "draws cannot be converted to float32"),
        (lambda b: b.step([0] * LANES, step_draws=[0] * LANES), "CartPole's steps draw nothing"),
        (lambda b: b.step([0] * LANES, out={"observation": SHARED}), "out has no place for 'observation'"),
        (lambda b: b.step([0] * LANES, out={"obs": NARROW}), r"out\['obs'\] must be a C-contiguous float32 array"),
        (lambda b: b.step([0] * LANES, out={"truncated": FROZEN}), r"out\['truncated'\] must be .* bool array"),
        (lambda b: b.step([0] * LANES, out={"reward": FROZEN}), r"out\['reward'\] is read-only"),
        (lambda b: b.step([0] * LANES, out={"reward": MISALIGNED}), r"out\['reward'\] is .*misaligned"),
        (lambda b: b.step([0] * LANES, out={"obs": SHARED, "final_obs": SHARED}), r"'final_obs'\] .*shares memory"),
        (lambda b: b.reset(out={"obs": SHARED[::-1]}), r"out\['obs'\] must be a C-contiguous"),
        (lambda b: b.reset(seeds=[1, 2]), "Got 2 seeds for 8 environments"),
        (lambda b: b.reset(seeds=[1.5] * LANES), "a seed must be a whole number, got 1.5"),
        (lambda b: b.reset(seeds=3), "seeds must be a sequence, got 3"),
        (lambda b: b.reset(mask=[True]), r"mask must have shape \(8,\), got \(1,\)"),
        (lambda b: b.reset(draws=NARROW), "draws must have shape"),
        (lambda b: b.clone(0, LANES), "There is no lane 8; lanes are 0 to 7"),
        (lambda b: b.clone(-1, 0), "There is no lane -1"),
        (lambda b: b.set_state({}), "it differs in ended, lanes.rules.theta"),
        (lambda b: b.set_state({**b.get_state(), "odd": FROZEN}), "it differs in odd"),
        (
            lambda b: b.set_state({**b.get_state(), "rng.k0": np.zeros(LANES, np.int64)}),
            r"rng.k0 is int64 of shape \(8,\), expected uint32 of shape \(8,\)",
        ),
        (lambda b: b.set_state({**b.get_state(), "ended": [True]}), r"ended is bool of shape \(1,\), expected bool"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_changes_nothing(call, sentence):
    batch = NativeCartPole(LANES, seed=0)
    before = batch.get_state()
    with pytest.raises(UsageError, match=sentence) as raised:
        call(batch)
    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith(".")
    for name, array in batch.get_state().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"num_envs": 0}, "num_envs must be a positive whole number, got 0."),
        ({"num_envs": True}, "num_envs must be a positive whole number, got True."),
        ({"num_envs": 2.5}, "num_envs must be a positive whole number, got 2.5."),
        ({"num_envs": 10**12}, "num_envs must be a positive whole number"),
        ({"num_envs": 1, "autoreset": "never"}, "autoreset must be 'same_step', 'next_step' or 'off', got 'never'."),
        ({"num_envs": 1, "seed": 0.5}, "seed must be a whole number, got 0.5."),
        ({"num_envs": 1, "max_steps": 0}, "max_steps must be a positive 32-bit number or None, got 0."),
    ],
)
def test_wrong_options_are_one_sentence(arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        NativeCartPole(**arguments)


def test_flags_of_foreign_memory_are_read_by_truth():
    batch = NativeCartPole(2, "off", seed=0)
    before = batch.get_state()
    batch.reset(mask=np.array([2, 0], np.uint8).view(bool))
    after = batch.get_state()
    assert after["lanes.rules.x"][0] != before["lanes.rules.x"][0]
    assert after["lanes.rules.x"][1] == before["lanes.rules.x"][1]
