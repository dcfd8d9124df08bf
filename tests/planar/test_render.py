"""Both pictures of a robot show MuJoCo's pose: the flat one's capsules lie there, the other one is Gymnasium's."""

import sys
import types

import gymnasium
import mujoco
import numpy as np
import pytest

import overclock
from overclock.errors import MissingError
from overclock.planar import mujoco_render
from overclock.planar.render import Pose
from overclock.record import record

IDS = {"halfcheetah": "HalfCheetah-v5", "walker2d": "Walker2d-v5", "hopper": "Hopper-v5"}


def test_capsules_hinges_and_the_centre_of_mass_are_where_mujoco_has_them(robot):
    qpos, qvel = robot.states(50, seed=5)
    qpos[:, 0] += np.linspace(-100, 100, len(qpos))
    geoms = np.flatnonzero(robot.theirs.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE)
    for q, v in zip(qpos, qvel, strict=True):
        data, pose = robot.at(q, v), Pose(robot.ours, q)
        along = data.geom_xmat[geoms].reshape(-1, 3, 3)[:, :, 2] * robot.theirs.geom_size[geoms, 1, None]
        theirs = data.geom_xpos[geoms][:, None] + np.stack([-along, along], axis=1)
        ours = pose.capsules()
        turned = np.abs(ours - theirs[:, ::-1, [0, 2]]).max(axis=(1, 2))
        assert np.minimum(turned, np.abs(ours - theirs[:, :, [0, 2]]).max(axis=(1, 2))).max() < 1e-9
        np.testing.assert_allclose(pose.hinges(), data.xanchor[3:, [0, 2]], rtol=0, atol=1e-9)
        np.testing.assert_allclose(pose.centre(), data.subtree_com[0, [0, 2]], rtol=0, atol=1e-9)


@pytest.fixture
def at_rest(robot):
    """An environment of ours and its reference position, where MuJoCo can draw."""
    env, _ = overclock.make(robot.name)
    qpos = np.array(env.model.qpos0)
    state = types.SimpleNamespace(qpos=qpos, qvel=np.zeros_like(qpos))
    try:
        mujoco_render.render(env, state)
    except MissingError as error:
        pytest.skip(str(error))
    return env, state


def test_mujocos_picture_is_gymnasiums(robot, at_rest, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", mujoco_render._source())
    original = gymnasium.make(IDS[robot.name], render_mode="rgb_array", width=600, height=400)
    original.reset(seed=0)
    for q, v in zip(*robot.states(2, seed=6), strict=True):
        original.unwrapped.set_state(q, v)
        ours = mujoco_render.render(at_rest[0], types.SimpleNamespace(qpos=q, qvel=v))
        np.testing.assert_array_equal(ours, original.render())
    original.close()


def test_another_state_or_another_file_is_another_picture(robot, at_rest, tmp_path):
    env, state = at_rest
    (tmp_path / "pale.xml").write_text(robot.path.read_text().replace('rgb2="0 0 0"', 'rgb2="1 1 1"'))
    pale, _ = overclock.make(robot.name, xml_file=str(tmp_path / "pale.xml"))
    moved = types.SimpleNamespace(qpos=state.qpos + 0.2, qvel=state.qvel)
    frames = [mujoco_render.render(env, one) for one in (state, moved, state)]
    frames.append(mujoco_render.render(pale, state))
    np.testing.assert_array_equal(frames[0], frames[2])
    assert (frames[0] != frames[1]).any()
    assert (frames[0] != frames[3]).any()


def test_a_model_without_that_camera_is_followed_too(robot, at_rest, tmp_path):
    (tmp_path / "other.xml").write_text(robot.path.read_text().replace('name="track"', 'name="other"'))
    env, state = overclock.make(robot.name, xml_file=str(tmp_path / "other.xml"))[0], at_rest[1]
    near = mujoco_render.render(env, state)
    state.qpos[0] += 8.0
    far = mujoco_render.render(env, state)
    shown = np.abs(far - near.astype(np.int32)).max(axis=-1) > 50
    assert shown[:, 200:400].mean() < 0.015  # a robot that is left behind is seen no more


def test_what_keeps_mujoco_from_drawing_is_said_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "nothing")
    mujoco_render._stage.cache_clear()
    with pytest.raises(MissingError, match=r"OpenGL by nothing fails .* set MUJOCO_GL=egl, or use"):
        record("hopper", tmp_path / "out.gif", steps=1, renderer="mujoco")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingError, match=r"pip install 'overclock\[physics\]'"):
        record("hopper", tmp_path / "out.gif", steps=1, renderer="mujoco")
    assert list(tmp_path.iterdir()) == []
