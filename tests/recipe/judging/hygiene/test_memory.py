"""Whatever a candidate could remember with is seen to have changed; what only lasts is not."""

import sys
import types

import pytest

from overclock.recipe.judging.hygiene.memory import lasting, remembered

PACKAGE = "a_candidate"
CHANGES = {
    "a list": "X = [0]\ndef rule():\n    X.append(1)",
    "an item": "X = [0]\ndef rule():\n    X[0] += 1",
    "a dictionary": "X = {}\ndef rule():\n    X[len(X)] = 1",
    "a set": "X = set()\ndef rule():\n    X.add(len(X))",
    "an array": "import numpy as np\nX = np.zeros(3)\ndef rule():\n    X.fill(1 + X[0])",
    "an array of objects": "import numpy as np\nX = np.array([[0], None], object)\ndef rule():\n    X[0].append(1)",
    "inside a tuple": "X = (1, ([0],))\ndef rule():\n    X[1][0].append(1)",
    "a bound method": "rule = (lambda add: lambda: add(1))([].append)",
    "a default": "def rule(box=[]):\n    box += [1]",
    "a closure": "def outer():\n    box = []\n    return lambda: box.append(1)\nrule = outer()",
    "a partial": "import functools\ndef bump(box):\n    box.append(1)\nrule = functools.partial(bump, [0])",
    "a decorated function": "import jax\nX = [0]\n@jax.vmap\ndef f(x):\n    X.append(1)\nrule = lambda: X.append(1)",
    "a class": "class A:\n    x = 0\ndef rule():\n    A.x += 1",
    "an object": "class A:\n    pass\nX = A()\ndef rule():\n    X.x = id(object())",
    "a slot": "class A:\n    __slots__ = ('x',)\nX = A()\nX.x = 0\ndef rule():\n    X.x += 1",
    "a cache": "import functools\n@functools.cache\ndef box():\n    return []\nbox()\nrule = lambda: box().append(1)",
    "what a cache has": "import functools\n@functools.cache\ndef same(x):\n    return x\nrule = lambda: same(object())",
    "a function": "def rule():\n    rule.count = getattr(rule, 'count', 0) + 1",
    "a name": "X = 0\ndef rule():\n    global X\n    X += 1",
    "an iterator": "X = (iter(range(9)),)\ndef rule():\n    next(X[0])",
    "an iterator that nobody reads": "X = iter(range(9))\ndef rule():\n    pass",
}
LASTS = """
import dataclasses
import enum
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from overclock.env import Box, Struct

TABLE = np.arange(4.0)
NAMES = {"left": 0, "right": [1, 2]}
DOUBLE = functools.partial(jnp.multiply, 2.0)
FAST = jax.jit(jax.vmap(lambda x: x + TABLE[0]))
SPACE = Box(-1.0, 1.0, (2,))


class Pair(NamedTuple):
    x: int = 0


class State(Struct):
    x: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class Rules:
    start: Pair = Pair()

    @property
    def one(self):
        return 1


@jax.custom_jvp
def same(x):
    return x


same.defjvp(lambda primals, tangents: (primals[0], tangents[0]))


class Side(enum.IntFlag):
    LEFT = 1
    RIGHT = 2


RULES = Rules()


def rule():
    rows = []
    rows.append(Side.LEFT | Side.RIGHT)
    state = State(x=jnp.float32(1.0))
    jax.grad(same)(FAST(DOUBLE(state.x)[None])[0])
    return SPACE.contains(np.zeros(2, np.float32)), RULES.one, rows
"""


@pytest.fixture
def changes(monkeypatch):
    """The places that are others after a module's `rule` was called twice."""

    def called(text):
        module = types.ModuleType(f"{PACKAGE}.env")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(text, vars(module))
        before = lasting(PACKAGE)
        for _ in range(2):
            module.rule()
        return remembered(before, lasting(PACKAGE))

    return called


@pytest.mark.parametrize("text", CHANGES.values(), ids=list(CHANGES))
def test_a_change_is_seen_wherever_it_is_kept(changes, text):
    assert changes(text)


def test_what_only_lasts_is_no_memory(changes):
    assert changes(LASTS) == []


def test_a_place_is_named_as_its_author_knows_it(changes):
    assert changes(CHANGES["an item"]) == ["env.X[0]"]


def test_what_make_returned_is_looked_at_as_well():
    class Env:
        box = None

    env = Env()
    env.box = [0]
    before = lasting(PACKAGE, env)
    env.box.append(1)
    assert remembered(before, lasting(PACKAGE, env)) == ["make().Env.box", "make().Env.box[1]"]


def test_values_that_contain_themselves_have_an_end(changes):
    assert changes("X = []\nX.append(X)\ndef rule():\n    pass") == []
