"""What is refused by reading a candidate's source, and what is not."""

import dataclasses
import importlib
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock import env
from overclock.errors import UsageError
from overclock.recipe.judging.hygiene import Limits, allowed_names, check_source
from overclock.recipe.judging.hygiene.shape import literal_bytes
from overclock.recipe.judging.hygiene.vocabulary import MODULES, is_module, refusal

REFUSED = {
    # imports
    "import os": "import",
    "import sys": "import",
    "import importlib": "import",
    "import ctypes": "import",
    "import pickle": "import",
    "import gymnasium": "import",
    "import time": "import",
    "import itertools": "import",
    "import overclock.verify.compare": "import",
    "from overclock.verify import compare": "import",
    "from overclock import verify": "import",
    "from overclock.env import make": "import",
    "import jax.experimental": "import",
    "from jax.experimental import io_callback": "import",
    "from jax import random": "import",
    "from .. import secrets": "import",
    "from math import *": "import",
    "import jax\njax.config.update('jax_enable_x64', True)": "import",
    "import jax.core": "import",
    "import numpy as np\nx = np.load('x.npy')": "import",
    "import numpy as np\nx = np.random.rand()": "import",
    "import numpy as np\nx = np.lib.npyio": "import",
    "import jax.numpy as jnp\njnp.save('x', 1)": "import",
    "import typing\ntyping.get_type_hints(int)": "import",
    "import typing\nx = typing.warnings.sys.modules": "import",
    "import typing\nx = typing.collections._sys": "import",
    "from typing import warnings": "import",
    "import functools\nf = functools.wraps(int, updated=('x',))": "import",
    "from jax.tree_util import register_dataclass": "import",
    "import math\nx = math.pi._private": "import",
    "import jax\nx = jax.numpy.sin.sys": "import",
    "def f():\n    import math\n    return math.pi": "import",
    "class A:\n    import math\nx = A.math": "import",
    "if True:\n    import math": "import",
    "import dataclasses\ndataclasses.make_dataclass('A', [])": "import",
    "import jax.numpy as jnp\njnp._private": "import",
    "from physics import jnp": "module-value",
    "import physics\nx = physics.jnp.load": "module-value",
    "import env\nx = env.math.pi": "module-value",
    "import typing as t\nimport math as t\nx = t.pi": "module-value",
    "import math\ndef f(math):\n    return math.x": "module-value",
    "import math\nmath = 1": "module-value",
    "import math\nmatch 1:\n    case math:\n        pass": "module-value",
    "import math\nfrom physics import move as math": "module-value",
    # callbacks
    "import jax\njax.pure_callback": "callback",
    "from jax import pure_callback": "callback",
    "import jax\njax.debug.print('x')": "callback",
    "import jax\njax.experimental.io_callback": "callback",
    "def f(x):\n    return x.pure_callback": "callback",
    # around the language
    "x = eval('1')": "builtin",
    "e = exec": "builtin",
    "x = compile('1', '', 'eval')": "builtin",
    "x = open('f')": "builtin",
    "x = __import__('os')": "builtin",
    "x = globals()": "builtin",
    "x = vars()": "builtin",
    "x = getattr(1, 'real')": "builtin",
    "x = ().__class__": "dunder",
    "def f():\n    return f.__globals__": "dunder",
    "x = __builtins__": "dunder",
    "x = '{0.__class__}'.format(1)": "dunder",
    "x = (i for i in ()).gi_frame": "dunder",
    "x = ('{0._' + '_class_' + '_}').format(1)": "builtin",
    "f = str.format_map": "builtin",
    "def f(x):\n    match x:\n        case object(__class__=c):\n            return c": "dunder",
    "from physics import __builtins__ as b": "dunder",
    "import jax\nf = jax.jit(int)\ndef g():\n    return f._cache_size()": "dunder",
    "class A:\n    def __getattr__(self, name):\n        return 1": "dunder",
    "import jax\nj = jax": "module-value",
    "import jax\nx = [jax][0].pure_callback": "module-value",
    "import numpy as np\nx = np.linalg": "module-value",
    "import numpy as np\nnp.zeros(3).tofile('x')": "file",
    # hidden state
    "def f():\n    global X\n    X = 1": "hidden-state",
    "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    return g": "hidden-state",
    "X = []\ndef f():\n    X.append(1)": "hidden-state",
    "X = {}\ndef f(k):\n    X[k] = 1": "hidden-state",
    "X = {}\ndef f(k):\n    return X.setdefault(k, 1)": "hidden-state",
    "X = {'a': []}\ndef f():\n    X['a'].append(1)": "hidden-state",
    "X = []\ndef f():\n    y = X\n    y.append(1)": "hidden-state",
    "X = []\nf = lambda: X.append(1)": "hidden-state",
    "import numpy as np\nX = np.zeros(3)\ndef f():\n    X[0] += 1": "hidden-state",
    "def f():\n    n = []\n    def g():\n        n.append(1)\n    return g": "hidden-state",
    "X = [0]\ndef f(box):\n    box[0] += 1\ndef g():\n    f(X)": "hidden-state",
    "def f(box):\n    box.append(1)": "hidden-state",
    "def f(box):\n    y = box\n    y.append(1)": "hidden-state",
    "def f(state):\n    state.seen['a'] = 1": "hidden-state",
    "f = lambda box: box.pop()": "hidden-state",
    "def f(seen=[]):\n    return seen": "hidden-state",
    "X = iter(range(9))": "hidden-state",
    "X = (1, 2)\ndef f():\n    return next(X)": "hidden-state",
    "import functools\n@functools.cache\ndef f():\n    return []": "hidden-state",
    "from functools import lru_cache": "hidden-state",
    "class A:\n    def f(self):\n        self.seen.append(1)": "hidden-state",
    "class A:\n    seen = []": "class-state",
    "import dataclasses\nclass A:\n    seen: list = dataclasses.field(default_factory=list)": "class-state",
    "import numpy as np\nclass A:\n    table = np.zeros(3)": "class-state",
    "class A(metaclass=type):\n    pass": "class-state",
    "class A:\n    def f(self):\n        self.x = 1": "attribute-write",
    "import jax\njax.jit = None": "attribute-write",
    "def f():\n    pass\nf.count = 0": "attribute-write",
    "def f(x):\n    try:\n        return float(x)\n    except TypeError:\n        return x": "try",
    "from overclock.env import Environment\nclass E(Environment):\n    def step(self):\n        pass": "derived",
    "from overclock.env import Environment as B\nclass E(B):\n    def begin(self):\n        pass": "derived",
    "from overclock.env import Environment\nB = Environment\nclass E(B):\n    reset = None": "derived",
    "import env\nclass E(env.CartPole):\n    advance = None": "derived",
    "def f(:": "syntax",
    # evaluates a text, or makes a class of one
    "A = type('A', (), {})": "class-creation",
    "T = type\nA = T('A', (), {})": "class-creation",
    "A = [type][0]('A', (), {})": "class-creation",
    "def f(x):\n    return type(x.sum())": "class-creation",
    "import enum\nA = enum.Enum('A', 'x y')": "class-creation",
    "from typing import NamedTuple\nA = NamedTuple('A', [('x', int)])": "class-creation",
    "import dataclasses\nd = dataclasses.dataclass": "class-creation",
    "import dataclasses\nclass B: ...\nA = dataclasses.dataclass(frozen=True)(B)": "class-creation",
    "from jaxtyping import Array, Float\nx = isinstance(1, Float[Array, '{open(0)}'])": "class-creation",
    "from jaxtyping import Array, Float\nD = '{' + 'x}'\nx = isinstance(1, Float[Array, D])": "class-creation",
    "from jaxtyping import Array, Float\nF = Float\nx = F[Array, '{1}']": "class-creation",
    "import numpy as np\nx = np.bmat('A,B')": "import",
    "import numpy as np\nx = np.r_\ny = np.matrix('1 2')": "import",
    # shows a traced value, or what traces it
    "print(1)": "builtin",
    "def f(x):\n    return hash(x)": "builtin",
    "def f(x):\n    return repr(x)": "builtin",
    "def f(x):\n    return str(x)": "builtin",
    "def f(x):\n    return hasattr(x, 'batch_dim')": "builtin",
    "def f(x):\n    return id(x)": "builtin",
    "def g(print):\n    return print\nprint(1)": "builtin",
    "if False:\n    print = 1\nprint(1)": "builtin",
    "x = [print for print in ()]\nprint(1)": "builtin",
    "f = print": "builtin",
    "def f(x):\n    return f'{x}'": "text",
    "def f(x):\n    return '%s' % x": "text",
    "def f(x):\n    return 'a' + x": "text",
    "X = '%s'\nY = b'%d' % 1": "text",
    "import numpy as np\nx = np.array2string": "import",
    "import jax.numpy as jnp\nx = jnp.array_repr": "import",
    "def f(x):\n    return x.val": "attribute",
    "def f(x):\n    return x.aval.shape": "attribute",
    "class A:\n    val: int\ndef f(state):\n    return state.x.val": "attribute",
    "def f(x):\n    match x:\n        case object(batch_dim=d):\n            return d": "attribute",
    "def f(x):\n    return x.devices()": "attribute",
    "def f(x):\n    return x.sharding": "attribute",
    "def f(x):\n    return x.nobody_knows": "attribute",
    "def f(x):\n    return ', '.join(x)": "attribute",
    "import jax.numpy as jnp\nx = jnp.zeros(3, device=None)": "attribute",
    "import numpy as np\nT = np.zeros(3)\ndef f(x):\n    return np.add(x, 1, out=T)": "attribute",
    # hidden state of libraries
    "import numpy as np\nT = np.zeros(3)\ndef f(i):\n    np.add.at(T, i, 1)": "hidden-state",
    "import numpy as np\nT = np.zeros(3)\ndef f(x):\n    np.copyto(T, x)": "import",
    "import numpy as np\nx = np.empty(3)": "import",
    "import jax\nx = jax.lax.rng_uniform_p.bind(1)": "import",
    "import jax\nf = jax.custom_vjp(abs)": "import",
    "def f():\n    yield 1": "syntax",
    "async def f():\n    return 1": "syntax",
    "def f(x):\n    del x": "syntax",
    "x = 1" + "+1" * 20_000: "syntax",
}
ACCEPTED = [
    "import jax\nimport jax.numpy as jnp\nx = jax.vmap(jnp.sin)",
    "from jax import lax\ny = lax.fori_loop",
    "from jax import numpy as jnp\nfrom jax.numpy import where",
    "import numpy as np\nTABLE = np.array([1, 2, 3])\nN = np.linalg.norm(TABLE)",
    "import functools\nimport jax\n@functools.partial(jax.jit, static_argnames='n')\ndef f(n):\n    return n",
    "from __future__ import annotations",
    "from collections.abc import Callable\nfrom enum import IntEnum",
    "from .physics import move\nfrom . import records\nx = records.CartPoleParams",
    "from physics import move\nimport physics\nx = physics.move",
    "def f():\n    rows = []\n    for i in range(3):\n        rows.append(i)\n    return rows",
    "def f(rows):\n    rows = list(rows)\n    rows[0] = 1\n    return {name: 1 for name in rows}",
    "def f(state):\n    return state.x.at[0].add(1)",
    "def f(x):\n    return x.sort()",
    "class Deck:\n    def add(self, card):\n        return (self, card)\ndef f(deck, card):\n    return deck.add(card)",
    "class A:\n    def _move(self):\n        return self\n    def f(self):\n        return self._move()",
    "def f(pair):\n    return pair._replace(x=1)",
    "from typing import Any, NamedTuple\nimport typing\nx: typing.Literal[1] = 1",
    "def f(n):\n    if n < 1:\n        raise ValueError(f'n is {n}')\n    assert n < 9, f'n is {n}'",
    "ROW = '#' + '.' * 8 + '#'\nROWS = ROW.split('.')",
    "def f(state):\n    return type(state)(x=1)",
    "import enum\nclass Move(enum.IntEnum):\n    UP = 0\nUP = Move(0).value",
    "from jaxtyping import Array, Float\ndef f(x: Float[Array, '3 n']) -> Float[Array, '']:\n    return x.sum()",
    "class A:\n    platform: int\ndef f(state):\n    return state.platform + state.x.at[0].get()",
    "def f(type, hash):\n    print = type + hash\n    return print",
    "import numpy as np\nLARGEST = np.iinfo(np.int32).max",
    "class A:\n    table: tuple\n    def f(self):\n        return self.table.at[0].add(1)",
    "TABLE = {}\nfor i in range(3):\n    TABLE[i] = i\ndef f(i):\n    return TABLE[i]",
    'def f():\n    """Of __init__ and eval."""',
    "__all__ = ['f']",
    "class Helper:\n    def step(self):\n        return 1\n    def __call__(self):\n        return 2",
    "names = tuple(zip((1,), (2,)))",
    "from overclock.env import Environment\nclass E(Environment):\n    def init(self, draw):\n        return draw",
]


@pytest.mark.parametrize(("text", "rule"), REFUSED.items(), ids=[repr(text[:60]) for text in REFUSED])
def test_a_breach_is_found_where_it_is(candidate, text, rule):
    found = check_source(candidate(more=text))
    assert rule in {finding.rule for finding in found}, found
    assert all(finding.file == "more.py" and finding.sentence.endswith(".") for finding in found)
    lines = text.count("\n") + 1
    assert all(0 <= finding.line <= lines and "\n" not in finding.sentence for finding in found)


@pytest.mark.parametrize("text", ACCEPTED)
def test_ordinary_code_is_accepted(candidate, text):
    assert check_source(candidate(more=text)) == []


def test_attributes_of_overclocks_own_classes_are_known():
    """Names that users call on records, spaces and generators."""
    classes = [value for name in MODULES["overclock.env"].only if isinstance(value := getattr(env, name), type)]
    names = {name for cls in classes if not issubclass(cls, int) for name in (*dir(cls), *cls.__annotations__)}
    assert {name for name in names if not name.startswith("_")} <= allowed_names.KNOWN


def test_what_shows_a_tracer_is_no_known_attribute():
    shown = []
    jax.vmap(lambda x: shown.append(x) or x)(jnp.zeros(3))
    jax.make_jaxpr(lambda x: shown.append(x) or x)(0.0)
    jax.jvp(lambda x: shown.append(x) or x, (1.0,), (1.0,))
    inner = {name for value in shown for name in dir(value) if not name.startswith("_")} - set(dir(np.zeros(3)))
    assert len(shown) == 3
    assert inner - {"at", "mT", "ptp"} <= allowed_names.TRACERS
    assert not allowed_names.TRACERS & allowed_names.KNOWN


@pytest.mark.parametrize("name", sorted(MODULES))
def test_nothing_that_may_be_used_leads_to_another_module(name):
    module = importlib.import_module(name)
    used = [one for one in dir(module) if refusal(f"{name}.{one}") is None and not is_module(f"{name}.{one}")]
    assert [one for one in used if isinstance(getattr(module, one), types.ModuleType)] == []


def test_the_honest_candidate_has_nothing_wrong(candidate):
    assert check_source(candidate()) == []


def test_a_module_cannot_be_taken_from_a_sibling(candidate):
    found = check_source(candidate(more="import jax", other="from .more import jax as j\nj.pure_callback"))
    assert ("other.py", "module-value") in {(finding.file, finding.rule) for finding in found}


def test_an_environment_is_known_by_its_bases_in_other_files(candidate):
    more = "from .env import CartPole\nclass Mine(CartPole):\n    def begin(self, draw, params):\n        return draw"
    assert [(finding.line, finding.rule) for finding in check_source(candidate(more=more))] == [(3, "derived")]


def test_a_project_may_allow_further_modules(candidate):
    folder = candidate(more="import itertools\nx = itertools.chain")
    assert check_source(folder, Limits(imports=("itertools",))) == []


def test_make_must_be_there(candidate):
    assert {finding.rule for finding in check_source(candidate(env="x = 1"))} == {"make"}
    folder = candidate()
    (folder / "env.py").unlink()
    assert {finding.rule for finding in check_source(folder)} == {"make"}


def test_literals_have_a_budget_that_docstrings_do_not_use(candidate):
    folder = candidate(more=f'"""{"x" * 5000}"""\nTABLE = ({"1.5, " * 1000})\n')
    assert check_source(folder, Limits(constant_bytes=10_000)) == []
    (finding,) = check_source(folder, Limits(constant_bytes=8000))
    assert (finding.file, finding.rule) == ("more.py", "constants")
    assert "8000 are allowed" in finding.sentence


def test_literals_are_counted_by_what_they_hold():
    import ast

    sizes = {"1": 8, "1.5": 8, "'äb'": 3, "b'abc'": 3, str(2**800): 101, "None": 0, "True": 0}
    assert {text: literal_bytes(ast.parse(f"x = {text}")) for text in sizes} == sizes


def test_only_plain_python_files_belong_to_a_candidate(candidate, tmp_path):
    folder = candidate()
    (folder / "README.md").write_text("About it.")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "env.pyc").write_bytes(b"left by Python, never used")
    assert check_source(folder) == []
    (folder / "table.npy").write_bytes(b"1")
    (folder / "notes").mkdir()
    (folder / "notes" / "README.md").write_text("not here")
    (folder / "link.py").symlink_to(tmp_path / "elsewhere.py")
    found = {finding.file: finding.rule for finding in check_source(folder)}
    assert found == {"table.npy": "file-type", "notes/README.md": "file-type", "link.py": "file-type"}


@pytest.mark.parametrize("name", ["jax", "numpy", "time", "overclock", "a-b"])
def test_a_file_must_not_hide_a_module_or_be_out_of_reach(candidate, name):
    folder = candidate()
    (folder / f"{name}.py").write_text("x = 1")
    assert [(finding.file, finding.rule) for finding in check_source(folder)] == [(f"{name}.py", "file-name")]


def test_sizes_are_limited(candidate):
    folder = candidate(more="x = 1\n" * 100)
    assert {f.file for f in check_source(folder, Limits(file_bytes=500)) if f.rule == "size"} >= {"more.py"}
    for limits in (Limits(total_bytes=600), Limits(files=3)):
        wanted = dataclasses.replace(limits, constant_bytes=Limits().constant_bytes)
        assert [finding.rule for finding in check_source(folder, wanted)] == ["size"]


def test_text_that_is_no_text_is_a_finding(candidate):
    folder = candidate()
    (folder / "more.py").write_bytes(b"x = '\xff\xfe'")
    assert [(finding.file, finding.rule) for finding in check_source(folder)] == [("more.py", "syntax")]


def test_a_missing_folder_is_the_callers_mistake(tmp_path):
    with pytest.raises(UsageError, match="not a folder"):
        check_source(tmp_path / "nowhere")


def test_a_finding_reads_as_place_sentence_and_rule(candidate):
    (finding,) = check_source(candidate(more="\nx = eval('1')"))
    assert str(finding) == "more.py:2: `eval` runs text as code; write the code itself. [builtin]"
