"""The part of MJCF that describes planar models, read into plain parts; whatever else matters is refused by name."""

import dataclasses
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from overclock.errors import UsageError
from overclock.planar.model import Vector

IGNORED = {"asset", "visual", "size", "light", "camera", "site", "statistic"}
KNOWN_COMPILER = {"angle", "coordinate", "inertiafromgeom", "settotalmass", "autolimits"}
KNOWN_OPTION = {"timestep", "gravity", "integrator"}
PLAIN = 1e-12  # how far from the plane a number may be

# MuJoCo's defaults.
SOLREF, SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)
JOINT: dict[str, Any] = {
    "pos": (0, 0, 0), "axis": (0, 0, 1), "range": (0, 0), "stiffness": (0,), "damping": (0,), "armature": (0,),
    "ref": (0,), "springref": (0,), "solreflimit": SOLREF, "solimplimit": SOLIMP, "margin": (0,), "frictionloss": (0,),
}  # fmt: skip
GEOM: dict[str, Any] = {
    "pos": (0, 0, 0), "size": (0, 0, 0), "contype": (1,), "conaffinity": (1,), "condim": (3,), "solref": SOLREF,
    "friction": (1, 0.005, 0.0001), "solimp": SOLIMP, "margin": (0,), "gap": (0,), "density": (1000,), "solmix": (1,),
    "priority": (0,),
}  # fmt: skip
MOTOR: dict[str, Any] = {"gear": (1,), "ctrlrange": (0, 0)}
BODY: dict[str, Any] = {"pos": (0, 0, 0)}


@dataclasses.dataclass(frozen=True)
class Part:
    """A joint, geom or motor: its numbers with all defaults filled in, and its words."""

    name: str
    words: dict[str, str]
    numbers: dict[str, tuple[float, ...]]

    def __getitem__(self, name: str) -> float:
        """A single number."""
        return self.numbers[name][0]


@dataclasses.dataclass(frozen=True)
class Link:
    """A body in the reference position: `place` and `angle` are the world's."""

    name: str
    parent: int | None
    place: Vector
    angle: float
    joints: tuple[Part, ...]
    geoms: tuple[Part, ...]


@dataclasses.dataclass(frozen=True)
class Source:
    """What was read."""

    name: str
    compiler: dict[str, str]
    option: Part
    floor: Part
    links: tuple[Link, ...]
    motors: tuple[Part, ...]


def read_source(path: Path) -> Source:
    """The parts of an MJCF file."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise UsageError(f"{path} is not a readable MJCF file: {error}.") from error
    return _Reader(root).source()


class _Reader:
    def __init__(self, root: ElementTree.Element) -> None:
        for element in root.iter():
            if "class" in element.attrib or "childclass" in element.attrib:
                raise UsageError(f"<{element.tag}> has a default class; planar models have only the main defaults.")
        known = IGNORED | {"compiler", "option", "default", "worldbody", "actuator"}
        for element in root:
            if element.tag not in known:
                raise UsageError(f"A planar model has no <{element.tag}>.")
        self.root = root
        self.compiler = self._gathered("compiler", KNOWN_COMPILER | {"coordinate"})
        self.defaults = {element.tag: element.attrib for block in root.findall("default") for element in block}
        self.unit = 1.0 if self.compiler.get("angle") == "radian" else math.pi / 180

    def source(self) -> Source:
        option = self._gathered("option", KNOWN_OPTION)
        (world,) = self.root.findall("worldbody")
        floor = [self._part(geom, GEOM) for geom in world.findall("geom")]
        if len(floor) != 1 or floor[0].words.get("type") != "plane" or any(floor[0].numbers["pos"][:2]):
            raise UsageError("A planar model has one plane as its floor, and no other geom in the world.")
        links = list(self._links(world, None, (0.0, 0.0), 0.0, [0]))
        actuators = [element for block in self.root.findall("actuator") for element in block]
        for element in actuators:
            if element.tag != "motor":
                raise UsageError(f"A planar model is moved by motors, not by <{element.tag}>.")
        return Source(
            self.root.get("model", "model"),
            self.compiler,
            Part(
                "option",
                option,
                _numbers([option], {"timestep": (0.002,), "gravity": (0, 0, -9.81)}),
            ),
            floor[0],
            tuple(links),
            tuple(self._part(element, MOTOR) for element in actuators),
        )

    def _gathered(self, tag: str, known: set[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for element in self.root.findall(tag):
            found |= element.attrib
            unknown = [*(set(element.attrib) - known), *(child.tag for child in element)]
            if unknown:
                raise UsageError(f"<{tag} {unknown[0]}> is not supported for planar models.")
        return found

    def _part(self, element: ElementTree.Element, builtin: dict[str, Any]) -> Part:
        layers = [self.defaults.get(element.tag, {}), element.attrib]
        words = {**layers[0], **layers[1]}
        return Part(words.get("name", element.tag), words, _numbers(layers, builtin))

    def _links(
        self, element: ElementTree.Element, parent: int | None, place: Vector, angle: float, count: list[int]
    ) -> Iterator[Link]:
        for body in element.findall("body"):
            x, z = self._in_plane(body, _numbers([body.attrib], BODY)["pos"])
            c, s = math.cos(angle), math.sin(angle)
            here = (place[0] + c * x + s * z, place[1] - s * x + c * z)
            turned = angle + self.turn(body.attrib)
            for child in body:
                if child.tag not in IGNORED | {"body", "joint", "geom"}:
                    raise UsageError(f"A body of a planar model has no <{child.tag}>.")
            joints = tuple(self._part(joint, JOINT) for joint in body.findall("joint"))
            geoms = tuple(self._part(geom, GEOM) for geom in body.findall("geom"))
            number, count[0] = count[0], count[0] + 1
            yield Link(body.get("name", f"body{number}"), parent, here, turned, joints, geoms)
            yield from self._links(body, number, here, turned, count)

    def _in_plane(self, element: ElementTree.Element, place: tuple[float, ...]) -> Vector:
        if abs(place[1]) > PLAIN:
            raise UsageError(f"<{element.tag} {element.get('name', '')}> does not lie in the plane y = 0.")
        return place[0], place[2]

    def turn(self, attributes: dict[str, str]) -> float:
        """The angle about y of an orientation."""
        return turn(attributes, self.unit)


def turn(attributes: dict[str, str], unit: float) -> float:
    """The angle about y of an orientation; `unit` is what an angle in the file is in radians."""
    for other in ("euler", "xyaxes", "zaxis"):
        if other in attributes:
            raise UsageError(f"A planar model gives orientations by axisangle or quat, not by {other}.")
    x, y, z, angle = (float(word) for word in attributes.get("axisangle", "0 1 0 0").split())
    w, qx, qy, qz = (float(word) for word in attributes.get("quat", "1 0 0 0").split())
    if max(map(abs, (x, z, qx, qz))) > PLAIN:
        raise UsageError("A planar model turns about the y axis only.")
    return math.copysign(angle * unit, angle * y) + 2 * math.atan2(qy, w)


def _numbers(layers: list[dict[str, str]], builtin: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    """Numbers by name; a layer that gives fewer than there are leaves the rest."""
    found = {name: [float(number) for number in default] for name, default in builtin.items()}
    for layer in layers:
        for name in builtin.keys() & layer.keys():
            given = [float(word) for word in layer[name].split()]
            found[name][: len(given)] = given
    return {name: tuple(values) for name, values in found.items()}
