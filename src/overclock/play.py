"""Playing an environment by hand: keys in, text frames out. `cli/environments/terminal.py` is the real terminal.

A terminal reports keys going down but not up, so the last action key counts until the next one, and an episode
waits for the first.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

import numpy as np
from PIL import Image

from overclock.env import registry
from overclock.errors import UsageError

ALIASES = {"a": "left", "d": "right", "w": "up", "s": "down"}
SMALLEST = (20, 8)  # columns and rows below which a picture shows nothing useful
MAX_FPS = 1000.0
HELP = "r restart   p pause   q quit"


class Screen(Protocol):
    """Where a game is shown and its keys come from."""

    def size(self) -> tuple[int, int]:
        """The columns and rows of the terminal's window."""
        ...

    def keys(self, deadline: float) -> list[str]:
        """The names of the keys pressed until the clock reaches `deadline`."""
        ...

    def show(self, lines: list[str]) -> None:
        """Replace what is on the screen; as long as the size stays, each line is as wide as the one it replaces."""
        ...


class Game:
    """A player's session: episodes of one environment, the score of this one and the best so far."""

    def __init__(
        self, env: Any, params: Any, render: Callable[[Any, Any, Any], np.ndarray], keys: Mapping[str, int], seed: int
    ) -> None:
        from overclock.env.rng import Rng

        self.env, self.params, self.render = env, params, render
        self.actions = {alias: keys[name] for alias, name in ALIASES.items() if name in keys} | dict(keys)
        self.rng = Rng.of(seed)
        self.best: float | None = None
        self.finished = False
        self.restart()

    @classmethod
    def of(cls, env_id: str, seed: int | None = None, options: Mapping[str, Any] | None = None) -> "Game":
        """A session of a registered environment with its static options, compiled and ready."""
        from overclock.env.registry import make
        from overclock.env.spaces import Discrete

        entry = check(env_id)
        assert entry.renderer is not None
        env, params = make(entry.id, **(options or {}))
        if env.num_players > 1:
            raise UsageError(f"{entry.id} has {env.num_players} players; `overclock play` drives only one.")
        if not isinstance(env.action_space(params), Discrete):
            raise UsageError(f"{entry.id} cannot be played with these options: a key chooses one of several actions.")
        seed = secrets.randbits(32) if seed is None else seed
        game = cls(env, params, registry.load(entry.renderer), dict(entry.keys), seed)
        game._step(entry.keys[0][1])  # compiles before the first frame; the outcome is not kept
        game.frame()
        return game

    def restart(self) -> None:
        """A fresh episode; it waits for the first action."""
        self.rng = self.rng.advance()
        _, self.state = self.env.reset(self.rng, self.params)
        self.score, self.steps = 0.0, 0
        self.action: int | None = None
        self.phase: Literal["ready", "running", "paused", "over"] = "ready"

    def press(self, key: str) -> None:
        """React to one key; unknown keys do nothing."""
        if key in self.actions:
            self.action = self.actions[key]
            if self.phase == "ready":
                self.phase = "running"
        elif key == "q":
            self.finished = True
        elif key == "r" or (self.phase == "over" and key in ("space", "enter")):
            self.restart()
        elif key == "p" and self.phase in ("running", "paused"):
            self.phase = "running" if self.phase == "paused" else "paused"

    def tick(self) -> None:
        """One step of the environment, if an episode is running."""
        if self.phase != "running":
            return
        assert self.action is not None
        self.rng = self.rng.advance()
        # `step_env` and not `step`: the picture of the end must not be replaced by the next episode's start.
        self.state, reward, ended = self._step(self.action)
        self.score += reward
        self.steps += 1
        if ended:
            self.phase = "over"
            self.best = self.score if self.best is None else max(self.best, self.score)

    def _step(self, action: int) -> tuple[Any, float, bool]:
        chosen = np.asarray(action, self.env.action_space(self.params).dtype)
        _, state, reward, terminated, truncated, _ = self.env.step_env(self.rng, self.state, chosen, self.params)
        return state, float(reward), bool(terminated) or bool(truncated)

    def frame(self) -> np.ndarray:
        """The picture of the present state."""
        return self.render(self.env, self.state, self.params)

    def status(self) -> str:
        """Score, best score, and what the player can do now."""
        names = "/".join(key for key in self.actions if key not in ALIASES)
        prompt = {
            "ready": f"press {names} to start",
            "running": f"{names} act",
            "paused": "paused, p goes on",
            "over": "over! space starts again",
        }
        best = "-" if self.best is None else f"{self.best:g}"
        return f"score {self.score:g}   best {best}   steps {self.steps}   {prompt[self.phase]}"


def check(env_id: str, fps: float = 1.0) -> registry.Spec:
    """The entry of an environment that can be played; raises UsageError with the reason otherwise."""
    entry = registry.spec(env_id)
    if entry.renderer is None or not entry.keys:
        lacking = "renderer" if entry.renderer is None else "keys"
        raise UsageError(f"{entry.id} cannot be played: it has no {lacking}. `overclock list --json` says which can.")
    if not 0 < fps <= MAX_FPS:
        raise UsageError(f"--fps must be above 0 and at most {MAX_FPS:g}, got {fps:g}.")
    return entry


def loop(game: Game, screen: Screen, fps: float, clock: Callable[[], float] = time.monotonic) -> None:
    """Show, read keys, step, at a fixed rate, until the player quits. A late frame is not made up for."""
    deadline = clock()
    while not game.finished:
        columns, rows = screen.size()
        if columns < SMALLEST[0] or rows < SMALLEST[1]:
            screen.show(["Enlarge the window."[:columns]])
        else:
            text = [line[:columns].ljust(columns) for line in (game.status(), HELP)]
            screen.show(half_blocks(game.frame(), columns, rows - len(text)) + text)
        deadline = max(deadline + 1.0 / fps, clock())
        for key in screen.keys(deadline):
            game.press(key)
        game.tick()


def half_blocks(frame: np.ndarray, columns: int, rows: int) -> list[str]:
    """A picture as `rows` lines of truecolour text, two pixels per character: the upper half block and its ground."""
    height, width = frame.shape[:2]
    scale = min(columns / width, 2 * rows / height)
    cells, lines = max(1, int(width * scale)), max(1, int(height * scale / 2))
    small = np.asarray(Image.fromarray(frame).resize((cells, 2 * lines), Image.Resampling.BOX))
    pairs = np.concatenate([small[0::2], small[1::2]], axis=-1)  # [lines, cells, 6]: upper and lower colour
    margin = " " * ((columns - cells) // 2)
    return [margin + _runs(row) for row in pairs] + [""] * (rows - lines)


def _runs(row: np.ndarray) -> str:
    """One line of characters, with colour codes only where the colours change: the terminal gets far fewer bytes."""
    changes = np.flatnonzero(np.any(row[1:] != row[:-1], axis=-1)) + 1
    starts = [0, *changes.tolist()]
    text = []
    for start, end in zip(starts, [*starts[1:], len(row)], strict=True):
        red, green, blue, *ground = row[start].tolist()
        if [red, green, blue] == ground:
            text.append(f"\x1b[48;2;{red};{green};{blue}m" + " " * (end - start))
        else:
            below = ";".join(map(str, ground))
            text.append(f"\x1b[38;2;{red};{green};{blue};48;2;{below}m" + "▀" * (end - start))
    return "".join(text) + "\x1b[0m"
