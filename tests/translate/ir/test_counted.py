"""Time limits of an environment's own: counted where they are a number of steps, refused where they are not."""

import gymnasium
import pytest

from overclock.recording.errors import UnsupportedError
from overclock.translate.compiler import Compiler


class Clocked(gymnasium.Env):
    """Plays on; subclasses say when time is over."""

    observation_space = gymnasium.spaces.Discrete(50)
    action_space = gymnasium.spaces.Discrete(2)
    limit = 30

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.steps, self.left, self.clock, self.keys = 0, 0, 12, 0.0, 0
        return self.at, {}

    def step(self, action):
        self.at = (self.at + action) % 50
        self.steps += 1
        self.left -= 1
        self.clock += 0.1
        self.keys = self.keys + 1 if action == 1 else 0
        return self.at, 1.0, False, self.over(), {}

    def over(self):
        return False


class UpTo(Clocked):
    def over(self):
        return self.steps >= self.limit


class Down(Clocked):
    def over(self):
        return self.left <= 0


class Float(Clocked):
    def over(self):
        return self.clock > 0.75


class Branch(Clocked):
    def over(self):
        if self.steps > 3:
            return self.left == 2
        return False


class TooLate(Clocked):
    def over(self):
        return self.steps == 0


class ByAction(Clocked):
    def over(self):
        return self.keys >= 25


class Mixed(Clocked):
    def over(self):
        return self.steps >= 40 or self.keys >= 14


class Drawn(Clocked):
    def reset(self, seed=None, options=None):
        shown = super().reset(seed=seed)
        self.left = int(self.np_random.integers(10, 20))
        return shown

    def over(self):
        return self.left <= 0


def limit(cls, around=None):
    def make():
        return cls() if around is None else gymnasium.wrappers.TimeLimit(cls(), around)

    return Compiler(make, "clock").program().max_steps


@pytest.mark.parametrize(
    ("cls", "steps"), [(UpTo, 30), (Down, 12), (Float, 8), (Branch, 10), (TooLate, None), (Clocked, None)]
)
def test_steps_are_counted(cls, steps):
    assert limit(cls) == steps
    env, played = cls(), 0  # by the environment itself
    env.reset(seed=0)
    while played < 100:
        played += 1
        if env.step(1)[3]:
            break
    assert played == (steps or 100)


@pytest.mark.parametrize(("around", "steps"), [(20, 20), (50, 30)])
def test_the_shorter_limit_counts(around, steps):
    assert limit(UpTo, around) == steps


@pytest.mark.parametrize("cls", [ByAction, Mixed, Drawn])
def test_an_end_by_time_that_is_no_number_of_steps_is_refused(cls):
    """Random play never meets the first two, which says nothing."""
    with pytest.raises(UnsupportedError, match="not after a fixed number of steps") as refused:
        limit(cls)
    assert refused.value.place.file == __file__
