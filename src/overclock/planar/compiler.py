"""From an MJCF file to a planar model: masses, places in the reference position, and how soft the constraints are."""

import math
from pathlib import Path

import numpy as np

from overclock.errors import UsageError
from overclock.planar.mjcf import PLAIN, Link, Part, Source, numbers, read_source, turn, unit_of
from overclock.planar.model import (
    Body,
    Capsule,
    CapsulePair,
    FloorContact,
    Joint,
    Kind,
    Limit,
    Motor,
    PlanarModel,
    Softness,
    Vector,
)
from overclock.planar.weights import Weights

LEAST_IMPEDANCE, MOST_IMPEDANCE = 1e-4, 0.9999  # MuJoCo's mjMINIMP and mjMAXIMP
LEAST_FRICTION = 1e-5  # MuJoCo's mjMINMU


def read_model(path: str | Path) -> PlanarModel:
    """The planar model of an MJCF file; raises UsageError for a file that is not one."""
    return _Compiler(read_source(Path(path))).model()


class _Compiler:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.unit = unit_of(source.compiler)
        self.timestep = source.option["timestep"]

    def model(self) -> PlanarModel:
        option, links = self.source.option, self.source.links
        gx, gy, gz = option.numbers["gravity"]
        integrator = option.words.get("integrator", "Euler")
        if gy or integrator not in ("Euler", "RK4"):
            raise UsageError("A planar model has gravity in its plane, and the integrator Euler or RK4.")
        for link in links:
            self._check(link)
        anchors = [self._anchor(link) for link in links]
        parts = [(link, joint) for link in links for joint in link.joints]
        joints = [self._joint(link, joint) for link, joint in parts]
        hinges = [parts.index((link, link.joints[-1])) for link in links]
        capsules = [self._capsule(i, link, geom) for i, link in enumerate(links) for geom in link.geoms]
        bodies = self._scaled([
            self._body(i, link, hinges[i], anchors, capsules) for i, link in enumerate(links)
        ])  # fmt: skip
        weights = Weights(bodies, joints)
        joints = [
            Joint(**{**vars(joint), "limit": self._limit(link, part, weights.of_dof[dof])})
            for dof, (joint, (link, part)) in enumerate(zip(joints, parts, strict=True))
        ]
        local = [
            Capsule(c.name, c.body, (_minus(c.ends[0], anchors[c.body]), _minus(c.ends[1], anchors[c.body])), c.radius)
            for c in capsules
        ]
        geoms = [geom for link in links for geom in link.geoms]
        return PlanarModel(
            self.source.name, self.timestep, integrator, (gx, gz), self.source.floor.numbers["pos"][2],
            tuple(joints), tuple(bodies), tuple(local),
            tuple(self._floor_contacts(local, geoms, weights)), tuple(self._pairs(local, geoms, weights)),
            tuple(self._motor(motor, joints) for motor in self.source.motors),
        )  # fmt: skip

    def _check(self, link: Link) -> None:
        kinds = [self._kind(link, joint)[0] for joint in link.joints]
        if kinds != (["x", "z", "hinge"] if link.parent is None else ["hinge"]):
            raise UsageError(
                f"Body {link.name} has the joints {kinds}; a planar model's root has x, z and a hinge, in this order, "
                "all others have a hinge."
            )
        if sum(other.parent is None for other in self.source.links) != 1:
            raise UsageError("A planar model is one tree.")

    def _kind(self, link: Link, joint: Part) -> tuple[Kind, float]:
        """The kind of a joint (x, z or hinge), and the sign of its axis."""
        x, y, z = joint.numbers["axis"]
        length = math.hypot(x, y, z)
        if joint.words.get("type", "hinge") == "hinge":
            axes: list[tuple[float, Kind]] = [(y, "hinge")]
        else:
            c, s = math.cos(link.angle), math.sin(link.angle)
            axes = [(c * x + s * z, "x"), (-s * x + c * z, "z")]
        for along, kind in axes:
            if length > 0 and abs(abs(along) - length) <= PLAIN:
                return kind, math.copysign(1.0, along)
        raise UsageError(f"Joint {joint.name} neither turns about y nor slides along x or z.")

    def _world(self, link: Link, point: Vector) -> Vector:
        c, s = math.cos(link.angle), math.sin(link.angle)
        return link.place[0] + c * point[0] + s * point[1], link.place[1] - s * point[0] + c * point[1]

    def _anchor(self, link: Link) -> Vector:
        x, _, z = link.joints[-1].numbers["pos"]
        return self._world(link, (x, z))

    def _joint(self, link: Link, joint: Part) -> Joint:
        kind, sign = self._kind(link, joint)
        if joint["frictionloss"] or joint["margin"]:
            raise UsageError(f"Joint {joint.name} has a friction loss or a margin, which planar models do not know.")
        unit = self.unit if kind == "hinge" else 1.0
        return Joint(
            joint.name, kind, sign, joint["ref"] * unit, joint["stiffness"], joint["springref"] * unit,
            joint["damping"], joint["armature"], None,
        )  # fmt: skip

    def _limit(self, link: Link, joint: Part, inverse_weight: float) -> Limit | None:
        limited, bounded = joint.words.get("limited", "auto"), "range" in joint.words
        if limited not in ("true", "false", "auto") or (limited == "true" and not bounded):
            raise UsageError(f"Joint {joint.name} is limited='{limited}' and has {'a' if bounded else 'no'} range.")
        if limited == "false" or not bounded:
            return None
        unit = self.unit if self._kind(link, joint)[0] == "hinge" else 1.0
        low, high = (bound * unit for bound in joint.numbers["range"])
        softness = self._softness(joint.numbers["solreflimit"], joint.numbers["solimplimit"])
        return Limit(low, high, softness, inverse_weight)

    def _capsule(self, body: int, link: Link, geom: Part) -> Capsule:
        """A capsule in world coordinates, in the reference position."""
        sizes = len(geom.words.get("size", "").split())
        if geom.words.get("type") != "capsule" or geom["size"] <= 0 or sizes < (1 if "fromto" in geom.words else 2):
            raise UsageError(f"Geom {geom.name} is not a capsule with a radius and a length.")
        if "fromto" in geom.words:
            x1, y1, z1, x2, y2, z2 = numbers("fromto", geom.words["fromto"], 6)
            ends, sideways = ((x1, z1), (x2, z2)), max(abs(y1), abs(y2))
        else:
            (x, sideways, z), angle, half = geom.numbers["pos"], turn(geom.words, self.unit), geom.numbers["size"][1]
            along = (half * math.sin(angle), half * math.cos(angle))
            ends = ((x - along[0], z - along[1]), (x + along[0], z + along[1]))
        if abs(sideways) > PLAIN:
            raise UsageError(f"Geom {geom.name} does not lie in the plane y = 0.")
        return Capsule(geom.name, body, (self._world(link, ends[0]), self._world(link, ends[1])), geom["size"])

    def _body(self, number: int, link: Link, dof: int, anchors: list[Vector], capsules: list[Capsule]) -> Body:
        own = [(c, g["density"]) for c, g in zip((c for c in capsules if c.body == number), link.geoms, strict=True)]
        masses, inertias = zip(*(_mass(capsule, density) for capsule, density in own), strict=True)
        middles = [np.mean(capsule.ends, axis=0) for capsule, _ in own]
        centre = np.average(middles, axis=0, weights=masses)
        inertia = sum(
            i + m * float(np.sum((middle - centre) ** 2))
            for i, m, middle in zip(inertias, masses, middles, strict=True)
        )
        above = (0.0, 0.0) if link.parent is None else anchors[link.parent]
        here = anchors[number]
        place = float(centre[0]), float(centre[1])
        return Body(link.name, link.parent, dof, _minus(here, above), sum(masses), _minus(place, here), inertia)

    def _scaled(self, bodies: list[Body]) -> list[Body]:
        total = float(self.source.compiler.get("settotalmass", "-1"))
        scale = total / sum(body.mass for body in bodies) if total > 0 else 1.0
        return [Body(**{**vars(b), "mass": b.mass * scale, "inertia": b.inertia * scale}) for b in bodies]

    def _softness(self, solref: tuple[float, ...], solimp: tuple[float, ...]) -> Softness:
        time, ratio = solref
        if time <= 0 or ratio <= 0:
            raise UsageError("Planar models give solref as a time and a damping ratio.")
        time = max(time, 2 * self.timestep)  # MuJoCo's refsafe
        least, most, midpoint = (min(max(d, LEAST_IMPEDANCE), MOST_IMPEDANCE) for d in (*solimp[:2], solimp[3]))
        width, power = max(solimp[2], 0.0), max(solimp[4], 1.0)
        return Softness(1 / (most * time * ratio) ** 2, 2 / (most * time), least, most, width, midpoint, power)

    def _mixed(self, one: Part, other: Part) -> Softness:
        if one["priority"] or other["priority"] or one["gap"] or other["gap"] or one["solmix"] != other["solmix"]:
            raise UsageError("Planar models know no contact priorities, gaps or unequal solmix.")

        if min(*one.numbers["solref"], *other.numbers["solref"]) <= 0:
            raise UsageError("Planar models give solref as a time and a damping ratio.")

        def mean(name: str) -> tuple[float, ...]:
            return tuple((a + b) / 2 for a, b in zip(one.numbers[name], other.numbers[name], strict=True))

        return self._softness(mean("solref"), mean("solimp"))

    def _floor_contacts(self, capsules: list[Capsule], geoms: list[Part], weights: Weights) -> list[FloorContact]:
        floor, found = self.source.floor, []
        for capsule, geom in zip(capsules, geoms, strict=True):
            if not _collide(floor, geom):
                continue
            rough = max(floor["condim"], geom["condim"])
            if rough not in (1, 3):
                raise UsageError(f"Geom {geom.name} has contacts of condim {rough:g}; planar models know 1 and 3.")
            mu = max(floor["friction"], geom["friction"], LEAST_FRICTION)
            weight = weights.of_body[capsule.body] * (2 * mu**2 * (1 + mu**2) if rough == 3 else 1)
            shared = (floor["margin"] + geom["margin"], mu if rough == 3 else None, self._mixed(floor, geom), weight)
            found += [FloorContact(capsule.body, end, capsule.radius, *shared) for end in capsule.ends]
        return found

    def _pairs(self, capsules: list[Capsule], geoms: list[Part], weights: Weights) -> list[CapsulePair]:
        found, links = [], self.source.links
        for j, second in enumerate(capsules):
            for i, first in enumerate(capsules[:j]):
                joined = links[second.body].parent == first.body or second.body == first.body
                if joined or not _collide(geoms[i], geoms[j]):
                    continue
                if not _above(links, first.body, second.body) or max(geoms[i]["condim"], geoms[j]["condim"]) != 1:
                    raise UsageError(
                        f"Geoms {first.name} and {second.name} may collide; planar models know that only for bodies of "
                        "one branch, without friction."
                    )
                margin = geoms[i]["margin"] + geoms[j]["margin"]
                weight = weights.of_body[first.body] + weights.of_body[second.body]
                found.append(CapsulePair(i, j, margin, self._mixed(geoms[i], geoms[j]), weight))
        return found

    def _motor(self, motor: Part, joints: list[Joint]) -> Motor:
        dofs = [dof for dof, joint in enumerate(joints) if joint.name == motor.words.get("joint")]
        if len(dofs) != 1 or motor.words.get("ctrllimited") != "true":
            raise UsageError(f"Motor {motor.name} needs a joint of this model and a limited control.")
        low, high = motor.numbers["ctrlrange"]
        return Motor(joints[dofs[0]].name, dofs[0], motor["gear"], low, high)


def _minus(one: Vector, other: Vector) -> Vector:
    return one[0] - other[0], one[1] - other[1]


def _mass(capsule: Capsule, density: float) -> tuple[float, float]:
    """A capsule's mass, and its moment of inertia about a transverse axis through its middle."""
    radius, length = capsule.radius, math.dist(*capsule.ends)
    balls, tube = 4 / 3 * math.pi * radius**3 * density, math.pi * radius**2 * length * density
    inertia = tube * (3 * radius**2 + length**2) / 12
    return balls + tube, inertia + balls * (2 * radius**2 / 5 + length * (3 * radius + 2 * length) / 8)


def _collide(one: Part, other: Part) -> bool:
    return bool(int(one["contype"]) & int(other["conaffinity"]) or int(other["contype"]) & int(one["conaffinity"]))


def _above(links: tuple[Link, ...], upper: int, lower: int) -> bool:
    parent = links[lower].parent
    return parent is not None and (parent == upper or _above(links, upper, parent))
