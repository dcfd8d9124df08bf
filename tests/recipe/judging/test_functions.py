"""Level 1 of a module that comes before the environment: its functions against the calls of the reference."""

import dataclasses

import pytest

from overclock.recipe.judging.functions import record_functions
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.judge import Judge
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import Judging, ModulePlan, format_project
from overclock.recipe.project.twin import project_twin

PHYSICS = '''"""Physics of a ball."""
import numpy as np

GRAVITY = 9.8

def fall(height, speed, dt=0.01):
    """Height and speed after a moment."""
    return height + speed * dt, speed - GRAVITY * dt

def bounce(height, speed):
    """Upwards again, with a loss."""
    return -0.9 * speed if height <= 0.0 else speed

def noisy(generator, value):
    """With noise."""
    return value + generator.uniform(-0.01, 0.01)

def shout(text):
    """Not a number."""
    return text.upper()

def never(x):
    """Nobody calls this."""
    return x

class Ball:
    """A class."""
    def move(self):
        """A method."""
'''
ENV = '''"""A ball."""
import gymnasium
import numpy as np
from ball.physics import bounce, fall, noisy, shout

class BallEnv(gymnasium.Env):
    """A ball that bounces."""
    observation_space = gymnasium.spaces.Box(-100.0, 100.0, (2,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(-100.0, 100.0, (2,), np.float64)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.height, self.speed = 1.0, 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.height, self.speed = noisy(self.np_random, 1.0), 0.0
        return np.array([self.height, self.speed]), {}

    def step(self, action):
        shout("up")
        push = 0.5 if action == 1 else 0.0
        self.height, self.speed = fall(self.height, self.speed + push)
        self.speed = bounce(self.height, self.speed)
        return np.array([self.height, self.speed]), float(self.height), self.height > 5.0, False, {}
'''
RIGHT = '''"""Physics."""

import jax.numpy as jnp

GRAVITY = 9.8


def fall(height, speed, dt=0.01):
    return height + speed * dt, speed - GRAVITY * dt


def bounce(height, speed):
    return jnp.where(height <= 0.0, -0.9 * speed, speed)
'''


WHOLE = '''"""A ball."""

import dataclasses
from typing import Any

import jax.numpy as jnp
from physics import bounce, fall

from overclock.env import Box, Discrete, Environment, Params, Struct


class BallParams(Params):
    max_steps: int | None = 40


class BallState(Struct):
    height: Any
    speed: Any


class BallReset(Struct):
    uniform_0: Any


@dataclasses.dataclass(frozen=True)
class Ball(Environment[BallState, BallParams]):
    def default_params(self):
        return BallParams()

    def observation_space(self, params):
        return Box(-100.0, 100.0, (2,), "float64")

    def action_space(self, params):
        return Discrete(2)

    def draw_reset(self, rng, params):
        return BallReset(uniform_0=rng.uniform(0, -0.01, 0.01))

    def init(self, draw, params):
        height = 1.0 + draw.uniform_0
        return BallState(height=height, speed=jnp.zeros_like(height))

    def transition(self, state, action, draw, params):
        height, speed = fall(state.height, state.speed + jnp.where(action == 1, 0.5, 0.0))
        speed = bounce(height, speed)
        return BallState(height=height, speed=speed), height, height > 5.0

    def observe(self, state, params):
        return jnp.stack([state.height, state.speed])


def make():
    return Ball(), BallParams()
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    pytest.importorskip("gymnasium", reason="the reference is a Gymnasium environment")
    folder = tmp_path_factory.mktemp("two")
    (folder / "ball").mkdir()
    (folder / "ball" / "__init__.py").write_text("")
    (folder / "ball" / "physics.py").write_text(PHYSICS)
    (folder / "ball" / "env.py").write_text(ENV)
    made = new_project(
        folder / "project", f"{folder / 'ball' / 'env.py'}:BallEnv", "jax", max_steps=40, judging=Judging(levels=(1, 2))
    )
    return made.project


@pytest.fixture(scope="module")
def plan():
    names = ("fall", "bounce", "noisy", "shout", "never", "GRAVITY", "Ball", "Ball.move")
    return ModulePlan("physics", ("physics.py",), tuple(f"ball.physics:{name}" for name in names))


@pytest.fixture(scope="module")
def judge(project, plan, tmp_path_factory):
    cut = dataclasses.replace(project, modules=(plan, ModulePlan("env", ("env.py",), (), 20, ("physics",))))
    return Judge(cut, project.scenarios, tmp_path_factory.mktemp("run") / "repro")


def candidate(text, **more):
    files = {"physics.py": text.encode(), **{f"{name}.py": one.encode() for name, one in more.items()}}
    return Frozen(tree_hash(files), files)


def test_functions_of_numbers_are_recorded_and_the_others_are_named(project, plan, tmp_path):
    recorded = record_functions(project_twin(project, tmp_path).reference, plan, seed=0, timeout=60.0)
    assert set(recorded.cases) == {"ball.physics:fall", "ball.physics:bounce"}
    assert recorded.cases["ball.physics:fall"].recorded > 50
    reasons = {name.partition(":")[2]: why for name, why in recorded.not_checked.items()}
    assert "no array of numbers" in reasons["noisy"] or "random" in reasons["noisy"]
    assert "no array of numbers" in reasons["shout"]
    assert "no recorded call" in reasons["never"]
    assert "Ball" not in reasons


def test_a_right_module_holds_before_there_is_an_environment(judge):
    assert judge.judge(candidate(RIGHT), 0, 1, "physics").passed
    found = judge.judge(candidate(RIGHT), 1, 1, "physics")
    assert (found.verdict, found.tests_passed, found.tests_total) == ("pass", 7, 7)  # 3 results, twice; the gate
    assert set(found.report.not_checked) >= {"ball.physics:noisy"}


def test_a_wrong_function_is_named_with_an_example(judge):
    found = judge.judge(candidate(RIGHT.replace("speed - GRAVITY", "speed + GRAVITY")), 1, 1, "physics")
    assert (found.verdict, found.failure.module, found.failure.field) == ("fail", "fall", "result_1")
    assert "For the inputs {'height':" in found.failure.sentence


def test_a_missing_function_and_a_missing_module_are_said(judge):
    found = judge.judge(candidate(RIGHT.replace("def bounce", "def leap")), 1, 1, "physics")
    assert "Not there: bounce" in found.failure.sentence
    found = judge.judge(Frozen(tree_hash({}), {}), 1, 1, "physics")
    assert "no physics.py" in found.failure.sentence


@pytest.mark.long
def test_the_whole_holds_only_where_its_modules_do(judge):
    strict = {"float64": judge.project.contract.precisions["float64"]}  # the other precision would only repeat it
    contract = dataclasses.replace(judge.project.contract, precisions=strict)
    judge = Judge(dataclasses.replace(judge.project, contract=contract), judge.scenarios, judge.repros)
    found = judge.judge(candidate(RIGHT, env=WHOLE), 1, 1)
    assert found.passed, found.failure
    wrong = candidate(RIGHT.replace("-0.9 * speed", "-0.8 * speed"), env=WHOLE)
    found = judge.judge(wrong, 1, 1)
    assert (found.verdict, found.failure.module) == ("fail", "bounce")


def test_the_written_plan_names_every_module(project):
    text = format_project(project)
    assert all(f'name = "{module.name}"' in text for module in project.modules)
