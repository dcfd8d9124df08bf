"""The robot: the numbers of half_cheetah.xml, and what follows from them.

Bodies are torso, back thigh, shin and foot, front thigh, shin and foot; a turn by `a` takes (x, z) to
(x cos a + z sin a, z cos a - x sin a).
"""

import math

import numpy as np

DOFS = 9
PARENTS = (-1, 0, 1, 2, 0, 4, 5)
ORIGINS = ((0.0, 0.7), (-0.5, 0.0), (0.16, -0.25), (-0.28, -0.14), (0.5, 0.0), (-0.14, -0.24), (0.13, -0.18))
RADIUS, DENSITY, TOTAL_MASS = 0.046, 1000.0, 14.0
# Body, middle, angle of its own axis against z, half the length. The torso is given by its ends; its axis points back.
CAPSULES = (
    (0, (0.0, 0.0), -math.pi / 2, 0.5),
    (0, (0.6, 0.1), 0.87, 0.15),
    (1, (0.1, -0.13), -3.8, 0.145),
    (2, (-0.14, -0.07), -2.03, 0.15),
    (3, (0.03, -0.097), -0.27, 0.094),
    (4, (-0.07, -0.12), 0.52, 0.133),
    (5, (0.065, -0.09), -0.6, 0.106),
    (6, (0.045, -0.07), -0.6, 0.07),
)
ARMATURE = (0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
STIFFNESS = (0.0, 0.0, 0.0, 240.0, 180.0, 120.0, 180.0, 120.0, 60.0)
DAMPING = (0.0, 0.0, 0.0, 6.0, 4.5, 3.0, 4.5, 3.0, 1.5)
GEAR = (0.0, 0.0, 0.0, 120.0, 90.0, 60.0, 120.0, 60.0, 30.0)
LOW = (-0.52, -0.785, -0.4, -1.0, -1.2, -0.5)
HIGH = (1.05, 0.785, 0.785, 0.7, 0.87, 0.5)
GRAVITY = 9.81
TIMESTEP = 0.01
FRICTION = 0.4
LEAST, MOST = 1e-4, 0.8  # impedances: solimp's 0 is raised to MuJoCo's smallest
WIDTH_CONTACT, WIDTH_LIMIT = 0.01, 0.03
TIME = 0.02
SPRING, DAMPER = 1 / (MOST * TIME) ** 2, 2 / (MOST * TIME)


def _chain(body: int) -> tuple[int, ...]:
    """A body and those it hangs on."""
    return () if body < 0 else (body, *_chain(PARENTS[body]))


CHAINS = tuple(_chain(body) for body in range(len(PARENTS)))
# The hinge of body i is dof 2 + i. Above a dof are those that move it, nearest first.
ABOVE = ((), (0,), (1, 0), *((*(2 + one for one in _chain(body)[1:]), 1, 0) for body in range(1, 7)))
TURNS = np.array([[dof - 2 in _chain(body) for dof in range(DOFS)] for body in range(len(PARENTS))], float)
BODY_OF_CAPSULE = tuple(body for body, *_ in CAPSULES)


def _along(angle: float, half: float) -> np.ndarray:
    """From the middle of a capsule to its end along its axis."""
    return half * np.array([math.sin(angle), math.cos(angle)])


ENDS = np.array([
    [np.array(middle) + side * _along(angle, half) for side in (-1, 1)] for _, middle, angle, half in CAPSULES
])  # fmt: skip


def _capsule_mass(half: float) -> tuple[float, float]:
    """Mass and moment of inertia across its axis of a cylinder with two half balls."""
    length = 2 * half
    tube, balls = math.pi * RADIUS**2 * length * DENSITY, 4 / 3 * math.pi * RADIUS**3 * DENSITY
    inertia = tube * (3 * RADIUS**2 + length**2) / 12
    return tube + balls, inertia + balls * (2 * RADIUS**2 / 5 + 3 * RADIUS * length / 8 + length**2 / 4)


def _assembled() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses, centres of mass and moments of inertia of the bodies, with a total mass of 14."""
    masses, centres, inertias = np.zeros(7), np.zeros((7, 2)), np.zeros(7)
    for body in range(7):
        parts = [(np.array(middle), *_capsule_mass(half)) for owner, middle, _, half in CAPSULES if owner == body]
        mass = sum(m for _, m, _ in parts)
        centre = sum(m * middle for middle, m, _ in parts) / mass
        masses[body], centres[body] = mass, centre
        inertias[body] = sum(i + m * np.sum((middle - centre) ** 2) for middle, m, i in parts)
    scale = TOTAL_MASS / masses.sum()
    return masses * scale, centres, inertias * scale


MASSES, CENTRES, INERTIAS = _assembled()


def _light() -> tuple[np.ndarray, np.ndarray]:
    """Inverse weights in the reference position, where all frames are parallel to the world's."""
    anchors = np.array([sum(np.array(ORIGINS[one]) for one in _chain(body)) for body in range(7)])
    matrix, jacobians = np.diag(ARMATURE), []
    for body in range(7):
        linear = np.zeros((2, DOFS))
        linear[0, 0] = linear[1, 1] = 1.0
        for one in _chain(body):
            x, z = anchors[body] + CENTRES[body] - anchors[one]
            linear[:, 2 + one] = z, -x
        jacobians.append(linear)
        matrix = matrix + MASSES[body] * linear.T @ linear + INERTIAS[body] * np.outer(TURNS[body], TURNS[body])
    inverse = np.linalg.inv(matrix)
    of_bodies = [np.trace(linear @ inverse @ linear.T) / 3 for linear in jacobians]
    return np.diag(inverse), np.array(of_bodies)


DOF_WEIGHTS, BODY_WEIGHTS = _light()


def bodies() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses, centres of mass in the bodies' frames, moments of inertia about them."""
    return MASSES, CENTRES, INERTIAS


def inverse_weights() -> tuple[np.ndarray, np.ndarray]:
    """How light every dof is, and every body."""
    return DOF_WEIGHTS, BODY_WEIGHTS
