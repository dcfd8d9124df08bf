"""What a faster environment gains: Amdahl's law, and the share of the environment in a real, tiny training loop."""

import math
import time

import pytest

from overclock.errors import UsageError

pytest.importorskip("flax", reason="the training loop needs the extra 'train'")

from overclock.recipe.survey.live import speedup as looking
from overclock.recipe.survey.live.speedup import amdahl, estimate_speedup
from overclock.recipe.survey.static.source import resolve


def test_amdahls_law() -> None:
    assert amdahl(0.0, math.inf) == 1.0
    assert amdahl(0.5, math.inf) == 2.0
    assert amdahl(0.9, 10) == pytest.approx(1 / 0.19)
    assert amdahl(1.0, math.inf) == math.inf
    with pytest.raises(UsageError, match="share lies between 0 and 1"):
        amdahl(1.5, 10)


BUSY = """
    import gymnasium
    import numpy as np
    from gymnasium import spaces


    class BusyEnv(gymnasium.Env):
        observation_space = spaces.Box(-1, 1, (2,), np.float32)
        action_space = spaces.Discrete(2)

        def __init__(self, work=None):
            self.work = work

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return np.zeros(2, np.float32), {}

        def step(self, action):
            self.work()
            return np.zeros(2, np.float32), 0.0, False, False, {}
    """


class Clock:
    """Every look takes a hundredth of a second, so that shares are the same on every machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 0.01
        return self.now

    def work(self) -> None:
        self.now += 1.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "perf_counter", made.perf_counter)
    return made


@pytest.mark.long
def test_a_busy_environment_takes_the_training_time(write, clock: Clock) -> None:
    found = estimate_speedup(resolve(str(write("busy.py", BUSY)), {"work": clock.work}), ("small",), 2, 8, 3, 20)
    (training,) = found.trainings
    assert 0.9 < training.environment_share < 1.0
    assert training.gains[math.inf] == pytest.approx(1 / (1 - training.environment_share))
    assert training.gains[10.0] < training.gains[100.0] < training.gains[math.inf] <= training.fused_gain
    assert training.parameters == (2 * 64 + 64 + 64 * 64 + 64) * 2 + (64 * 2 + 2) + (64 + 1)  # actor, critic, heads
    assert found.worthwhile
    assert found.steps_per_second == pytest.approx(1.0, rel=0.01)
    assert f"{training.environment_share:.0%} of the training time" in found.sentences[1]


@pytest.mark.long
def test_an_environment_that_costs_nothing_has_no_share_and_nested_observations_are_flattened(clock: Clock) -> None:
    (training,) = estimate_speedup(resolve("gymnasium:Blackjack-v1"), ("small",), 2, 8, 2, 20).trainings
    assert training.environment_share == pytest.approx(0.0, abs=1e-6)
    assert training.gains[math.inf] == pytest.approx(1.0)


def test_what_our_trainer_cannot_play_is_said(write) -> None:
    file = write("binary.py", BUSY.replace("spaces.Discrete(2)", "spaces.MultiBinary(3)"))
    found = estimate_speedup(resolve(str(file), {"work": int}), ("small",), 2, 8, 2, 20)
    assert (found.trainings, found.worthwhile) == ((), None)
    assert "our trainer has no network for its actions" in found.sentences[-1]


def test_the_larger_network_has_two_million_parameters() -> None:
    widths = looking.NETWORKS["2M"]
    assert 2 * widths[0] * widths[1] == pytest.approx(2e6, rel=0.1)
