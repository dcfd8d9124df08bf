"""Speed: two candidates by turns, by our own clock; and only of a worker that still steps as it was judged."""

import types

import numpy as np
import pytest

from overclock.recipe.judging import speed
from overclock.recipe.judging.candidate import made_by
from overclock.recipe.judging.speed import PAIRS, Race, Stepper, alike, measure, race
from overclock.recipe.redteam.cheats import Material, find_cheats, honest_files
from overclock.verify.sides.process import CouldNotVerifyError

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


@pytest.mark.usefixtures("few_optimisations")
@pytest.mark.parametrize("name", ["honest", "reads-the-batch"])
def test_lanes_of_a_timed_batch_step_as_in_a_batch_of_their_own(tmp_path, name):
    files = honest_files() if name == "honest" else find_cheats(name)[0].build(Material(tmp_path, None))
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    stepper = Stepper(*made_by(tmp_path))
    for batch in (1200, 64):
        stepper.run(batch, speed.CHUNK)
    same = {}
    for batch in stepper.timed():
        shown = stepper.shown(batch, [5, 0, batch - 1])
        same[batch] = alike(shown, stepper.replayed(shown.pop("state")))
    assert same == {64: True, 1200: name == "honest"}


def test_what_is_seen_may_be_rounded_otherwise_and_no_more():
    seen = {"a": np.array([[[1.0, 2e7], [0.5, np.inf]]], np.float32), "n": np.array([[1, 2]])}
    assert alike(seen, seen)
    assert alike(seen, {**seen, "a": seen["a"] * np.float32(1 + 1e-6)})
    assert not alike(seen, {**seen, "a": seen["a"] * np.float32(1.001)})
    assert not alike(seen, {**seen, "a": seen["a"] + np.array([0.01, 0.0], np.float32)})
    assert not alike(seen, {**seen, "n": seen["n"] + 1})
    assert not alike(seen, {"a": seen["a"]})
    assert not alike(seen, {**seen, "a": np.full((1, 2, 2), np.nan, np.float32)})


@pytest.mark.parametrize("moved", [True, False])
def test_a_worker_whose_timed_lanes_step_otherwise_was_not_timed(monkeypatch, moved):
    asked = []

    class Timed:
        """Shows lanes of what it is asked for; another process finds where they really go."""

        def __init__(self, *given):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *given):
            pass

        def ask(self, call, **given):
            asked.append((call, given.get("batch")))
            if call == "timed":
                return [2048]
            seen = np.arange(speed.SEEN, dtype=np.float32).reshape(-1, 1)
            return {"": seen} if call == "replayed" else {"": seen if moved else 0.0 * seen, "state": {}}

    monkeypatch.setattr(speed, "ProcessSubject", Timed)
    twin = types.SimpleNamespace(performance_in=lambda precision: None)
    if moved:
        speed.require_as_timed(twin, Timed(), "float32", 1.0)
        (_, (_, first), _, (_, second), _) = asked
        assert first == 2048
        assert speed.LANES <= second <= speed.MOST_LANES
        return
    with pytest.raises(CouldNotVerifyError, match="lanes of a batch of 2048 step otherwise while they are timed"):
        speed.require_as_timed(twin, Timed(), "float32", 1.0)
