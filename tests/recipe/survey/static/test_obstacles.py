"""What cannot be verified is found by reading: clocks, sockets, threads, stray luck; and by playing twice."""

import pytest

from overclock.recipe.survey.live.determinism import diverges
from overclock.recipe.survey.static.obstacles import obstacles
from overclock.recipe.survey.static.source import resolve

ONLINE = """
    import random
    import socket
    import threading
    import time
    from datetime import datetime

    import numpy as np


    class OnlineEnv:
        def __init__(self):
            self.socket = socket.create_connection(("example.org", 80))
            with open("map.txt") as file:
                self.map = file.read()

        def reset(self, seed=None):
            self.started = time.perf_counter()
            self.rng = np.random.default_rng()
            return random.random() + np.random.rand(), {}

        def step(self, action):
            now = datetime.now()
            with open("log.txt") as file:
                return file.read(), 0.0, False, False, {}

        async def later(self):
            pass

        def render(self):
            time.sleep(time.time() % 1)
            threading.Thread(target=print).start()
    """


def test_each_kind_is_found_with_its_line_and_rendering_is_left_alone(write) -> None:
    found = obstacles(resolve(str(write("online.py", ONLINE))))
    shown = {(one.line, one.what, one.severity) for one in found}
    assert shown == {
        (12, "a network (socket.create_connection)", "refuse"),
        (17, "a wall clock (time.perf_counter)", "refuse"),
        (18, "a generator without a seed", "warn"),
        (19, "the process's own generator (random.random)", "warn"),
        (19, "the process's own generator (numpy.random.rand)", "warn"),
        (22, "a wall clock (datetime.datetime.now)", "refuse"),
        (23, "a file (open)", "warn"),
        (26, "asynchronous code", "refuse"),
    }
    assert found[0].sentence.startswith("online.py, line 12: OnlineEnv.__init__ uses a network")


def test_a_seeded_generator_is_no_obstacle(write) -> None:
    file = write(
        "seeded.py",
        """
        import numpy as np

        class Env:
            def reset(self, seed=None):
                self.rng = np.random.default_rng(seed)
                return self.rng.random(), {}

            def step(self, action):
                return 0, 0.0, False, False, {}
        """,
    )
    assert obstacles(resolve(str(file))) == []


@pytest.mark.parametrize("env_id", ["CartPole-v1", "MountainCar-v0", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1"])
def test_gymnasiums_own_environments_have_none(env_id: str) -> None:
    source = resolve(f"gymnasium:{env_id}")
    assert obstacles(source) == []
    assert diverges(source, steps=60) is None


def test_rules_inside_a_library_are_named() -> None:
    found = obstacles(resolve("gymnasium:LunarLander-v3"))
    assert {one.what for one in found if one.severity == "warn"} == {"the library Box2D"}


def test_an_environment_that_is_not_the_same_twice(write) -> None:
    file = write(
        "moody.py",
        """
        import gymnasium
        from gymnasium import spaces

        made = []

        class MoodyEnv(gymnasium.Env):
            observation_space = action_space = spaces.Discrete(9)

            def __init__(self):
                made.append(self)
                self.number = len(made)

            def reset(self, *, seed=None, options=None):
                return 0, {}

            def step(self, action):
                return 0, float(self.number), False, False, {}
        """,
    )
    found = diverges(resolve(str(file)))
    assert found is not None
    assert found.severity == "refuse"
    assert "differ in reward after 1 steps" in found.sentence


def test_a_reference_s_own_package_is_no_library(write):
    write("pondgame/__init__.py", "")
    write("pondgame/numbers.py", "DEPTH = 3\n\ndef depth():\n    return DEPTH\n")
    path = write(
        "pondgame/env.py",
        """
        import scipy.special

        import pondgame.numbers
        from pondgame import numbers as known


        class PondEnv:
            def reset(self, seed=None):
                return known.depth(), {}

            def step(self, action):
                return scipy.special.expit(pondgame.numbers.DEPTH), 0.0, False, False, {}
        """,
    )
    assert [one.what for one in obstacles(resolve(str(path)))] == ["the library scipy"]
