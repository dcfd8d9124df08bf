"""The compiler reads from MJCF what MuJoCo's own compiler reads, and refuses what planar models do not have."""

import json

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.planar import PlanarModel, read_model
from overclock.planar.environment import compiled_model


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_masses_and_inertias_are_mujocos(robot):
    bodies = robot.ours.bodies
    close([body.mass for body in bodies], robot.theirs.body_mass[1:])
    for body, theirs in zip(bodies, robot.theirs.body_inertia[1:], strict=True):
        assert np.abs(theirs - body.inertia).min() < 1e-12  # one of three principal moments


def test_inverse_weights_are_mujocos(robot):
    for dof, joint in enumerate(robot.ours.joints):
        if joint.limit is not None:
            close(joint.limit.inverse_weight, robot.theirs.dof_invweight0[dof])
    for contact in robot.ours.floor_contacts:
        mu = contact.friction
        close(contact.inverse_weight / (2 * mu**2 * (1 + mu**2)), robot.theirs.body_invweight0[contact.body + 1, 0])


def test_joints_are_mujocos(robot):
    joints, theirs = robot.ours.joints, robot.theirs
    assert [joint.limit is not None for joint in joints] == theirs.jnt_limited.astype(bool).tolist()
    close([(j.limit.low, j.limit.high) if j.limit else (0, 0) for j in joints], theirs.jnt_range)
    close([joint.stiffness for joint in joints], theirs.jnt_stiffness)
    close([joint.damping for joint in joints], theirs.dof_damping)
    close([joint.armature for joint in joints], theirs.dof_armature)
    close(robot.ours.qpos0, theirs.qpos0)


def test_motors_and_options_are_mujocos(robot):
    motors, theirs = robot.ours.motors, robot.theirs
    close([motor.gear for motor in motors], theirs.actuator_gear[:, 0])
    close([(motor.low, motor.high) for motor in motors], theirs.actuator_ctrlrange)
    assert [motor.dof for motor in motors] == theirs.actuator_trnid[:, 0].tolist()
    assert (robot.ours.timestep, robot.ours.integrator == "RK4") == (theirs.opt.timestep, theirs.opt.integrator == 1)


def test_what_environments_carry_is_the_compiled_model(robot):
    carried = compiled_model(f"overclock.envs.{robot.name}")
    assert carried == robot.ours


def test_a_model_survives_json(robot):
    assert PlanarModel.from_json(json.loads(json.dumps(robot.ours.to_json()))) == robot.ours


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('axis="0 1 0" damping="0"', 'axis="1 1 0" damping="0"', "neither turns about y nor slides"),
        ('condim="3" contype="1"', 'condim="4" contype="1"', "condim 4"),
        ('pos="-.5 0 0"', 'pos="-.5 0.1 0"', "does not lie in the plane"),
        ('<motor gear="30" joint="ffoot"', '<position kp="30" joint="ffoot"', "not by <position>"),
        ('type="capsule"', 'type="box"', "is not a capsule"),
        ('name="floor"', 'name="floor" class="x"', "default class"),
        ("</worldbody>", "</worldbody><tendon/>", "has no <tendon>"),
        ('<option gravity="0 0 -9.81"', '<option wind="1 0 0" gravity="0 0 -9.81"', "<option wind>"),
        ('conaffinity="0" condim', 'conaffinity="1" condim', "may collide"),
        ('integrator="RK4"', 'integrator="implicit"', "Euler or RK4"),
        ("<mujoco", "<<mujoco", "not a readable MJCF file"),
    ],
)
def test_what_is_not_planar_is_refused_by_name(tmp_path, robot, old, new, reason):
    text = robot.path.read_text()
    if old not in text or (robot.name == "hopper" and "may collide" in reason):
        pytest.skip("this model has no such part")
    changed = tmp_path / "changed.xml"
    changed.write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=reason):
        read_model(changed)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"nothing\.xml"):
        read_model(tmp_path / "nothing.xml")
