"""Beside MJX, the fast implementation that there was: whose control step in float32 is closer to MuJoCo's in float64?

`pytest -m long -rP tests/planar/test_mjx.py` prints the rows of docs/planar.md; those of MuJoCo Warp on an NVIDIA GPU.
"""

import importlib.util
import sys

import jax
import mujoco
import numpy as np
import pytest

import overclock
from overclock.bench.physics_peers import room_for_contacts
from overclock.planar.environment import PlanarState

mjx = pytest.importorskip("mujoco.mjx", reason="MJX is what ours is compared with")

COUNT = 512
AS_CLOSE = 4.0  # times MJX's error: two bits, which the order of operations decides among errors of a few ulp
OTHER_PHYSICS = 0.05  # rad or metres in one of a hundred steps


def begun(robot):
    """States and actions as float32 holds them, at x = 0: far from there float32 has few digits, whoever computes."""
    qpos, qvel = robot.states(COUNT, seed=11)
    qpos[:, 0] = 0.0
    ctrl = np.random.default_rng(12).uniform(-1.0, 1.0, (COUNT, robot.theirs.nu))
    return [part.astype(np.float32) for part in (qpos, qvel, ctrl)]


def by_mujoco(robot, qpos, qvel, ctrl):
    """Positions after a control step in float64, solved to the last digit."""
    found = []
    for q, v, u in zip(qpos, qvel, ctrl, strict=True):
        data = robot.at(q, v, u)
        mujoco.mj_step(robot.theirs, data, nstep=robot.substeps)
        found.append(data.qpos.copy())
    return np.array(found)


def by_ours(robot, qpos, qvel, ctrl):
    env, _ = overclock.make(robot.name)
    step = jax.jit(jax.vmap(lambda q, v, u: env.simulate(PlanarState(qpos=q, qvel=v), u)[0].qpos))
    return np.asarray(step(qpos, qvel, ctrl), np.float64)


def by_mjx(robot, model, qpos, qvel, ctrl, impl="jax", **room):
    on_device, data = mjx.put_model(model, impl=impl), mjx.make_data(model, impl=impl, **room)

    def step(q, v, u):
        first = data.replace(qpos=q, qvel=v, ctrl=u)
        return jax.lax.fori_loop(0, robot.substeps, lambda _, now: mjx.step(on_device, now), first).qpos

    return np.asarray(jax.jit(jax.vmap(step))(qpos, qvel, ctrl), np.float64)


def tuned(model):
    """What users of MJX choose for speed, as Brax does: see overclock.bench.physics_peers."""
    model.opt.iterations, model.opt.ls_iterations = 1, 4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    return model


def spread(name, found, expected):
    """(median, 99 in 100 below, largest) of the states' errors, each that of its worst joint; printed as a row."""
    errors = np.abs(found - expected).max(axis=1)
    assert np.isfinite(errors).all()
    numbers = float(np.median(errors)), float(np.quantile(errors, 0.99)), float(errors.max())
    sys.stdout.write("| " + " | ".join([name, *(f"{number:.1e}" for number in numbers)]) + " |\n")
    return numbers


@pytest.mark.long
def test_ours_is_as_close_to_mujoco_as_mjx_is_and_mjx_tuned_for_speed_is_not(robot):
    start = begun(robot)
    expected = by_mujoco(robot, *start)
    plain = mujoco.MjModel.from_xml_path(str(robot.path))
    ours = spread(f"{robot.name}, ours", by_ours(robot, *start), expected)
    theirs = spread(f"{robot.name}, MJX", by_mjx(robot, plain, *start), expected)
    assert np.less_equal(ours, AS_CLOSE * np.array(theirs)).all()
    if robot.name == "halfcheetah":
        _, most, _ = spread(f"{robot.name}, MJX tuned", by_mjx(robot, tuned(plain), *start), expected)
        assert most > OTHER_PHYSICS


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("warp") is None, reason="MuJoCo Warp needs the extra 'warp'")
@pytest.mark.skipif(jax.default_backend() != "gpu", reason="MuJoCo Warp is for NVIDIA GPUs")
def test_ours_is_as_close_to_mujoco_as_mujoco_warp_is(robot):
    start = begun(robot)
    expected = by_mujoco(robot, *start)
    plain = mujoco.MjModel.from_xml_path(str(robot.path))
    room = room_for_contacts(plain, COUNT)
    ours = spread(f"{robot.name}, ours", by_ours(robot, *start), expected)
    theirs = spread(f"{robot.name}, MuJoCo Warp", by_mjx(robot, plain, *start, impl="warp", **room), expected)
    assert np.less_equal(ours, AS_CLOSE * np.array(theirs)).all()
