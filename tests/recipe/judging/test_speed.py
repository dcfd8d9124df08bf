"""Speed: two candidates by turns, by our own clock; and only of a worker that still steps as it was judged."""

import pytest

from overclock.recipe.judging import speed
from overclock.recipe.judging.speed import PAIRS, Race, measure, race

BATCHES = (32, 128)


class Clock:
    """Goes on only while somebody works."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(speed.time, "perf_counter", lambda: self.now)


class Worker:
    """Takes so many microseconds per step, times what `weather` says of the moment."""

    def __init__(self, clock, cost, weather=lambda: 1.0):
        self.clock, self.cost, self.weather, self.asked = clock, cost, weather, []

    def ask(self, call, batch, steps):
        assert call == "run"
        self.asked.append((batch, steps))
        self.clock.now += self.cost * 1e-6 * batch * steps * self.weather()


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_speed_is_steps_by_our_own_clock_in_calls_that_are_long_enough(clock):
    worker = Worker(clock, 2.0)
    assert measure(worker, BATCHES) == {"32": 500_000.0, "128": 500_000.0}
    longest = {batch: max(steps for asked, steps in worker.asked if asked == batch) for batch in BATCHES}
    assert all(2e-6 * batch * steps >= speed.CALL_SECONDS for batch, steps in longest.items())


def test_a_machine_that_gets_slower_and_slower_does_not_decide(clock):
    slower = iter(1.0 + 0.01 * number for number in range(10_000))

    def weather():
        return next(slower)

    found = race(Worker(clock, 1.0, weather), Worker(clock, 0.9, weather), BATCHES)
    assert len(found.gains) == PAIRS
    assert found.won
    assert found.gain == pytest.approx(1 / 0.9, abs=0.02)
    assert found.before["32"] < found.after["32"]


def test_equal_candidates_do_not_beat_each_other_every_time(clock):
    steady = race(Worker(clock, 1.0), Worker(clock, 1.0), BATCHES)
    assert set(steady.gains) == {1.0}
    assert not steady.won
    slower = iter(1.0 + 0.01 * number for number in range(10_000))

    def weather():  # whoever comes second is slower, and that is not always the same one
        return next(slower)

    found = race(Worker(clock, 1.0, weather), Worker(clock, 1.0, weather), BATCHES)
    assert min(found.gains) < 1.0 < max(found.gains)
    assert not found.won


def test_one_lucky_measurement_is_not_a_gain():
    assert not Race({}, {}, (1.3, 1.2, 0.99, 1.4)).won
    assert Race({}, {}, (1.3, 1.2, 1.01, 1.4)).won
    assert Race({}, {}, (1.3, 1.2, 1.01)).gain == 1.2
