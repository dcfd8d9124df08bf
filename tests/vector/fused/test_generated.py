"""Environments that the built-in translator writes: their kernels do what XLA does."""

import importlib.util
import sys

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium's")

import gymnasium
from vector.fused.programs import KERNEL, assert_same
from vector.fused.test_environments import assert_steps_are_close, played

from overclock.env import Environment
from overclock.translate.compiler import Compiler
from overclock.translate.jax.file import print_jax


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The environment that is written for one of Gymnasium's."""

    def make(name):
        place = tmp_path_factory.mktemp("generated") / f"{name.replace('-', '_').lower()}_generated.py"
        place.write_text(print_jax(Compiler(lambda: gymnasium.make(name), name).program()))
        spec = importlib.util.spec_from_file_location(place.stem, place)
        sys.modules[place.stem] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        own = [value for value in vars(module).values() if getattr(value, "__module__", None) == place.stem]
        return next(value for value in own if isinstance(value, type) and issubclass(value, Environment))()

    return make


@pytest.mark.parametrize("name", ["FrozenLake-v1", "Blackjack-v1", "Taxi-v4"])
def test_games_are_equal_to_the_last_bit(generated, name):
    env = generated(name)
    assert_same(played(env, KERNEL), played(env, "xla"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["Acrobot-v1", "Pendulum-v1", "MountainCar-v0"])
def test_motion_is_close_at_every_step(generated, name):
    assert_steps_are_close(generated(name), "same_step", steps=12)
