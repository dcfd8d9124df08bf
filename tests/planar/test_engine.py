"""Every part of the engine against the number that MuJoCo computes for it, in float64."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overclock.planar.contacts import impedance, nearest, pairs, touches
from overclock.planar.factor import factor, solve, times
from overclock.planar.inertia import bias, mass_matrix
from overclock.planar.integrate import advance
from overclock.planar.kinematics import motions, place
from overclock.planar.model import Softness

COUNT = 40


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def scalars(values):
    return [jnp.float64(value) for value in values]


@pytest.fixture(scope="module")
def cases(robot):
    qpos, qvel = robot.states(COUNT)
    return [(q, v, robot.at(q, v)) for q, v in zip(qpos, qvel, strict=True)]


def dense(model, matrix):
    full = np.zeros((model.dofs, model.dofs))
    for (i, j), value in matrix.items():
        full[i, j] = full[j, i] = float(value)
    return full


def test_bodies_are_where_mujoco_has_them(robot, cases):
    for q, _, data in cases[:10]:
        placed = place(robot.ours, scalars(q))
        root = np.array([data.xanchor[2, 0], data.xanchor[2, 2]])
        for number, (body, frame) in enumerate(zip(robot.ours.bodies, placed.frames, strict=True), start=1):
            np.testing.assert_allclose(
                root + np.array(frame.place(body.centre)), data.xipos[number][[0, 2]], rtol=0, atol=1e-12
            )


def test_the_mass_matrix_is_mujocos_symmetric_and_positive(robot, cases):
    full = np.zeros((robot.ours.dofs, robot.ours.dofs))
    for q, _, data in cases[:10]:
        matrix = dense(robot.ours, mass_matrix(robot.ours, place(robot.ours, scalars(q))))
        mujoco.mj_fullM(robot.theirs, data, full)
        np.testing.assert_allclose(matrix, full, rtol=0, atol=1e-12)
        assert np.linalg.eigvalsh(matrix).min() > 0


def test_the_bias_is_mujocos_and_that_of_inverse_dynamics(robot, cases):
    for q, v, data in cases[:10]:
        ours = [float(force) for force in bias(robot.ours, place(robot.ours, scalars(q)), scalars(v))]
        np.testing.assert_allclose(ours, data.qfrc_bias, rtol=0, atol=1e-9)


def test_solving_takes_the_matrix_back(robot, cases):
    q, v, _ = cases[0]
    matrix = mass_matrix(robot.ours, place(robot.ours, scalars(q)))
    x = solve(robot.ours, factor(robot.ours, matrix), scalars(v))
    np.testing.assert_allclose(times(robot.ours, matrix, x), v, rtol=0, atol=1e-10)
    np.testing.assert_allclose(dense(robot.ours, matrix) @ np.array(x), v, rtol=0, atol=1e-10)


def test_contacts_are_mujocos(robot, cases):
    seen = 0
    for q, v, data in cases:
        placed = place(robot.ours, scalars(q))
        ours = touches(robot.ours, placed, motions(robot.ours, placed, scalars(v)))
        theirs = [contact for contact in data.contact if contact.geom1 == 0 and contact.efc_address >= 0]
        points = [(touch, float(placed.height)) for touch in ours if float(touch.weight) > 0]
        assert len(points) == len(theirs)
        seen += len(theirs)
        heights = sorted(float(touch.point[1]) + height for touch, height in points)
        np.testing.assert_allclose(heights, sorted(contact.pos[2] for contact in theirs), rtol=0, atol=1e-12)
        for touch, _ in points:
            assert np.abs(data.efc_D - float(touch.weight)).min() < 1e-6 * float(touch.weight)
    assert seen > 5


def test_capsules_meet_where_mujoco_says(robot):
    if not robot.ours.pairs:
        assert robot.name != "hopper"
        return
    found = 0
    for q, v in zip(*robot.states(800, seed=3), strict=True):
        data = robot.at(q, v)
        theirs = [contact for contact in data.contact if contact.geom1 != 0]
        if not theirs:
            continue
        found += 1
        rows = [row for row in pairs(robot.ours, place(robot.ours, scalars(q)), scalars(v)) if float(row.weight) > 0]
        assert len(rows) == len(theirs)
        if found == 5:
            break
    assert found == 5


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=8, max_size=8))
def test_no_points_of_two_segments_are_nearer(numbers):
    one, other = np.array(numbers).reshape(2, 2, 2)
    if min(np.linalg.norm(one[0] - one[1]), np.linalg.norm(other[0] - other[1])) < 0.1:
        return
    a, b = one[1] - one[0], other[1] - other[0]
    if abs(a[0] * b[1] - a[1] * b[0]) < 1e-2:
        return
    p, q = (np.array(point) for point in nearest(tuple(map(tuple, one)), tuple(map(tuple, other))))
    grid = np.linspace(0, 1, 41)
    points = [start[None] + grid[:, None] * (end - start)[None] for start, end in (one, other)]
    least = np.linalg.norm(points[0][:, None] - points[1][None], axis=-1).min()
    assert np.linalg.norm(p - q) <= least + 1e-9


def test_the_impedance_is_mujocos_curve():
    softness = Softness(1.0, 1.0, 0.1, 0.9, 0.01, 0.5, 2.0)
    depths = np.array([0.0, -0.0025, -0.005, -0.0075, -0.01, -0.02])
    expected = 0.1 + 0.8 * np.array([0, 0.125, 0.5, 0.875, 1, 1])
    np.testing.assert_allclose([float(impedance(softness, jnp.float64(d))) for d in depths], expected, atol=1e-12)


def test_a_control_step_is_mujocos(robot, few_optimisations):
    """In float64 against the exact solver; in float32 as closely as the environments promise."""
    qpos, qvel = robot.states(4000, seed=1)
    ctrl = np.random.default_rng(2).uniform(-1.0, 1.0, (len(qpos), robot.theirs.nu)).astype(np.float32)
    ctrl[:50] *= 2  # beyond the motors' range
    step = jax.jit(jax.vmap(lambda q, v, u: advance(robot.ours, q, v, u, robot.substeps)))
    expected_q, expected_v = [], []
    for q, v, u in zip(qpos, qvel, ctrl, strict=True):
        data = robot.at(q, v, u)
        data.qacc_warmstart[:] = 0
        mujoco.mj_step(robot.theirs, data, nstep=robot.substeps)
        expected_q.append(data.qpos.copy())
        expected_v.append(data.qvel.copy())
    ours_q, ours_v = step(qpos, qvel, ctrl)
    assert np.abs(ours_q - np.array(expected_q)).max() < 1e-12
    assert np.abs(ours_v - np.array(expected_v)).max() < 1e-10
    single, _ = step(*(part.astype(np.float32) for part in (qpos, qvel, ctrl)))
    errors = np.abs(np.asarray(single, np.float64) - np.array(expected_q))[:, 1:].max(axis=1)
    assert np.quantile(errors, 0.99) <= 2e-6
    assert errors.max() <= 1e-4
