"""Hand-over by DLPack, with NumPy as the other library: same memory, both ways."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.adapters.dlpack import hand_over, take_over
from overclock.envs.cartpole.env import CartPole
from overclock.errors import UsageError
from overclock.vector import vectorize

ALIGNMENT = 64


def aligned(values: np.ndarray, offset: int = 0) -> np.ndarray:
    """A copy that starts `offset` bytes after a multiple of 64."""
    room = np.empty(values.nbytes + 2 * ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT + offset
    placed = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    placed[...] = values
    return placed


def test_a_step_is_handed_over_without_a_copy():
    venv = vectorize(CartPole(), 16)
    _, state = venv.reset(jax.random.key(0))
    obs, state, reward, terminated, truncated, info = venv.step(state, jnp.ones(16, jnp.int32))
    given = (obs, reward, {"flags": (terminated, truncated), "final": info["final_observation"]})
    taken = hand_over(given)
    assert jax.tree.structure(taken) == jax.tree.structure(given)
    for theirs, ours in zip(jax.tree.leaves(taken), jax.tree.leaves(given), strict=True):
        assert isinstance(theirs, np.ndarray)
        assert theirs.ctypes.data == ours.unsafe_buffer_pointer()
        assert theirs.dtype == ours.dtype
        assert np.array_equal(theirs, ours)


def test_what_is_handed_over_is_for_reading():
    view = hand_over(jnp.arange(4.0))
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1.0


def test_what_is_handed_over_outlives_the_jax_array():
    view = hand_over(jnp.arange(1000.0) * 2)
    jnp.zeros(1000).block_until_ready()
    assert view[999] == 1998.0


def test_flags_stay_bool_or_become_uint8():
    flags = jnp.array([True, False, True])
    assert hand_over(flags).dtype == np.bool_
    as_bytes = hand_over({"flags": flags, "reward": jnp.ones(3, jnp.float32)}, bool_as_uint8=True)
    assert as_bytes["flags"].dtype == np.uint8
    assert as_bytes["flags"].tolist() == [1, 0, 1]
    assert as_bytes["reward"].dtype == np.float32


def test_actions_are_taken_over_without_a_copy_where_jax_can():
    source = aligned(np.arange(16, dtype=np.int32))
    assert take_over(source).unsafe_buffer_pointer() == source.ctypes.data
    elsewhere = aligned(np.arange(16, dtype=np.int32), offset=4)
    taken = take_over(elsewhere)
    assert taken.unsafe_buffer_pointer() != elsewhere.ctypes.data
    assert taken.tolist() == list(range(16))


def test_a_copy_leaves_the_source_free():
    source = aligned(np.zeros(16, np.int32))
    taken = take_over({"action": source}, copy=True)["action"]
    source[:] = 7
    assert taken.tolist() == [0] * 16


def test_taken_actions_drive_a_batch():
    venv = vectorize(CartPole(), 4)
    _, state = venv.reset(jax.random.key(0))
    pushes = np.array([0, 1, 0, 1])  # int64, as a policy's argmax is
    obs, *_ = venv.step(state, take_over(pushes))
    expected, *_ = venv.step(state, jnp.array(pushes, jnp.int32))
    assert jnp.array_equal(obs, expected)


def test_bools_come_back_as_bools():
    assert take_over(np.array([True, False])).dtype == jnp.bool_


def test_arrays_that_cannot_be_taken_over_are_said():
    with pytest.raises(UsageError, match="contiguous, writable"):
        take_over(np.arange(8)[::2])
    frozen = np.arange(8)
    frozen.flags.writeable = False
    with pytest.raises(UsageError, match="contiguous, writable"):
        take_over(frozen)
