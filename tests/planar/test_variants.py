"""Small models beside MuJoCo: whatever an MJCF file may say is computed as MuJoCo does, or refused by name."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.planar import read_model
from overclock.planar.engine.integrate import advance

MODEL = """<mujoco><compiler angle="radian"/><default></default><option timestep="0.002"/>
<worldbody><geom name="floor" type="plane" size="9 9 9"/>
<body name="torso" pos="0 0 .72">
  <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <joint name="turn" axis="0 1 0"/>
  <geom name="upper" type="capsule" fromto="0 0 .3 0 0 -.3" size="0.05" contype="0" conaffinity="1"/>
  <body name="leg" pos="0 0 -.3"><joint name="knee" axis="0 1 0"/>
    <geom name="lower" type="capsule" fromto="0 0 0 .1 0 -.4" size="0.04" contype="0" conaffinity="1"/>
  </body></body></worldbody>
<actuator><motor name="push" joint="knee" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""
FLOOR, UPPER, LOWER, KNEE = 'name="floor"', 'name="upper"', 'name="lower"', 'name="knee"'
CAPSULE = 'fromto="0 0 0 .1 0 -.4" size="0.04"'
STATE = np.array([0.1, 0.0, 0.05, -0.1]), np.array([0.3, -0.2, 0.1, 0.4])


def also(place, words):
    """Attributes beside one that is there."""
    return place, f"{place} {words}"


def changed(tmp_path, *changes):
    text = MODEL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "model.xml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (also(FLOOR, 'friction="0"'), also(UPPER, 'friction="0"'), also(LOWER, 'friction="0"')),
        (also(FLOOR, 'condim="1"'), also(UPPER, 'condim="1"'), also(LOWER, 'condim="1"')),
        (also(FLOOR, 'solimp=".1 .9 .01 0 2"'), also(LOWER, 'solimp=".1 .9 .01 0 2"')),
        (also(FLOOR, 'solimp=".1 .9 .05 .5 .5"'), also(LOWER, 'solimp=".1 .9 .05 .5 .5"')),
        (also(FLOOR, 'solimp=".9 .1 .05 .3 3"'), also(LOWER, 'solref=".03 .7"')),
        (also(FLOOR, 'margin=".01"'), also(LOWER, 'margin=".02"')),
        (also(KNEE, 'range="-.05 .05" solreflimit=".03 .5" solimplimit=".5 .8 .02 .4 2"'),),
        (also(KNEE, 'stiffness="10" springref=".5" ref=".2" damping="2" armature=".1"'),),
        (also(LOWER, 'density="500"'),),
        (("<default>", '<default><joint damping="3" armature=".2"/>'),),
        ((CAPSULE, 'pos=".05 0 -.2" axisangle="0 1 0 .3" size="0.04 .2"'),),
        (("</actuator>", '<motor joint="turn" gear="3" ctrlrange="-1 .2" ctrllimited="true"/></actuator>'),),
        (('timestep="0.002"', 'timestep="0.002" integrator="RK4" gravity="1 0 -5"'),),
        (('angle="radian"', 'angle="degree" settotalmass="7"'), also(KNEE, 'range="-3 3"')),
    ],
)
def test_a_step_is_mujocos(tmp_path, changes):
    path = changed(tmp_path, *changes)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    theirs.opt.tolerance = 1e-15
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:], data.ctrl[:] = data.qpos + STATE[0], STATE[1], 0.7
    started = data.qpos.copy()
    mujoco.mj_step(theirs, data)
    with jax.enable_x64(True), jax.disable_jit():
        ours = advance(read_model(path), jnp.array(started), jnp.array(STATE[1]), jnp.full(theirs.nu, 0.7), 1)
    np.testing.assert_allclose(ours[0], data.qpos, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours[1], data.qvel, rtol=0, atol=1e-11)


@pytest.mark.parametrize("bad", [np.nan, 1e11, -np.inf])
def test_a_control_that_is_no_number_lets_all_motors_rest_and_others_are_clipped(tmp_path, bad):
    path = changed(
        tmp_path, ("</actuator>", '<motor joint="turn" gear="3" ctrlrange="-1 1" ctrllimited="true"/></actuator>')
    )
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    data.ctrl[:] = bad, 0.5
    mujoco.mj_step(theirs, data)
    with jax.enable_x64(True), jax.disable_jit():
        _, ours = advance(read_model(path), jnp.zeros(4), jnp.zeros(4), jnp.array([bad, 0.5]), 1)
    np.testing.assert_allclose(ours, data.qvel, rtol=0, atol=1e-9)


def test_energy_stays_where_nothing_takes_any(tmp_path):
    path = changed(
        tmp_path, ('pos="0 0 .72"', 'pos="0 0 9"'), ('timestep="0.002"', 'timestep="0.002" integrator="RK4"')
    )
    theirs = mujoco.MjModel.from_xml_path(str(path))
    theirs.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY

    def energy(qpos, qvel):
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(theirs, data)
        return data.energy.sum()

    with jax.enable_x64(True):
        before = jnp.array(STATE[0]), jnp.array(STATE[1]) * 10
        after = jax.jit(lambda q, v: advance(read_model(path), q, v, jnp.zeros(1), 100))(*before)
    assert np.abs(np.asarray(after[0]) - STATE[0]).max() > 0.1
    np.testing.assert_allclose(energy(*after), energy(*before), rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (also(FLOOR, 'quat="0.9950 0 0.0998 0"'), "floor of a planar model is level"),
        (also(FLOOR, 'euler="0 .2 0"'), "has euler"),
        (("<worldbody>", "<worldbody><frame/>"), "<worldbody> of a planar model has no <frame>"),
        (also('name="leg"', 'gravcomp="1"'), "has gravcomp"),
        (also('name="push"', 'forcelimited="true" forcerange="-1 1"'), "has forcelimited"),
        (also('name="push"', 'gear="1 0 1"'), "has 3 numbers"),
        (also(KNEE, 'springdamper=".1 1"'), "has springdamper"),
        (also(KNEE, 'damping="2 5"'), "has 2 numbers"),
        (also(KNEE, 'damping="soft"'), "no number"),
        (also(KNEE, 'limited="true"'), "has no range"),
        (also(KNEE, 'frictionloss="1"'), "friction loss"),
        (also(LOWER, 'shellinertia="true"'), "has shellinertia"),
        (also(LOWER, 'densty="500"'), "has densty"),
        (also(LOWER, 'condim="1.5"'), "no whole number"),
        (also(LOWER, 'solref="-.01 -1"'), "a time and a damping ratio"),
        (also(LOWER, 'gap=".02"'), "gaps"),
        (("<default>", '<default><general gear="50"/>'), "not <general>"),
        (("<default>", '<default><joint damping="3"/><joint armature=".2"/>'), "not <joint>"),
        (('angle="radian"', 'angle="radians"'), "radian or degree"),
        (('timestep="0.002"', 'timestep="0.002" gravity="0 0"'), "has 2 numbers"),
        ((CAPSULE, 'size="0.04"'), "not a capsule with a radius and a length"),
        ((CAPSULE, 'fromto="0 0 0 .1 0" size="0.04"'), "has 5 numbers"),
        ((CAPSULE, 'fromto="0 0 0 .1 0 -.4"'), "not a capsule with a radius and a length"),
        (("</mujoco>", "<worldbody/></mujoco>"), "one <worldbody>, not 2"),
        (
            ('<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>',
             '<joint name="z" type="slide" axis="0 0 1"/><joint name="x" type="slide" axis="1 0 0"/>'),
            "in this order",
        ),
        (('<joint name="knee" axis="0 1 0"/>', '<joint name="knee" axis="0 0 0"/>'), "neither turns about y"),
    ],
)  # fmt: skip
def test_what_would_be_computed_wrongly_is_refused(tmp_path, change, reason):
    with pytest.raises(UsageError, match=reason):
        read_model(changed(tmp_path, change))
