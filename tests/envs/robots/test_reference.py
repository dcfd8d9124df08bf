"""Gymnasium's robots as references: what they show, whether they can be put back, what is said where they are not."""

import importlib.util
import os

import numpy as np
import pytest

from overclock.envs.halfcheetah.twin import twin as halfcheetah
from overclock.envs.hopper.twin import twin as hopper
from overclock.envs.walker2d.twin import twin as walker2d
from overclock.errors import MissingError
from overclock.planar.twin import prepare

robots = pytest.mark.parametrize("build", [halfcheetah, walker2d, hopper], ids=["halfcheetah", "walker2d", "hopper"])
EVERYONE = np.ones(2, np.bool_)


def subject(build):
    from overclock.planar.reference import reference

    return reference(2, **dict(build().reference.options))


def act(side, generator):
    low, high = side.describe()["low"], side.describe()["high"]
    return generator.uniform(low, high, (2, len(low))).astype(np.float32)


@robots
def test_a_reset_tells_the_noise_that_it_drew(build):
    side = subject(build)
    shown = side.reset(EVERYONE, np.array([3, 4]))
    begun = side.instances[0].unwrapped.init_qpos
    np.testing.assert_array_equal(shown.state["qpos"], begun + shown.draws["qpos"])
    scale = 0.1 if build is halfcheetah else 1.0  # only the cheetah's velocities are scaled after they are drawn
    np.testing.assert_array_equal(shown.state["qvel"], scale * shown.draws["qvel"])
    assert shown.state["steps"].tolist() == [0, 0]


@robots
def test_a_state_that_is_put_back_goes_on_bit_for_bit(build):
    """What a step follows from has the solver's last accelerations in it."""
    side, generator = subject(build), np.random.default_rng(0)
    side.reset(EVERYONE, np.array([0, 1]))
    for _ in range(15):
        before = side.step(act(side, generator))
    action = act(side, generator)
    after = side.step(action)
    assert np.abs(before.state["qacc_warmstart"]).max() > 0
    side.step(act(side, generator))
    side.set_state(before.state)
    again = side.step(action)
    for name, values in after.state.items():
        np.testing.assert_array_equal(again.state[name], values, err_msg=name)
    np.testing.assert_array_equal(again.outputs["reward"], after.outputs["reward"])


def test_a_state_may_say_nothing_of_the_solver():
    side = subject(hopper)
    shown = side.reset(EVERYONE, np.array([0, 1]))
    side.step(np.ones((2, 3), np.float32))
    side.set_state({name: shown.state[name] for name in ("qpos", "qvel", "steps")})
    assert not side.instances[0].unwrapped.data.qacc_warmstart.any()


def test_mujoco_leaves_no_log_where_it_was_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subject(halfcheetah)  # whose file has an attribute that MuJoCo warns of
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("package", ["mujoco", "imageio"])
def test_what_is_missing_is_said_with_its_remedy(monkeypatch, package):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else found(name))
    with pytest.raises(MissingError, match=r"pip install 'overclock\[physics\]'"):
        prepare()
