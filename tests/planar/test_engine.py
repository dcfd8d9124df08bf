"""Every part of the engine against the number that MuJoCo computes for it, in float64."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overclock.planar.engine.contacts import impedance, meetings, pairs, touches
from overclock.planar.engine.factor import factor, solve, times
from overclock.planar.engine.inertia import bias, mass_matrix
from overclock.planar.engine.kinematics import motions, place, velocity
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
    rng = np.random.default_rng(4)
    for q, v, data in cases[:10]:
        placed = place(robot.ours, scalars(q))
        ours = np.array([float(force) for force in bias(robot.ours, placed, scalars(v))])
        np.testing.assert_allclose(ours, data.qfrc_bias, rtol=0, atol=1e-9)
        data.qacc[:] = rng.normal(size=robot.theirs.nv)
        mujoco.mj_inverse(robot.theirs, data)
        needed = data.qfrc_inverse + data.qfrc_passive + data.qfrc_constraint
        found = dense(robot.ours, mass_matrix(robot.ours, placed)) @ data.qacc + ours
        np.testing.assert_allclose(found, needed, rtol=1e-12, atol=1e-8)


def test_points_move_as_mujocos_jacobians_say(robot, cases):
    jacobian = np.zeros((3, robot.theirs.nv))
    for q, _, data in cases[:10]:
        placed = place(robot.ours, scalars(q))
        columns = [motions(robot.ours, placed, scalars(unit)) for unit in np.eye(robot.ours.dofs)]
        root = np.array([data.xanchor[2, 0], data.xanchor[2, 2]])
        for number, body in enumerate(robot.ours.bodies):
            point = placed.frames[number].place(body.centre)
            ours = np.array([velocity(moving[number], point) for moving in columns]).T
            world = np.array([root[0] + float(point[0]), 0.0, root[1] + float(point[1])])
            mujoco.mj_jac(robot.theirs, data, jacobian, None, world, number + 1)
            np.testing.assert_allclose(ours, jacobian[[0, 2]], rtol=0, atol=1e-12)


def test_energies_are_mujocos(robot, cases):
    robot.theirs.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    for q, v, data in cases[:10]:
        mujoco.mj_forward(robot.theirs, data)
        placed = place(robot.ours, scalars(q))
        kinetic = 0.5 * v @ dense(robot.ours, mass_matrix(robot.ours, placed)) @ v
        height = data.xanchor[2, 2]
        falling = sum(
            -robot.ours.gravity[1] * body.mass * (height + float(frame.place(body.centre)[1]))
            for body, frame in zip(robot.ours.bodies, placed.frames, strict=True)
        )
        springs = sum(
            0.5 * joint.stiffness * (q[dof] - joint.spring_reference) ** 2
            for dof, joint in enumerate(robot.ours.joints)
        )
        np.testing.assert_allclose([falling + springs, kinetic], data.energy, rtol=1e-12, atol=1e-9)


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
        places = np.array([(data.xanchor[2, 0] + float(t.point[0]), float(t.point[1]) + h) for t, h in points])
        for contact in theirs:
            off = np.abs(places - contact.pos[[0, 2]]).max(axis=1)
            touch = points[int(off.argmin())][0]
            assert off.min() < 1e-12
            np.testing.assert_allclose(float(touch.weight), data.efc_D[contact.efc_address], rtol=1e-9)
            assert (touch.body, touch.friction) == (robot.theirs.geom_bodyid[contact.geom2] - 1, contact.friction[0])
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
        jacobians = np.reshape(data.efc_J, (data.nefc, robot.theirs.nv))
        for row, contact in zip(rows, theirs, strict=True):
            parts = np.zeros(robot.theirs.nv)
            parts[list(row.parts)] = [float(part) for part in row.parts.values()]
            at = contact.efc_address
            np.testing.assert_allclose(parts, jacobians[at], rtol=0, atol=1e-12)
            np.testing.assert_allclose(
                [float(row.weight), float(row.target)], [data.efc_D[at], data.efc_aref[at]], rtol=1e-9
            )
        if found == 5:
            break
    assert found == 5


# Thigh and leg of Hopper whose foot is parallel to the torso: side by side, end to end (one point twice), and with the
# leg at the torso, too.
PARALLEL = ((-1.55457098, -2.3730124), (-2.10363538, -1.91123378), (-1.94183308, -2.20923214))


@pytest.mark.parametrize("joints", PARALLEL)
@pytest.mark.parametrize("off", [0.0, 5e-5])
def test_parallel_capsules_meet_twice_as_in_mujoco(robot, joints, off):
    if not robot.ours.pairs:
        return
    q, v = np.array([0.0, 3.0, 0.3, *joints, off - 1.5 * np.pi - sum(joints)]), np.linspace(-1, 1, 6)
    data = robot.at(q, v)
    rows = [row for row in pairs(robot.ours, place(robot.ours, scalars(q)), scalars(v)) if float(row.weight) > 0]
    jacobians = np.reshape(data.efc_J, (data.nefc, robot.theirs.nv))
    ours = [[*(float(row.parts.get(dof, 0.0)) for dof in range(6)), float(row.target)] for row in rows]
    theirs = [[*jacobians[one.efc_address], data.efc_aref[one.efc_address]] for one in data.contact if one.geom1 != 0]
    assert len(theirs) >= 2
    np.testing.assert_allclose(sorted(ours), sorted(theirs), rtol=1e-9, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=8, max_size=8))
def test_no_points_of_two_segments_are_nearer(numbers):
    one, other = np.array(numbers).reshape(2, 2, 2)
    if min(np.linalg.norm(one[0] - one[1]), np.linalg.norm(other[0] - other[1])) < 0.1:
        return
    a, b = one[1] - one[0], other[1] - other[0]
    if abs(a[0] * b[1] - a[1] * b[0]) < 1e-2:
        return
    _, (nearest, _) = meetings(tuple(map(tuple, one)), tuple(map(tuple, other)))
    p, q = (np.array(point) for point in nearest)
    grid = np.linspace(0, 1, 41)
    points = [start[None] + grid[:, None] * (end - start)[None] for start, end in (one, other)]
    least = np.linalg.norm(points[0][:, None] - points[1][None], axis=-1).min()
    assert np.linalg.norm(p - q) <= least + 1e-9


def test_the_impedance_is_mujocos_curve():
    softness = Softness(1.0, 1.0, 0.1, 0.9, 0.01, 0.5, 2.0)
    depths = np.array([0.0, -0.0025, -0.005, -0.0075, -0.01, -0.02])
    expected = 0.1 + 0.8 * np.array([0, 0.125, 0.5, 0.875, 1, 1])
    np.testing.assert_allclose([float(impedance(softness, jnp.float64(d))) for d in depths], expected, atol=1e-12)
