"""A saved vector state continues exactly, and a file is whole or is not there."""

import os

import jax
import numpy as np
import pytest
import safetensors.numpy
from probes import Countdown, Dealer, Rooms
from vector.lanes import assert_equal

from overclock.errors import UsageError
from overclock.vector import EpisodeStatistics, Optimistic, Pool, load_state, rollout, save_state, vectorize

ROLLOUT = jax.jit(rollout, static_argnames=("venv", "num_steps", "policy", "keep", "unroll"))


@pytest.mark.parametrize(
    "venv",
    [
        vectorize(Countdown(), 4),
        vectorize(Rooms(), 4, "next_step", Pool(3)),
        EpisodeStatistics(vectorize(Dealer(), 4, "same_step", Optimistic(2))),
    ],
    ids=["fresh", "pool", "statistics"],
)
def test_a_restored_state_continues_exactly_in_the_middle_of_episodes(venv, tmp_path):
    _, state = venv.reset(jax.random.key(1))
    middle, _ = ROLLOUT(venv, state, num_steps=5)
    save_state(tmp_path / "state", middle)
    assert os.listdir(tmp_path) == ["state"]

    _, other = venv.reset(jax.random.key(2))
    restored = load_state(tmp_path / "state", other)
    assert_equal(restored, middle)
    assert_equal(ROLLOUT(venv, restored, num_steps=9), ROLLOUT(venv, middle, num_steps=9))


@pytest.fixture
def saved(tmp_path):
    _, state = vectorize(Countdown(), 4).reset(jax.random.key(1))
    save_state(tmp_path / "state", state)
    return tmp_path / "state", state


@pytest.mark.parametrize("damage", [b"", b"hello", b"\xff" * 64])
def test_a_file_that_is_no_state_is_refused_in_one_sentence(saved, damage):
    path, state = saved
    path.write_bytes(damage)
    with pytest.raises(UsageError, match="not a saved state, or it is damaged") as caught:
        load_state(path, state)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_truncated_file_is_refused(saved):
    path, state = saved
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(UsageError, match="damaged"):
        load_state(path, state)


def test_a_missing_file_is_refused(saved):
    path, state = saved
    with pytest.raises(UsageError, match="Cannot read a state from"):
        load_state(path.with_name("nothing"), state)


def test_states_of_other_environments_and_sizes_are_refused(saved):
    path, _ = saved
    with pytest.raises(UsageError, match=r"differs in .*lanes\.rules\.left"):
        load_state(path, vectorize(Rooms(), 4).reset(jax.random.key(0))[1])
    with pytest.raises(UsageError, match=r"int32\[4\], expected int32\[5\]"):
        load_state(path, vectorize(Countdown(), 5).reset(jax.random.key(0))[1])


def test_states_of_other_precision_are_refused(tmp_path):
    save_state(tmp_path / "state", {"x": np.zeros(2, np.float32)})
    with pytest.raises(UsageError, match=r"float32\[2\], expected float64\[2\]"):
        load_state(tmp_path / "state", {"x": np.zeros(2, np.float64)})


@pytest.mark.parametrize(("interruption", "seen"), [(KeyboardInterrupt, KeyboardInterrupt), (OSError, UsageError)])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(saved, monkeypatch, interruption, seen):
    path, _ = saved
    before = path.read_bytes()

    def interrupted(*_):
        raise interruption

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(seen):
        save_state(path, vectorize(Countdown(), 4).reset(jax.random.key(9))[1])
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["state"]


def test_a_place_that_cannot_be_written_is_one_sentence(saved):
    path, state = saved
    with pytest.raises(UsageError, match="Cannot write"):
        save_state(path / "below a file", state)


def test_every_array_is_readable_by_name(saved):
    path, state = saved
    arrays = safetensors.numpy.load_file(path)
    np.testing.assert_array_equal(arrays["lanes.rules.left"], state.lanes.rules.left)
    np.testing.assert_array_equal(arrays["rng.counter"], state.rng.counter)
