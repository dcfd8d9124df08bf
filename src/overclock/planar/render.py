"""A planar robot's picture: capsules on a floor with marks of distance. The camera goes along; MuJoCo is not needed."""

import math
from typing import Any

import numpy as np

from overclock.drawing import DARK, GREY, GROUND, LILAC, SAND, SKY, TRACK, Canvas, Colour, Place
from overclock.errors import UsageError
from overclock.planar.engine.kinematics import place
from overclock.planar.model import PlanarModel, Vector

WIDTH, HEIGHT = 600, 400
FLOOR_Y = 330
ROBOT = 210  # pixels of the longer side of a robot in its reference position
ROOM = 20  # pixels above a robot that is higher than the picture
MARKS = 80  # pixels between two marks, at least
MARK_HEIGHT, LABEL_Y, LABEL_SIZE = 9, 16, 13
HINGE = 0.4  # of the radius of the thinnest capsule

TORSO, LIMBS = DARK, (SAND, LILAC, GREY)


def render(env: Any, state: Any, params: Any = None) -> np.ndarray:
    """One state (an `EnvState` or its rules' state) as an RGB picture, `uint8[400, 600, 3]`."""
    return draw(env.model, position_of(state))


def position_of(state: Any) -> np.ndarray:
    """The position of one robot; batches are refused, and positions that are nowhere."""
    qpos = np.asarray(getattr(state, "rules", state).qpos, np.float64)
    if qpos.ndim != 1:
        raise UsageError("A planar robot's renderer draws one environment; pick one of the batch first.")
    if not np.isfinite(qpos).all():
        raise UsageError("The robot cannot be drawn: its position is not finite. Was an action not finite?")
    return qpos


class Pose:
    """A robot in a position: where its points are in the world, x and z."""

    def __init__(self, model: PlanarModel, qpos: np.ndarray) -> None:
        self.model, numbers = model, qpos.tolist()
        self._placed, x = place(model, numbers, math), model.slides[0]
        joint = model.joints[x]
        root = model.bodies[0].arm[0] + joint.sign * (numbers[x] - joint.reference)
        self._root = (root, self._placed.height + model.floor)

    def point(self, body: int, local: Vector) -> Vector:
        """A point of a body."""
        x, z = self._placed.frames[body].place(local)
        return self._root[0] + x, self._root[1] + z

    def capsules(self) -> np.ndarray:
        """Both ends of every capsule's axis, `[capsules, 2, 2]`."""
        return np.array([[self.point(one.body, end) for end in one.ends] for one in self.model.capsules])

    def hinges(self) -> list[Vector]:
        """Where bodies are fixed to their parents."""
        return [self.point(number, (0.0, 0.0)) for number in range(1, len(self.model.bodies))]

    def centre(self) -> np.ndarray:
        """The centre of all masses."""
        centres = [self.point(number, body.centre) for number, body in enumerate(self.model.bodies)]
        return np.average(centres, axis=0, weights=[body.mass for body in self.model.bodies])


def draw(model: PlanarModel, qpos: np.ndarray) -> np.ndarray:
    """A position as an RGB picture."""
    pose, radii = Pose(model, qpos), np.array([capsule.radius for capsule in model.capsules])
    scale = ROBOT / np.ptp(Pose(model, np.array(model.qpos0)).capsules(), axis=(0, 1)).max()
    ends, middle = pose.capsules(), pose.centre()[0]
    highest = (ends[:, :, 1].max(axis=1) + radii).max() - model.floor
    floor_y = max(FLOOR_Y, ROOM + highest * scale)

    def seen(point: Any) -> Place:
        return WIDTH / 2 + (point[0] - middle) * scale, floor_y - (point[1] - model.floor) * scale

    canvas, colours = Canvas(WIDTH, HEIGHT), _colours(model)
    _draw_floor(canvas, floor_y, middle, scale)
    for number, capsule in reversed(list(enumerate(model.capsules))):
        one, other = ends[number]
        canvas.rod(seen(one), seen(other), capsule.radius * scale, colours[capsule.body])
    for hinge in pose.hinges():
        canvas.disc(seen(hinge), HINGE * radii.min() * scale, SKY)
    return canvas.pixels()


def _draw_floor(canvas: Canvas, y: float, middle: float, scale: float) -> None:
    canvas.box(0, y, WIDTH, max(y, HEIGHT), GROUND)
    canvas.box(0, y, WIDTH, y + 2, TRACK)
    apart, reach = _round_up(MARKS / scale), (WIDTH / 2 + MARKS) / scale
    for number in range(math.ceil((middle - reach) / apart), math.floor((middle + reach) / apart) + 1):
        x = WIDTH / 2 + (number * apart - middle) * scale
        canvas.box(x - 1, y, x + 1, y + MARK_HEIGHT, TRACK)
        canvas.text((x, y + LABEL_Y), f"{number * apart:g} m", LABEL_SIZE, GREY)


def _round_up(number: float) -> float:
    """To the next of ... 0.5, 1, 2, 5, 10, 20 ..."""
    power = 10.0 ** math.floor(math.log10(number))
    return power * next(step for step in (1, 2, 5, 10) if step * power >= number)


def _colours(model: PlanarModel) -> list[Colour]:
    """Of the bodies: the torso's, and one of each limb that hangs on it."""
    found: list[Colour] = [TORSO]
    limbs = 0
    for body in model.bodies[1:]:
        assert body.parent is not None
        if body.parent == 0:
            found.append(LIMBS[limbs % len(LIMBS)])
            limbs += 1
        else:
            found.append(found[body.parent])
    return found
