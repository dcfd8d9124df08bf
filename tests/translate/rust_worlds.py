"""References for the Rust printer: small environments full of what is easily got wrong in another language."""

import math

import gymnasium
import numpy as np
from gymnasium import spaces


class Numbers(gymnasium.Env):
    """Python's and NumPy's arithmetic where it is easily got wrong."""

    observation_space = spaces.Box(-np.inf, np.inf, (16,), np.float64)
    action_space = spaces.Discrete(7)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.wide = np.int64(self.np_random.integers(1000))
        self.small, self.byte = np.int8(0), np.uint8(0)
        self.whole = np.zeros(16, np.int64)
        self.floats = np.zeros(16)
        return self.floats.copy(), {}

    def step(self, action):
        a = int(action) - 3
        self.small = self.small + np.int8(50)
        self.byte = self.byte - np.uint8(7)
        self.wide = self.wide * np.int64(6364136223846793005) + np.int64(1442695040888963407)
        x = float(self.wide) / 2.0**60
        single = np.float32(x) * np.float32(0.1)
        divisor = a if a else 5
        self.whole = np.array(
            [
                a // 3, a % 3, a // -2, a % -2, 17 // divisor, -17 % divisor, np.int64(a) << 2, a >> 1, abs(a), -a,
                a & 6, a | 9, a ^ 5, ~a, int(x), round(x),
            ]
        )  # fmt: skip
        self.floats = np.array(
            [
                x % 2.5, x % -2.5, x // 0.75, x * x * x, np.sign(x), np.floor(x), np.ceil(x), np.rint(x),
                np.maximum(x, np.nan), np.minimum(x, 1.0), math.hypot(x, 2.0), math.atan2(x, 1.5), float(single),
                a / 3, float(a > 1) - x, np.trunc(x) if x > 0 and a < 2 else math.exp(-abs(x)),
            ]
        )  # fmt: skip
        return self.floats.copy(), float(self.floats[2]), bool(self.whole[8] > 2), False, {}


class Boards(gymnasium.Env):
    """Arrays that are changed in place, share memory, are reordered and added up."""

    observation_space = spaces.Box(-np.inf, np.inf, (3, 4), np.float64)
    action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.board = self.np_random.random((3, 4))
        self.left, self.right = np.arange(5), np.arange(5) * 3
        self.seen = np.zeros(8)
        self.flags = np.zeros((3, 4), bool)
        return self.board.copy(), {}

    def step(self, action):
        self.board[1:] = self.board[:-1] * 0.5  # reads what it writes
        self.board[0] = self.board[2, ::-1] + self.right[action]
        if action > 1:
            self.left, self.right = self.right, self.left
        elif action == 1:
            self.left[self.right[0] % 5] += 7
        for i in range(5):
            if self.left[i] > self.right[i]:
                self.right[i] = self.left[4 - i] - 1
        self.board[:, action] -= self.board.T[action].mean()
        joined = np.concatenate([self.board.ravel(), np.roll(self.board, 1, axis=1)[0], self.left / 7.0])
        self.flags = self.board > np.roll(self.board, action, axis=0)
        self.seen[0] = joined.sum()  # NumPy adds 21 numbers in an order of its own
        self.seen[1] = joined.argmax() + 100 * np.argmin(self.board[1])
        self.seen[2] = np.sort(joined)[action] + np.argsort(self.board[2])[0]
        self.seen[3] = self.flags.any(axis=0).sum() + 10 * np.count_nonzero(self.flags) + 100 * self.flags[1].all()
        self.seen[4] = np.cumsum(self.board[0])[action] + self.board[:, 1:3].max()
        self.seen[5:7] = (self.board @ np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0], [0.0, 1.0]]))[action % 3]
        self.seen[7] = self.board[[2, 0, 1], [action, 1, 3]].min() + self.left[[1, 3]].prod()
        total = 0
        while total < 9 and not self.flags[total // 4, total % 4]:
            total += 1
        return self.board.copy(), float(total), bool(self.seen[0] > 1e9), False, {}


class Luck(gymnasium.Env):
    """Every form of a draw, also in branches and loops; and a mask of actions."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height = self.np_random.normal(5.0, 2.0)
        self.kind = self.np_random.choice(3, p=[0.5, 0.3, 0.2])
        self.order = self.np_random.permutation(5)
        self.corner = self.np_random.uniform(np.array([-1.0, 2.0]), np.array([1.0, 4.0]))
        return np.array([self.height, self.corner[0]]), {"action_mask": self._legal()}

    def step(self, action):
        if action == 0:
            self.kind = self.np_random.integers(7)
        for at in range(2):
            if self.order[at] > action:
                self.height += self.np_random.random()
        mask = {"action_mask": self._legal()}
        return np.array([self.height, self.corner[0]]), float(self.kind), False, False, mask

    def _legal(self):
        mask = np.ones(3, np.int8)
        if self.height < 5.0:
            mask[self.kind % 3] = 0
        return mask


class Spread(gymnasium.Env):
    """Uses a function that the printer does not have."""

    observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.random(3)
        return self.x.copy(), {}

    def step(self, action):
        self.x[action] = np.std(self.x)
        return self.x.copy(), 0.0, False, False, {}


def breakout():
    from minatar.gym import BaseEnv

    return gymnasium.wrappers.TimeLimit(BaseEnv(game="breakout"), 500)
