"""A reader for the part of MJCF that planar models need; anything else that changes the physics is refused."""

import dataclasses
import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from overclock.errors import UsageError
from overclock.planar.model import Vector

IGNORED = {"asset", "visual", "size", "light", "camera", "site", "statistic"}
KNOWN_COMPILER = {"angle", "coordinate", "inertiafromgeom", "settotalmass", "autolimits"}
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
OPTION: dict[str, Any] = {"timestep": (0.002,), "gravity": (0, 0, -9.81)}
NUMBERS = {"joint": JOINT, "geom": GEOM, "motor": MOTOR, "body": BODY}
# Attributes that are no numbers, and those that change nothing but looks and names. Any other is refused.
LOOKS = {"name", "rgba", "material", "group", "user"}
WORDS = {
    "joint": LOOKS | {"type", "limited"},
    "geom": LOOKS | {"type", "fromto", "axisangle", "quat"},
    "motor": LOOKS | {"joint", "ctrllimited"},
    "body": LOOKS | {"axisangle", "quat"},
}
WHOLE = {"contype", "conaffinity", "condim", "priority"}
ALL_AT_ONCE = {"pos", "axis", "range", "ctrlrange", "gravity", "fromto", "axisangle", "quat"}  # fewer are an error
VALUES = {
    "angle": ("radian", "degree"),
    "coordinate": ("local",),
    "inertiafromgeom": ("true", "auto"),
    "autolimits": ("true",),
}


@dataclasses.dataclass(frozen=True)
class Part:
    """A joint, geom or motor: its numbers with all defaults filled in, and its words."""

    name: str
    words: dict[str, str]
    numbers: dict[str, tuple[float, ...]]

    def __getitem__(self, name: str) -> float:
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
    """An MJCF file as it was read, with its defaults, before it is compiled."""

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
        self.compiler = self._gathered("compiler", KNOWN_COMPILER)
        for name, values in VALUES.items():
            if self.compiler.get(name, values[0]) not in values:
                raise UsageError(f"<compiler {name}> is {' or '.join(values)} in a planar model.")
        self.unit = unit_of(self.compiler)
        self.defaults: dict[str, dict[str, str]] = {}
        for element in (element for block in root.findall("default") for element in block):
            if element.tag in self.defaults or element.tag not in {"joint", "geom", "motor"} | IGNORED:
                raise UsageError(
                    f"A planar model has one default each for joints, geoms and motors, not <{element.tag}>."
                )
            self.defaults[element.tag] = element.attrib

    def source(self) -> Source:
        option = self._gathered("option", set(OPTION) | {"integrator"})
        worlds = self.root.findall("worldbody")
        if len(worlds) != 1:
            raise UsageError(f"A planar model has one <worldbody>, not {len(worlds)}.")
        (world,) = worlds
        _only(world, IGNORED | {"geom", "body"})
        floor = [self._part(geom) for geom in world.findall("geom")]
        if len(floor) != 1 or floor[0].words.get("type") != "plane" or any(floor[0].numbers["pos"][:2]):
            raise UsageError("A planar model has one plane as its floor, and no other geom in the world.")
        if abs(turn(floor[0].words, self.unit)) > PLAIN:
            raise UsageError("The floor of a planar model is level.")
        links = list(self._links(world, None, (0.0, 0.0), 0.0, itertools.count()))
        actuators = [element for block in self.root.findall("actuator") for element in block]
        for element in actuators:
            if element.tag != "motor":
                raise UsageError(f"A planar model is moved by motors, not by <{element.tag}>.")
        return Source(
            self.root.get("model", "model"),
            self.compiler,
            Part("option", option, _numbers([option], OPTION)),
            floor[0],
            tuple(links),
            tuple(self._part(element) for element in actuators),
        )

    def _gathered(self, tag: str, known: set[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for element in self.root.findall(tag):
            found |= element.attrib
            unknown = [*(set(element.attrib) - known), *(child.tag for child in element)]
            if unknown:
                raise UsageError(f"<{tag} {unknown[0]}> is not supported for planar models.")
        return found

    def _part(self, element: ElementTree.Element) -> Part:
        layers, tag = [self.defaults.get(element.tag, {}), element.attrib], element.tag
        words = {**layers[0], **layers[1]}
        unknown = words.keys() - NUMBERS[tag].keys() - WORDS[tag]
        if unknown:
            raise UsageError(f"<{tag} {words.get('name', '')}> has {min(unknown)}, which planar models do not know.")
        return Part(words.get("name", tag), words, _numbers(layers, NUMBERS[tag]))

    def _links(
        self, element: ElementTree.Element, parent: int | None, place: Vector, angle: float, numbers: Iterator[int]
    ) -> Iterator[Link]:
        for body in element.findall("body"):
            x, z = self._in_plane(body, self._part(body).numbers["pos"])
            c, s = math.cos(angle), math.sin(angle)
            here = (place[0] + c * x + s * z, place[1] - s * x + c * z)
            turned = angle + turn(body.attrib, self.unit)
            _only(body, IGNORED | {"body", "joint", "geom"})
            joints, geoms = (tuple(self._part(part) for part in body.findall(tag)) for tag in ("joint", "geom"))
            number = next(numbers)
            name = body.get("name", f"body{number}")
            if not joints or not geoms:
                raise UsageError(f"Body {name} of a planar model needs joints and capsules.")
            yield Link(name, parent, here, turned, joints, geoms)
            yield from self._links(body, number, here, turned, numbers)

    def _in_plane(self, element: ElementTree.Element, place: tuple[float, ...]) -> Vector:
        if abs(place[1]) > PLAIN:
            raise UsageError(f"<{element.tag} {element.get('name', '')}> does not lie in the plane y = 0.")
        return place[0], place[2]


def unit_of(compiler: dict[str, str]) -> float:
    """The unit of angles in the file, in radians."""
    return 1.0 if compiler.get("angle") == "radian" else math.pi / 180


def turn(attributes: dict[str, str], unit: float) -> float:
    """The angle about y of an orientation; `unit` is what an angle in the file is in radians."""
    x, y, z, angle = numbers("axisangle", attributes.get("axisangle", "0 1 0 0"), 4)
    w, qx, qy, qz = numbers("quat", attributes.get("quat", "1 0 0 0"), 4)
    if max(map(abs, (x, z, qx, qz))) > PLAIN:
        raise UsageError("A planar model turns about the y axis only.")
    return math.copysign(angle * unit, angle * y) + 2 * math.atan2(qy, w)


def numbers(name: str, text: str, most: int) -> list[float]:
    """The numbers of an attribute."""
    try:
        found = [float(word) for word in text.split()]
    except ValueError:
        raise UsageError(f'{name}="{text}" has something that is no number.') from None
    if len(found) > most or (name in ALL_AT_ONCE and len(found) != most):
        raise UsageError(f'{name}="{text}" has {len(found)} numbers; a planar model takes {most}.')
    if name in WHOLE and any(number != int(number) for number in found):
        raise UsageError(f'{name}="{text}" is no whole number.')
    return found


def _numbers(layers: list[dict[str, str]], builtin: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    """Numbers by name; a layer of defaults that gives fewer leaves the others unchanged."""
    found = {name: [float(number) for number in default] for name, default in builtin.items()}
    for layer in layers:
        for name in builtin.keys() & layer.keys():
            given = numbers(name, layer[name], len(builtin[name]))
            found[name][: len(given)] = given
    return {name: tuple(values) for name, values in found.items()}


def _only(element: ElementTree.Element, known: set[str]) -> None:
    for child in element:
        if child.tag not in known:
            raise UsageError(f"The <{element.tag}> of a planar model has no <{child.tag}>.")
