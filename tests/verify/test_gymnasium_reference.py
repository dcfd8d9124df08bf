"""A Gymnasium reference: every draw recorded, as a copy, and replayable."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium")

from overclock.envs.cartpole.reference import reference  # noqa: E402
from overclock.verify.gymnasium_reference import RecordingGenerator  # noqa: E402


def test_recording_changes_no_number():
    plain, recording = np.random.default_rng(5), RecordingGenerator(np.random.PCG64(5))
    assert plain.uniform(size=3).tolist() == recording.uniform(size=3).tolist()
    assert plain.integers(0, 10) == recording.integers(0, 10)
    assert plain.choice(5) == recording.choice(5)
    assert [name for name, _ in recording.calls] == ["uniform", "integers", "choice"]


def test_a_recorded_draw_is_a_copy():
    recording = RecordingGenerator(np.random.PCG64(5))
    drawn = recording.uniform(size=3)
    before = drawn.copy()
    drawn *= 2
    np.testing.assert_array_equal(recording.calls[0][1], before)


def test_shuffle_records_the_outcome():
    recording = RecordingGenerator(np.random.PCG64(5))
    deck = np.arange(10)
    recording.shuffle(deck)
    np.testing.assert_array_equal(recording.calls[0][1], deck)


def test_the_draws_of_a_reset_are_its_first_state():
    subject = reference(3)
    seen = subject.reset(np.ones(3, bool), np.arange(3))
    for name in ("x", "x_dot", "theta", "theta_dot"):
        np.testing.assert_array_equal(seen.draws[name], seen.state[name])
    plain = gymnasium.make("CartPole-v1")
    np.testing.assert_array_equal(plain.reset(seed=1)[0], seen.outputs["obs"][1])


def test_state_can_be_read_and_written():
    subject = reference(2)
    subject.reset(np.ones(2, bool), np.arange(2))
    first = subject.step(np.array([0, 1], np.int32))
    later = subject.step(np.array([0, 1], np.int32))
    subject.set_state(first.state)
    again = subject.step(np.array([0, 1], np.int32))
    np.testing.assert_array_equal(again.outputs["obs"], later.outputs["obs"])
    np.testing.assert_array_equal(again.state["steps"], [2, 2])
