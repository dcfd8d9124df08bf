"""References that decide by a sum of floats; in float32 such a sum comes to another side of its limit."""

import gymnasium
import numpy as np


class Clocked(gymnasium.Env):
    """`begin` sets a clock, `advance` moves it on and says (reward, terminated); `x` is random and decides nothing."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-1.0, 1.0)
        self.steps = 0
        self.begin()
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.steps += 1
        self.x += 0.03 if action == 1 else -0.03
        reward, terminated = self.advance(action)
        return np.array([self.x], np.float32), reward, bool(terminated), self.steps >= 80, {}

    def begin(self):
        self.t = 0.0

    def advance(self, action):
        raise NotImplementedError


class Up(Clocked):
    def advance(self, action):
        self.t += 0.1
        return 0.0, self.t >= 3.0


class Down(Clocked):
    def begin(self):
        self.left = 2.5

    def advance(self, action):
        self.left -= 0.1
        return 0.0, self.left <= 0.0


class Equal(Clocked):
    def advance(self, action):
        self.t += 0.1
        return 0.0, self.t == 4.4


class InAnArray(Clocked):
    def begin(self):
        self.state = np.zeros(2)

    def advance(self, action):
        self.state[1] += 0.02
        return 0.0, self.state[1] > 0.9


class InAList(Clocked):
    def begin(self):
        self.timers = [0.0, 1.5]

    def advance(self, action):
        self.timers[0] += 1 / 30
        return 0.0, self.timers[0] >= self.timers[1]


class InADict(Clocked):
    def begin(self):
        self.known = {"t": 0.0}

    def advance(self, action):
        self.known["t"] += 0.05
        return 0.0, self.known["t"] >= 1.4


class Rewarded(Clocked):
    def advance(self, action):
        self.t += 0.1
        reward = 2.5 if self.t >= 2.4 else -0.25
        self.t = 0.0 if self.t >= 2.4 else self.t
        return reward, False


class Saved(Clocked):
    """A sum of rewards with a limit; the steps are of two sizes."""

    def advance(self, action):
        self.t += 0.2 if action else 0.1
        return 0.0, self.t >= 5.0


class Discounted(Clocked):
    def begin(self):
        self.share = 1.0

    def advance(self, action):
        self.share *= 0.9
        return 0.0, self.share <= 0.9**20


class Floored(Clocked):
    def advance(self, action):
        self.t += 0.1
        return float(int(self.t / 1.5)), False


LOST = (Up, Down, Equal, InAnArray, InAList, InADict, Rewarded, Saved, Discounted, Floored)


class Whole(Clocked):
    def advance(self, action):
        self.t += 1.0
        return 0.0, self.t >= 30.0


class Quarters(Clocked):
    def advance(self, action):
        self.t += 0.25
        return 0.0, self.t >= 3.0


class Between(Clocked):
    def advance(self, action):
        self.t += 0.1
        return 0.0, self.t >= 2.95


class Drawn(Clocked):
    """Starts that are drawn lie near a limit once in a million episodes."""

    def begin(self):
        self.t = self.np_random.uniform(0.0, 0.05)

    def advance(self, action):
        self.t += 0.1
        return self.x, self.t >= 3.0


KEPT = (Whole, Quarters, Between, Drawn)
