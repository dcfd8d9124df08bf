"""Small references written to a folder: a package of several files, and single files."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="references are run with Gymnasium")

Writer = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Writer]:
    """Writes a file of a test's own reference and returns its path."""

    def file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
        return path

    before = list(sys.path)
    yield file
    sys.path[:] = before
    for name, module in list(sys.modules.items()):  # the next test has other files of the same names
        if str(tmp_path) in str(getattr(module, "__file__", None)):
            del sys.modules[name]


@pytest.fixture
def mine(write: Writer) -> Path:
    """A package whose files `ore` and `shaft` need each other; returns the file of its environment."""
    write("minegame/__init__.py", "from .env import MineEnv\n")
    write(
        "minegame/constants.py",
        """
        DEPTH = 5
        UNUSED = 3
        """,
    )
    write(
        "minegame/ore.py",
        """
        from minegame import shaft


        def value(depth):
            return 0 if depth <= 0 else 1 + shaft.dig(depth - 1)


        def forgotten():
            return 7
        """,
    )
    write(
        "minegame/shaft.py",
        """
        from .ore import value


        def dig(depth):
            return value(depth // 2)
        """,
    )
    write(
        "minegame/lamp.py",
        """
        class Lamp:
            brightness = 3

            def __init__(self):
                self.oil = 10

            def burn(self):
                self.oil -= 1
                return self.oil

            def polish(self):
                return "shiny"
        """,
    )
    write(
        "minegame/picture.py",
        """
        import pygame


        def paint(env):
            return pygame.Surface((1, 1))
        """,
    )
    return write(
        "minegame/env.py",
        """
        import logging

        import gymnasium
        import numpy as np
        from gymnasium import spaces

        from .constants import DEPTH
        from .lamp import Lamp
        from .shaft import dig

        logger = logging.getLogger(__name__)


        class MineEnv(gymnasium.Env):
            metadata = {"render_modes": ["human"]}

            def __init__(self, render_mode=None, deep=DEPTH):
                self.render_mode, self.deep = render_mode, deep
                self.observation_space = spaces.Box(-100, 100, (2,), np.float64)
                self.action_space = spaces.Discrete(2)

            def reset(self, *, seed=None, options=None):
                super().reset(seed=seed)
                self.depth = int(self.np_random.integers(1, self.deep))
                self.lamp = Lamp()
                return self._obs(), {}

            def step(self, action):
                self.depth += action
                self._say()
                oil = self.lamp.burn()
                if self.render_mode == "human":
                    self.render()
                return self._obs(), float(dig(self.depth)), oil == 0, False, {}

            def _obs(self):
                return np.array([self.depth, self.lamp.oil], np.float64)

            def _say(self):
                logger.info("depth %s", self.depth)

            def render(self):
                from .picture import paint

                return paint(self)

            def close(self):
                pass


        if __name__ == "__main__":
            env = MineEnv()
        """,
    )
