"""What an environment is wrapped in belongs to it; and whatever goes wrong is refused with a place."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, RecordEpisodeStatistics, TimeLimit
from translate.agree import agree

from overclock.recording.errors import UnsupportedError
from overclock.translate import compiler


class Pond(gymnasium.Env):
    """A frog on a line."""

    action_space = spaces.Discrete(3)
    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform()
        return np.array([self.x]), {}

    def step(self, action):
        self.x += action - 1
        return np.array([self.x]), self.reward(), False, False, {}

    def reward(self):
        return self.x


class PairPond(Pond):
    def reward(self):
        return np.array([self.x, 1.0])


class Weighed(gymnasium.Wrapper):
    def __init__(self, env, weights):
        super().__init__(env)
        self.weights = np.array(weights)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, np.dot(reward, self.weights), terminated or self.unwrapped.x > 2, truncated, info


class Shifted(gymnasium.ObservationWrapper):
    def observation(self, observation):
        return observation + 10.0


def test_wrappers_are_rules_like_any_others(tmp_path):
    made = agree(lambda: Weighed(Shifted(OrderEnforcing(PairPond())), [2.0, 0.5]), tmp_path)
    assert [leaf.name for leaf in made.program.state if leaf.name != "observation"] == ["x"]


def test_a_time_limit_is_a_number_wherever_it_stands(tmp_path):
    made = agree(lambda: Shifted(TimeLimit(TimeLimit(Pond(), 30), 20)), tmp_path)
    assert made.program.max_steps == 20


def test_state_of_a_wrapper_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="does not belong") as refusal:
        agree(lambda: RecordEpisodeStatistics(Pond()), tmp_path)
    assert refusal.value.place.line > 0


def test_a_reward_of_several_numbers_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match=r"the reward is an array \(2,\)") as refusal:
        agree(PairPond, tmp_path)
    assert refusal.value.place.file == __file__


class Wide(Pond):
    def step(self, action):
        return (self.x, self.x), 0.0, False, False, {}


def test_an_observation_that_its_space_does_not_hold_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="does not hold") as refusal:
        agree(Wide, tmp_path)
    assert refusal.value.place.file == __file__


class Broken(Pond):
    def step(self, action):
        return np.array([self.x]), [1.0][action], False, False, {}


def test_a_reference_that_fails_is_refused_where_it_fails(tmp_path):
    with pytest.raises(UnsupportedError, match="the reference itself raises IndexError") as refusal:
        agree(Broken, tmp_path)
    assert refusal.value.place.text.strip().startswith("return np.array([self.x]), [1.0]")


def test_a_failure_of_the_translator_itself_has_a_place_and_a_cause(tmp_path, monkeypatch):
    def fails(*args):
        raise KeyError("inside")

    monkeypatch.setattr(compiler, "time_limit", fails)
    with pytest.raises(UnsupportedError, match="the translator itself fails") as refusal:
        agree(Pond, tmp_path)
    assert refusal.value.place.file == __file__
    assert isinstance(refusal.value.__cause__, KeyError)
