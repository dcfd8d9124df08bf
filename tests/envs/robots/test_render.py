"""A robot's flat picture shows its state, everywhere that pictures are asked for, without MuJoCo."""

import subprocess
import sys
import types

import gymnasium
import jax
import numpy as np
import pytest
from PIL import Image

import overclock
from overclock.adapters.gymnasium import make_vec
from overclock.cli import main
from overclock.drawing import GROUND, SKY, TRACK
from overclock.errors import UsageError
from overclock.planar import render as drawing
from overclock.record import record
from overclock.vector import vectorize

ROBOTS = ("halfcheetah", "walker2d", "hopper")
robots = pytest.mark.parametrize("name", ROBOTS)


def picture(name, **moved):
    """A robot in its reference position but for some dofs, by their number: `q2=0.5`."""
    env, _ = overclock.make(name)
    qpos = np.array(env.model.qpos0)
    for dof, distance in moved.items():
        qpos[int(dof[1:])] += distance
    return drawing.render(env, types.SimpleNamespace(qpos=qpos))


def box_of(frame, colour):
    """Left, top, right and bottom of the pixels that have exactly a colour."""
    rows, columns = np.nonzero(np.all(frame == colour, axis=-1))
    assert rows.size
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])


def marks(frame):
    """Where the marks are, to fractions of a pixel."""
    darkness = np.sum(GROUND) - frame[drawing.FLOOR_Y + drawing.MARK_HEIGHT - 2].sum(axis=-1, dtype=np.float64)
    dark = np.flatnonzero(darkness)
    groups = np.split(dark, np.flatnonzero(np.diff(dark) > 1) + 1)
    return np.array([np.average(group, weights=darkness[group]) for group in groups])


@robots
def test_the_picture_is_as_large_as_cartpoles_and_the_robot_stands_on_the_floor(name):
    frame = picture(name)
    assert (frame.shape, frame.dtype) == ((400, 600, 3), np.uint8)
    assert tuple(frame[5, 5]) == SKY
    assert tuple(frame[drawing.FLOOR_Y, 5]) == TRACK
    colours = [drawing.TORSO, *drawing.LIMBS[: 2 if name == "halfcheetah" else 1]]
    lowest = max(box_of(frame, colour)[3] for colour in colours)
    assert drawing.FLOOR_Y - 25 < lowest <= drawing.FLOOR_Y  # robots begin up to 15 cm above it


@robots
def test_the_camera_goes_along_and_the_marks_scroll(name):
    begun, on = picture(name), picture(name, q0=0.25)
    np.testing.assert_array_equal(begun[: drawing.FLOOR_Y], on[: drawing.FLOOR_Y])
    metre, some = np.diff(marks(begun)).mean(), marks(begun)[1]
    assert np.abs(marks(on) - (some - 0.25 * metre)).min() < 0.5
    further = picture(name, q0=7.0)
    labels = slice(drawing.FLOOR_Y + drawing.LABEL_Y, None)
    np.testing.assert_array_equal(begun[: labels.start], further[: labels.start])
    assert (begun[labels] != further[labels]).any()


@robots
def test_a_robot_that_rises_is_higher_up_by_the_same_scale_as_the_marks(name):
    metre = np.diff(marks(picture(name))).mean()
    shift = box_of(picture(name), drawing.TORSO) - box_of(picture(name, q1=0.3), drawing.TORSO)
    np.testing.assert_allclose(shift, [0, 0.3 * metre, 0, 0.3 * metre], atol=1)


@robots
def test_a_robot_far_above_the_floor_is_still_wholly_seen(name):
    usual, high = box_of(picture(name), drawing.TORSO), box_of(picture(name, q1=5.0), drawing.TORSO)
    np.testing.assert_allclose(high[2:] - high[:2], usual[2:] - usual[:2], atol=1)
    assert high[1] >= drawing.ROOM - 1


def test_a_positive_angle_turns_clockwise_as_in_mujoco():
    """A little of it puts a cheetah's head down; half a turn puts it on its back, head to the left."""

    def nose(angle):
        rows, columns = np.nonzero(np.all(picture("halfcheetah", q1=0.3, q2=angle) == drawing.TORSO, axis=-1))
        return columns.max(), rows[columns == columns.max()].mean(), columns.min()

    assert nose(-0.4)[1] < nose(0.0)[1] - 20 < nose(0.4)[1] - 40
    for angle, ahead in ((0.0, True), (np.pi, False)):
        right, _, left = nose(angle)
        assert (right - 300 > 300 - left) == ahead


def test_legs_can_be_told_apart():
    frame = picture("walker2d", q3=-0.8, q6=0.1)  # the right thigh swings back
    right, left = (box_of(frame, colour) for colour in drawing.LIMBS[:2])
    assert right[0] < left[0] - 30
    assert right[2] < left[2] - 30


def test_a_robot_of_another_size_fills_the_picture_alike(tmp_path):
    """And its marks are as far apart as its size asks for."""
    text = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="9 9 9"/><body pos="0 0 8">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 4 0 0 -3" size="0.5"/>
      <body pos="0 0 -3"><joint name="knee" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -4" size="0.4"/></body></body></worldbody>
      <actuator><motor joint="knee" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""
    (tmp_path / "giant.xml").write_text(text)
    env, _ = overclock.make("halfcheetah", xml_file=str(tmp_path / "giant.xml"))
    frame = drawing.render(env, types.SimpleNamespace(qpos=np.array(env.model.qpos0)))
    top, bottom = box_of(frame, drawing.TORSO)[1], box_of(frame, drawing.LIMBS[0])[3]
    assert bottom - top == pytest.approx(drawing.ROBOT * (11 + 0.9) / 11, abs=3)
    assert np.diff(marks(frame)).mean() == pytest.approx(5 * drawing.ROBOT / 11, abs=1)  # every five metres


def test_a_batch_and_a_position_that_is_nowhere_are_refused():
    env, _ = overclock.make("hopper")
    with pytest.raises(UsageError, match="pick one of the batch"):
        drawing.render(env, vectorize(env, 2).reset(jax.random.key(0))[1].lanes)
    with pytest.raises(UsageError, match="its position is not finite"):
        drawing.render(env, types.SimpleNamespace(qpos=np.full(6, np.nan)))


def test_gymnasiums_pictures_are_these():
    single = gymnasium.make("overclock/halfcheetah-v5", render_mode="rgb_array")
    single.reset(seed=3)
    host = single.unwrapped.host
    state = jax.tree.map(lambda leaf: leaf[0], host.state.lanes)
    np.testing.assert_array_equal(single.render(), drawing.render(host.venv.env, state))
    batch = make_vec("halfcheetah", 2, render_mode="rgb_array")
    batch.reset(seed=3)
    assert len({frame.tobytes() for frame in batch.render()}) == 2


@pytest.mark.long
def test_recordings_move_and_need_no_mujoco(tmp_path):
    program = (
        "import sys\nfrom overclock.cli import main\n"
        "code = main(sys.argv[1:])\nassert 'mujoco' not in sys.modules\nsys.exit(code)"
    )
    target = tmp_path / "out.png"
    words = ["record", "hopper", str(target), "--steps", "5", "--width", "120"]
    ended = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    with Image.open(target) as animation:
        assert animation.size == (120, 80)
        assert animation.n_frames == 6


def test_a_renderer_that_is_not_there_is_refused_before_anything_is_done(tmp_path):
    with pytest.raises(UsageError, match="hopper-v5 has no renderer 'warp'; besides its own it has mujoco"):
        record("hopper", tmp_path / "out.gif", renderer="warp")
    with pytest.raises(UsageError, match="cartpole-v1 has no renderer 'mujoco'; besides its own it has none"):
        record("cartpole", tmp_path / "out.gif", renderer="mujoco")
    assert list(tmp_path.iterdir()) == []


def test_a_robot_is_not_for_keys(capsys):
    assert main(["play", "halfcheetah"]) == 2
    assert "halfcheetah-v5 cannot be played: it has no keys" in capsys.readouterr().err
