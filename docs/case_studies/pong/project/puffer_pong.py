"""PufferLib's C Pong as a reference of the loop: its state lies in attributes, its luck comes from Gymnasium's
generator.

The rules are C. `c_reset` and `c_step` are the ways to the functions of pong.h that have these names: numbers in,
numbers out, computed by the compiled header in one environment that every call puts into a state first.
"""

import functools

import gymnasium
import numpy as np

from overclock.envs.pong.library import COUNTS, SCENE, SEEN, Lanes


@functools.cache
def _lanes(frameskip: int) -> Lanes:
    return Lanes(1, frameskip)


def c_reset(serve: int, frameskip: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A new game: its scene, its counts and the observation. `serve` is what rand() % 2 gives.

    A scene is paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy; counts are score_l, score_r, tick, n_bounces.
    """
    lanes = _lanes(frameskip)
    lanes.reset(0, serve)
    shown = lanes.get()[0]
    return _together(shown, SCENE), _together(shown, COUNTS), shown["obs"].copy()


def c_step(
    scene: np.ndarray, counts: np.ndarray, seen: np.ndarray, action: int, serve: int, frameskip: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.float32, bool]:
    """One step: scene, counts, the scene that was last seen, observation, reward and terminal.

    The last step of a game leaves the state as it ended: pong.h would begin the next game at once. `seen` is the scene
    of which compute_observations made the last observation.
    """
    lanes = _lanes(frameskip)
    shown = lanes.get()
    for names, values in ((SCENE, scene), (COUNTS, counts), (SEEN, seen)):
        for name, value in zip(names, values, strict=True):
            shown[name][0] = value
    lanes.set(shown)
    lanes.step(0, float(action), serve)
    after = lanes.get()[0]
    scene, counts, seen = (_together(after, names) for names in (SCENE, COUNTS, SEEN))
    return scene, counts, seen, after["obs"].copy(), after["reward"], bool(after["terminal"])


def _together(shown: np.void, names: tuple[str, ...]) -> np.ndarray:
    return np.array([shown[name] for name in names])


class PufferPong(gymnasium.Env):
    """Three actions: still, up, down. An episode is a game to 21 points."""

    def __init__(self, frameskip: int = 8) -> None:
        # pong.py says 0 to 1, which the ball leaves by some pixels before it is turned.
        self.observation_space = gymnasium.spaces.Box(-1.0, 2.0, (8,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(3)
        self.frameskip = frameskip
        nothing = np.zeros(len(SCENE), np.float32)
        self._keep(nothing, np.zeros(len(COUNTS), np.int32), nothing)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        serve = int(self.np_random.integers(2))
        scene, counts, obs = c_reset(serve, self.frameskip)
        self._keep(scene, counts, scene)
        return obs, {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        scene = np.array([self.paddle_yl, self.paddle_yr, self.ball_x, self.ball_y, self.ball_vx, self.ball_vy])
        counts = np.array([self.score_l, self.score_r, self.tick, self.n_bounces])
        seen = np.array([self.seen_yl, self.seen_yr, self.seen_x, self.seen_y, self.seen_vx, self.seen_vy])
        serve = int(self.np_random.integers(2))  # every step has one, whether a point is made or not
        scene, counts, seen, obs, reward, terminal = c_step(scene, counts, seen, int(action), serve, self.frameskip)
        self._keep(scene, counts, seen)
        return obs, float(reward), terminal, False, {}

    def _keep(self, scene: np.ndarray, counts: np.ndarray, seen: np.ndarray) -> None:
        self.paddle_yl, self.paddle_yr, self.ball_x, self.ball_y, self.ball_vx, self.ball_vy = scene
        self.score_l, self.score_r, self.tick, self.n_bounces = counts
        self.seen_yl, self.seen_yr, self.seen_x, self.seen_y, self.seen_vx, self.seen_vy = seen
