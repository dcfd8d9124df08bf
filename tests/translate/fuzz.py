"""Random small environments in the translator's subset: written, translated, played beside Python, and made smaller.

outcome(program, folder)      right, refused, raised (by Python), full (no room left, and said so); else an error
smallest(program, folder)     what is left when every statement that the error does not need is gone
"""

import copy
import dataclasses
import importlib.util
import itertools
import random
import sys
import traceback
import warnings
from pathlib import Path

from translate.agree import EPISODES, STEPS, agree
from translate.fuzzing.boxes import SHOWN
from translate.fuzzing.expressions import BOOL, DICT, FEATURES, FLOAT, INT, LIST, MAYBE, MODE, PAIR, ROWS, Arr
from translate.fuzzing.rare import Rarities
from translate.fuzzing.statements import Node

from overclock.recording.errors import UnsupportedError
from overclock.translate.profile import look

MOST_TRIES = 200
INTERNAL = ("AttributeError:", "AssertionError:", "NotImplementedError:")
HEAD = '''"""A random program."""

import math
from collections import deque

import numpy as np
from translate.traps.base import Trap

TABLE = {0: 3, 1: -1, 2: 4, 3: 0}
LOOKUP = {2: 5, 5: -2, -1: 7}
NESTED = [[1, -2], [0, 5], [3, 3]]
MODES = ("left", "right", "up")


def scaled(value, by=2):
    return value * by - 1 if value > 0 else value


class Ball:
    def __init__(self, x):
        self.x = x
        self.size = 1

    def move(self, by):
        self.x = (self.x + by) % 7
        self.size = min(self.size + 1, 4)

    def speed(self):
        return self.x - self.size
'''
_numbers = itertools.count()


@dataclasses.dataclass
class Program:
    """An environment: what `begin`, its helpers and `play` do."""

    begin: list[Node]
    helpers: list[tuple[str, list[Node]]]
    play: list[Node]

    def source(self) -> str:
        lines = [HEAD, "", "class Fuzzed(Trap):"]
        functions = [("def begin(self):", self.begin), *self.helpers, ("def play(self, action):", self.play)]
        for head, body in functions:
            inside = [line for node in body for line in node.lines(2)]
            lines += [f"    {head}", *(inside or ["        pass"]), ""]
        return "\n".join(lines)

    def bodies(self) -> list[list[Node]]:
        """Every list of statements, outer ones first; what a function returns at its end is kept out of reach."""
        found = [self.begin, self.play, *(body for _, body in self.helpers)]
        for body in found:
            found += [inner for node in body for _, inner in node.arms]
        return found


def generate(seed: int) -> Program:
    """The program of a seed."""
    luck = random.Random(seed)
    writer = Rarities(luck, set(luck.sample(FEATURES, luck.randint(5, 13))))
    begin = [Node("self.n = 1")]
    attributes: dict[str, object] = {"self.n": INT, "self.t": INT}
    for _ in range(luck.randint(1, 4)):
        kind, name = luck.choice(writer.kinds()), writer.fresh("self.s")
        begin.append(Node(f"{name} = {_first(writer, kind)}"))
        attributes[name] = kind
    helpers = [_helper(writer, attributes) for _ in range(luck.randint(1, 2))] if "helpers" in writer.features else []
    writer.scope = {"action": INT, **attributes}
    writer.returning = INT
    play = [writer.statement(2) for _ in range(luck.randint(3, 8))]
    return Program(begin, helpers, [*play, Node(f"return {_all(writer.scope)}")])


def _first(writer: Rarities, kind) -> str:
    """What an attribute is at first: known, or drawn."""
    features, writer.features = writer.features, writer.features - {"draws", "helpers"}
    helpers, writer.helpers = writer.helpers, []
    writer.scope = {"self.t": INT}
    text = writer.bounded(writer.of(kind, 1), kind)
    writer.features, writer.helpers = features, helpers
    return "int(self.np_random.integers(4))" if kind == INT and "draws" in features else text.replace("action", "2")


def _helper(writer: Rarities, attributes: dict[str, object]) -> tuple[str, list[Node]]:
    name = writer.fresh("_helper")
    kinds = tuple(writer.luck.choice([INT, BOOL]) for _ in range(writer.luck.randint(0, 2)))
    names = [writer.fresh("p") for _ in kinds]
    features, writer.features = writer.features, writer.features | {"leaving"}
    writer.scope = {**attributes, **dict(zip(names, kinds, strict=True)), "action": INT}
    body = [writer.statement(1) for _ in range(writer.luck.randint(1, 3))]
    end = Node(f"return {writer.bounded(writer.int(1))}")
    writer.features = features
    writer.helpers.append((name, (INT, *kinds)))
    return f"def {name}({', '.join(['self', 'action', *names])}):", [*body, end]


def _all(scope: dict[str, object]) -> str:
    """A number that depends on everything in scope."""
    terms = [_shown(name, kind) for name, kind in scope.items()]
    return " + ".join(f"{weight} * {term}" for weight, term in enumerate(terms, 1))


def _shown(name: str, kind) -> str:
    if isinstance(kind, Arr):
        order = f"np.arange(1, {name}.size + 1).reshape({name}.shape)"
        return f"({name} * {order}).sum()"
    if kind in SHOWN:
        return SHOWN[kind].format(name)
    return {
        INT: name,
        FLOAT: name,
        BOOL: f"int({name})",
        MAYBE: f"(-7 if {name} is None else {name})",
        MODE: f"MODES.index({name})",
        PAIR: f"(3 * {name}[0] + {name}[1])",
        LIST: f"sum((i + 2) * v for i, v in enumerate({name}))",
        ROWS: f"sum((i + 2) * (2 * r[0] + r[1]) for i, r in enumerate({name}))",
        "ball": f"({name}.x + 5 * {name}.size)",
        "balls": f"sum((i + 2) * (b.x + 5 * b.size) for i, b in enumerate({name}))",
        DICT: f"({name}['a'] + 2 * {name}['b'] + 3 * {name}['c'])",
    }[kind]


# ---- played ----


def outcome(program: Program, folder: Path) -> str:
    """What became of a program; whatever else is raised here is a bug of the translator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own, about small integers that wrap
        make = _loaded(program.source(), folder).Fuzzed
        if not _runs(make):
            return "raised"
        try:
            agree(make, folder)
        except UnsupportedError as error:
            if error.place is None or error.place.line < 1:
                raise AssertionError(f"refused without a place: {error}") from error
            if error.reason.startswith(INTERNAL):
                raise AssertionError(f"a mistake of the translator, told as a refusal: {error}") from error
            return "refused"
        except AssertionError as error:
            if "no room left" in str(error):
                return "full"
            raise
        except Exception as error:
            if "raise the count of this draw" in str(error):
                return "full"
            if _innermost(error) == make.__module__:
                return "raised"  # recorded draws take another way through the reference than its own
            raise
    return "right"


def _innermost(error: Exception) -> str:
    """The module in which an error was raised."""
    return list(traceback.walk_tb(error.__traceback__))[-1][0].f_globals["__name__"]


def _runs(make) -> bool:
    """Whether Python gets through the episodes that will be looked at and compared."""
    try:
        look(make, episodes=6, steps=2 * STEPS)
        env = make()
        env.action_space.seed(0)
        for seed in range(EPISODES):
            env.reset(seed=seed)
            for _ in range(STEPS):
                env.step(env.action_space.sample())
    except Exception:
        return False
    return True


def _loaded(text: str, folder: Path):
    path = folder / f"fuzzed_{next(_numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where `inspect` looks for the source of a class
    spec.loader.exec_module(module)
    return module


# ---- made smaller ----


def failure(program: Program, folder: Path) -> str | None:
    """The error that a program ends in, where it does."""
    try:
        outcome(program, folder)
    except Exception as error:
        return type(error).__name__
    return None


def smallest(program: Program, folder: Path) -> Program:
    """Rarities are dropped, or replaced by what is inside them, as long as the same kind of error stays."""
    kind, tries, progress = failure(program, folder), 0, True
    while progress and tries < MOST_TRIES:
        progress = False
        for smaller in _smaller(program):
            tries += 1
            if tries > MOST_TRIES:
                break
            if failure(smaller, folder) == kind:
                program, progress = smaller, True
                break
    return program


def _smaller(program: Program):
    for at, body in enumerate(program.bodies()):
        for place, node in enumerate(body):
            for instead in ([], *(inner for _, inner in node.arms)):
                if node.text.startswith("return") and body is program.play:
                    continue
                made = copy.deepcopy(program)
                made.bodies()[at][place : place + 1] = copy.deepcopy(instead)
                yield made
