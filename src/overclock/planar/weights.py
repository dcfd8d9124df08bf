"""How light every dof and body is in the reference position: MuJoCo's dof_invweight0 and body_invweight0."""

import numpy as np

from overclock.planar.model import Body, Joint


class Weights:
    """Inverse weights, from the inverse of the mass matrix."""

    def __init__(self, bodies: list[Body], joints: list[Joint]) -> None:
        places: list[np.ndarray] = []
        jacobians: list[np.ndarray] = []
        total = np.diag([joint.armature for joint in joints]).astype(float)
        slides = {joint.kind: dof for dof, joint in enumerate(joints) if joint.kind != "hinge"}
        for number, body in enumerate(bodies):
            places.append(np.asarray(body.arm) + (0 if body.parent is None else places[body.parent]))
            centre = places[number] + body.centre
            linear, turning = np.zeros((2, len(joints))), np.zeros(len(joints))
            for axis, kind in enumerate("xz"):
                linear[axis, slides[kind]] = joints[slides[kind]].sign
            above: int | None = number
            while above is not None:
                dof, (x, z) = bodies[above].dof, centre - places[above]
                linear[:, dof] = joints[dof].sign * np.array([z, -x])
                turning[dof] = joints[dof].sign
                above = bodies[above].parent
            jacobians.append(linear)
            total += body.mass * linear.T @ linear + body.inertia * np.outer(turning, turning)
        inverse = np.linalg.inv(total)
        self.of_dof = [float(weight) for weight in np.diag(inverse)]
        # MuJoCo takes the mean over three directions, of which planar models do not move in one.
        self.of_body = [float(np.trace(linear @ inverse @ linear.T)) / 3 for linear in jacobians]
