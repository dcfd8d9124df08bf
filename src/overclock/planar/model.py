"""A planar model: what the compiler makes of an MJCF file and the engine computes with.

Everything lies in the x-z plane and turns about the y axis, clockwise seen from the front (MuJoCo's positive angle). A
body's frame has its origin in the anchor of its hinge and is parallel to the world's in the reference position, so that
local coordinates are offsets there. Dofs are MuJoCo's, in its order.
"""

import dataclasses
import functools
from typing import Any, Literal

Kind = Literal["x", "z", "hinge"]
Vector = tuple[float, float]
"""x and z."""


@dataclasses.dataclass(frozen=True)
class Softness:
    """The softness of a constraint: MuJoCo's solref and solimp, as the engine needs them."""

    stiffness: float
    damping: float
    least: float
    most: float
    width: float
    midpoint: float
    power: float


@dataclasses.dataclass(frozen=True)
class Limit:
    """The range of a joint."""

    low: float
    high: float
    softness: Softness
    inverse_weight: float
    """MuJoCo's dof_invweight0."""


@dataclasses.dataclass(frozen=True)
class Joint:
    """One degree of freedom; `sign` is -1 where its axis points the other way."""

    name: str
    kind: Kind
    sign: float
    reference: float
    stiffness: float
    spring_reference: float
    damping: float
    armature: float
    limit: Limit | None


@dataclasses.dataclass(frozen=True)
class Body:
    """A rigid body with one hinge. `arm` leads to it in its parent's frame, to the root from the world's origin."""

    name: str
    parent: int | None
    dof: int
    arm: Vector
    mass: float
    centre: Vector
    inertia: float
    """About the y axis through the centre of mass."""


@dataclasses.dataclass(frozen=True)
class Capsule:
    """A geom: a segment between two points of a body, with a radius."""

    name: str
    body: int
    ends: tuple[Vector, Vector]
    radius: float


@dataclasses.dataclass(frozen=True)
class FloorContact:
    """An end of a capsule that may touch the floor; in MuJoCo's terms condim 1 or 3 with a pyramidal cone."""

    body: int
    point: Vector
    radius: float
    margin: float
    friction: float | None
    softness: Softness
    inverse_weight: float
    """Of the first row: MuJoCo's body_invweight0, for the pyramid's edges times 2 mu^2 (1 + mu^2)."""


@dataclasses.dataclass(frozen=True)
class CapsulePair:
    """Two capsules that may touch each other without friction; the first one's body is above the second one's."""

    first: int
    second: int
    margin: float
    softness: Softness
    inverse_weight: float


@dataclasses.dataclass(frozen=True)
class Motor:
    """A torque of `gear * control` on a dof."""

    name: str
    dof: int
    gear: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class PlanarModel:
    """Bodies come after their parents; the first is the root, with the dofs x, z and a hinge."""

    name: str
    timestep: float
    integrator: Literal["Euler", "RK4"]
    gravity: Vector
    floor: float
    joints: tuple[Joint, ...]
    bodies: tuple[Body, ...]
    capsules: tuple[Capsule, ...]
    floor_contacts: tuple[FloorContact, ...]
    pairs: tuple[CapsulePair, ...]
    motors: tuple[Motor, ...]

    @property
    def dofs(self) -> int:
        return len(self.joints)

    @property
    def qpos0(self) -> tuple[float, ...]:
        return tuple(joint.reference for joint in self.joints)

    @functools.cached_property
    def slides(self) -> tuple[int, int]:
        """The root's dofs along x and z."""
        kinds = [joint.kind for joint in self.joints]
        return kinds.index("x"), kinds.index("z")

    @functools.cached_property
    def above(self) -> tuple[tuple[int, ...], ...]:
        """For every dof its ancestors, nearest first."""
        chains: list[tuple[int, ...]] = [()] * self.dofs
        first, second = sorted(self.slides)
        chains[second] = (first,)
        for body in self.bodies:
            nearest = second if body.parent is None else self.bodies[body.parent].dof
            chains[body.dof] = (nearest, *chains[nearest])
        return tuple(chains)

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same model."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "PlanarModel":

        def softness(part: dict[str, Any]) -> dict[str, Any]:
            return {**part, "softness": Softness(**part["softness"])}

        def limit(part: dict[str, Any] | None) -> Limit | None:
            return None if part is None else Limit(**softness(part))

        makers: dict[str, Any] = {
            "joints": lambda part: Joint(**{**part, "limit": limit(part["limit"])}),
            "bodies": lambda part: Body(**{**part, "arm": tuple(part["arm"]), "centre": tuple(part["centre"])}),
            "capsules": lambda part: Capsule(**{**part, "ends": tuple(map(tuple, part["ends"]))}),
            "floor_contacts": lambda part: FloorContact(**softness({**part, "point": tuple(part["point"])})),
            "pairs": lambda part: CapsulePair(**softness(part)),
            "motors": lambda part: Motor(**part),
        }
        lists = {name: tuple(make(part) for part in data[name]) for name, make in makers.items()}
        return cls(**{**data, "gravity": tuple(data["gravity"]), **lists})
