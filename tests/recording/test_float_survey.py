"""What the floats of a reference are like: sizes and whole numbers by element, and how far rounding moves each."""

import random

import gymnasium
import numpy as np
import pytest

from overclock.recording.float_survey import survey_floats
from overclock.recording.floats import Floats
from overclock.recording.rounded_copies import change_floats, to_single

ULP = 2.0**-24


class Played(gymnasium.Env):
    """An environment of one step function."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64)

    def __init__(self):
        self.x, self.far, self.count, self.best = 0.0, 1.7e7, 0.0, float("inf")

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.far, self.count, self.best = self.np_random.random() + 0.5, 1.7e7, 0.0, float("inf")
        return self._shown(), {}

    def step(self, action):
        before = self.far
        self.far += self.x
        self.x = 0.9 * self.x + 0.1 * action
        self.count += 1.0
        self.best = min(self.best, self.x)
        return self._shown(), self.far - before, self.count > 50, False, {}

    def _shown(self):
        return np.array([self.x, self.count, 1.0 if self.count % 2 else 0.0])


def surveyed(env, *names) -> dict[str, Floats]:
    return survey_floats(env, lambda one: {f"state.{name}": np.array(getattr(one.unwrapped, name)) for name in names})


@pytest.fixture(scope="module")
def found():
    return surveyed(Played(), "x", "far", "count", "best")


def test_whole_numbers_are_found_element_by_element(found):
    assert found["obs"].whole == (False, True, True)
    assert found["state.count"].whole == (True,)
    assert found["state.far"].whole == (False,)


def test_an_element_has_its_own_size(found):
    assert found["obs"].largest[0] < 2.0
    assert found["obs"].largest[1] == 51.0
    assert found["state.far"].typical[0] >= 1.7e7


def test_what_does_not_depend_on_a_large_number_does_not_stray_with_it(found):
    assert 0 < found["obs"].strays[0] < 8 * ULP
    assert found["state.far"].strays[0] >= 1.7e7 * ULP / 2


def test_a_difference_of_large_numbers_strays_as_these_do(found):
    assert found["reward"].strays[0] > 0.1  # a paid difference of two numbers near 1.7e7, about 1
    assert found["reward"].largest[0] < 2.0


def test_an_infinite_first_value_is_a_value(found):
    assert np.isfinite(found["state.best"].largest[0])
    assert found["state.best"].strays is not None


class Jumping(Played):
    """Its rewards jump where `x` is whole, which it is in every step."""

    def step(self, action):
        obs, *_, info = super().step(action)
        self.x = 1.0
        return obs, (0.1 if self.x >= 1.0 else -0.1), self.count > 50, False, info


def test_a_jump_at_a_threshold_is_no_error_of_rounding():
    jumping = surveyed(Jumping(), "x")
    assert max(jumping["reward"].strays or (0.0,)) < 1e-6


class Elsewhere(Played):
    """It draws from a generator that a copy shares."""

    shared = np.random.default_rng(0)

    def step(self, action):
        self.x = float(self.shared.random())
        return self._shown(), self.x, False, False, {}


def test_where_a_copy_does_not_repeat_the_step_nothing_is_measured():
    assert surveyed(Elsewhere(), "x")["state.x"].strays is None


class Global(Played):
    """It draws from Python's own generator."""

    def step(self, action):
        self.x = random.random() * self.x + 0.1
        return self._shown(), self.x, False, False, {}


def test_generators_of_the_process_are_put_back():
    random.seed(1)
    assert surveyed(Global(), "x")["state.x"].strays is not None


def test_floats_in_objects_lists_and_arrays_are_changed_and_nothing_else():
    class Part:
        def __init__(self):
            self.values, self.own = [1.5, 2, "a"], self

    class Rules:
        def __init__(self):
            self.part, self.array, self.table = Part(), np.arange(3) / 3, {"a": (0.1, 1)}
            self.space, self.flag = gymnasium.spaces.Box(0.0, 1.0), True

    rules = Rules()
    change_floats(rules, to_single)
    assert isinstance(rules.part.values[0], np.float32)
    assert rules.part.values[1:] == [2, "a"]
    assert rules.array.dtype == np.float32
    assert [type(one) for one in rules.table["a"]] == [np.float32, int]
    assert rules.space.low.dtype == np.float32
    assert rules.flag is True
