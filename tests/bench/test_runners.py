"""What runners count beside the time: episodes of lanes that are out of step, and enough of them; actions; threads."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from overclock.bench.peers import fastest, thread_choices
from overclock.bench.program import Outputs
from overclock.bench.runners import BURN_IN, EPISODES, HostRunner, Identity, JaxRunner, windows

LENGTH = 20  # steps of an episode, once the first BURN_IN steps, in which every step ends one, are over


def identity(lanes, autoreset="same_step"):
    return Identity("made up", "1", lanes, "cpu", autoreset)


class Settling:
    """A batch whose episodes are short at first."""

    def __init__(self, lanes):
        self.lanes, self.ends = lanes, 0
        self.reset()

    def reset(self):
        self.steps = 0

    def step(self, actions):
        assert actions.shape == (self.lanes,)
        self.steps += 1
        ended = np.full(self.lanes, self.steps <= BURN_IN or self.steps % LENGTH == 0)
        self.ends += int(ended.sum()) if self.steps > BURN_IN else 0
        zeros = np.zeros(self.lanes, np.float32)
        return zeros, zeros, ended, np.zeros(self.lanes, np.bool_)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_batch_stepped_from_python_is_counted_after_burning_in(autoreset):
    batch = Settling(2)
    runner = HostRunner(identity(2, autoreset), batch, np.zeros(1000, np.int32))
    runner.prepare(3)
    runner.call()
    # In next-step mode one step of every episode only restarts it.
    assert runner.facts().mean_episode_length == pytest.approx(LENGTH - (autoreset == "next_step"))
    assert batch.ends >= EPISODES


def test_steps_that_were_timed_count_as_burning_in():
    batch = Settling(2)
    runner = HostRunner(identity(2), batch, np.zeros(1000, np.int32))
    runner.prepare(BURN_IN + LENGTH)
    runner.call()
    runner.facts()
    assert batch.steps == BURN_IN + LENGTH + EPISODES // 2 * LENGTH


def test_counting_stops_where_nothing_ends():
    batch = Settling(2)
    batch.step = lambda actions: (np.zeros(2, np.float32), np.zeros(2, np.float32), *np.zeros((2, 2), np.bool_))
    runner = HostRunner(identity(2), batch, np.zeros(1000, np.int32))
    runner.prepare(1)
    assert runner.facts().mean_episode_length is None


def settling_program(lanes, length=LENGTH):
    def step(steps):
        steps = steps + 1
        ended = (steps <= BURN_IN) | (steps % length == 0)
        flags, zeros = jnp.full(lanes, ended), jnp.zeros(lanes, jnp.float32)
        return steps, Outputs(zeros, zeros, zeros, flags, jnp.zeros(lanes, jnp.bool_))

    return JaxRunner(identity(lanes), lambda: jnp.int32(0), step)


def test_a_compiled_batch_is_counted_after_burning_in():
    runner = settling_program(2)
    runner.prepare(40)
    runner.call()
    assert runner.facts().mean_episode_length == pytest.approx(LENGTH)
    assert runner.episodes >= 2 * BURN_IN + EPISODES  # all of them, for whoever counts from the start


def test_counting_stops_where_a_compiled_batch_never_ends():
    runner = settling_program(2, length=1 << 30)
    runner.prepare(4096)
    assert runner.facts().mean_episode_length is None


def test_a_small_batch_gets_new_actions_at_every_step_for_long():
    row = np.arange(1000)
    table = windows(row, 4)
    assert table.shape == (250, 4)
    assert table.ravel().tolist() == row.tolist()


def test_a_large_batch_gets_many_different_steps_from_a_row_that_is_hardly_longer():
    lanes = 1 << 16
    row = np.random.default_rng(0).integers(0, 2, (1 << 17) + lanes)
    table = windows(row, lanes)
    assert table.shape == (33, lanes)
    assert np.shares_memory(table, row)
    assert all(step.flags.c_contiguous for step in table)
    assert len({step.tobytes() for step in table}) == 33
    assert np.array_equal(table[-1], row[-lanes:])


def test_actions_may_have_axes_of_their_own():
    row = np.arange(60).reshape(20, 3)
    assert windows(row, 2)[1].tolist() == [[6, 7, 8], [9, 10, 11]]


def test_threads_are_tried_up_to_the_cores_and_the_lanes():
    assert thread_choices(1024, 6) == [0, 1, 2, 4, 6]
    assert thread_choices(1024, 1) == [0, 1]
    assert thread_choices(3, 16) == [0, 1, 2, 3]


def test_the_fastest_number_of_threads_is_taken(monkeypatch):
    from overclock.bench import peers

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    class Pool:
        def __init__(self, threads):
            self.threads = threads
            opened.append(threads)

        def step(self, actions):
            clock.now += {0: 0.03, 1: 0.02, 2: 0.002, 4: 0.004}[self.threads]

        def close(self):
            closed.append(self.threads)

    clock, opened, closed = Clock(), [], []
    monkeypatch.setattr(peers, "time", clock)
    assert fastest([0, 1, 2, 4], Pool, np.zeros(4)) == 2
    assert opened == closed


def test_envpool_says_with_how_many_threads_it_ran():
    pytest.importorskip("envpool", reason="envpool is not installed")
    from overclock.bench.peers import envpool_runner

    runner = envpool_runner("cartpole-v1", 2, np.zeros(64, np.int32), 0, False)
    assert "threads: " in runner.identity.note
    assert "and the default" in runner.identity.note


@pytest.mark.parametrize(("each", "lanes"), [(0.0, 32_768), (0.001, 1024), (0.01, 128), (10.0, 64)])
def test_a_pool_has_no_more_lanes_than_are_made_in_seconds(monkeypatch, each, lanes):
    from overclock.bench import peers

    clock = [0.0]

    def make(few):
        clock[0] += few * each
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(peers, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    assert peers.soon_made(32_768, make) == lanes


def test_a_checksum_is_that_of_what_was_shown_though_buffers_are_written_over():
    """JAX reads NumPy's memory where it lies, and later than it was handed over."""
    lanes = 256
    room = np.zeros(lanes * 5760 + 64, np.uint8)
    aligned = room[-room.ctypes.data % 64 :][: lanes * 5760].reshape(lanes, 72, 80)  # only such memory is not copied
    nothing, never = np.zeros(lanes, np.float32), np.zeros(lanes, np.bool_)

    class Batch:
        def __init__(self, keep):
            self.count, self._keep = 0, keep

        def reset(self):
            self.count = 0

        def step(self, actions):
            self.count += 1
            aligned[:] = self.count % 251
            return self._keep(aligned), nothing, never, never

    def checksum(keep):
        identity = Identity("buffers", "1", lanes, "cpu", "off")
        runner = HostRunner(identity, Batch(keep), np.zeros(1 << 14, np.int32), False)
        runner.prepare(1)
        return runner.facts().checksum

    assert checksum(lambda obs: obs) == checksum(np.copy)
