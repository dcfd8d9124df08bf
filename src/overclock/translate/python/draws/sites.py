"""Draw sites: each call of a generator in the source is one.

What is drawn is the plainest thing from which the value follows: the value itself where the arguments are constants,
else a position, a number in [0, 1), a standard normal or a permutation. `recording/sites` records the same from the
live reference.
"""

import ast
import dataclasses
import math
from typing import Any

import numpy as np

from overclock.recording.errors import NeedsPlainDrawError, UnsupportedError
from overclock.translate.ir.nodes import Const, Let, Operand, Type, Var
from overclock.translate.ir.sites import DrawSite
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine

LOOP_COUNT = 16  # draws of one site where a loop decides how many
MOST_DRAWS = 1024  # of one site in loops inside loops


@dataclasses.dataclass(frozen=True)
class Draw:
    """A call of a generator in the source."""

    method: str
    source: str  # the kind of generator: Generator, RandomState, numpy.random, Random or random
    own: bool  # whether it is the environment's np_random, in NumPy's own dtype for this method
    args: list[Value]
    keywords: dict[str, Value]
    node: ast.Call

    @property
    def by_python(self) -> bool:
        """Whether it is a generator of Python, not of NumPy."""
        return self.source in ("Random", "random")

    def argument(self, at: int, *names: str, default: Any = None) -> Value:
        """The argument at a position or under one of several names, else a constant."""
        if at < len(self.args):
            return self.args[at]
        return next((self.keywords[name] for name in names if name in self.keywords), Known(default))


def drawn(
    machine: Machine, draw: Draw, form: str, size: tuple[int, ...], dtype: str = "float64", **arguments: Any
) -> Operand:
    """The next number of the site of a call; `arguments` are what its distribution follows from."""
    name = _site(machine, draw, form, size, dtype, arguments)
    before = machine.store.drawn.get(name, Const(0))
    out = Var(Type(dtype, size))
    machine.builder.emit(Let(out, "draw", (before,), {"site": name}))
    site = machine.sites[name]
    following = machine.builder.apply("add", before, Const(1))
    if machine.loops:
        _count_loops(machine, site)
    if isinstance(following, Const):
        site.count = max(site.count, int(following.value))
    else:
        site.count = max(site.count, LOOP_COUNT)
        over = machine.builder.apply("ge", before, Const(site.count))
        machine.store.overflow = machine.builder.logical("or", machine.store.overflow, machine.builder.flag(over))
    machine.store.drawn[name] = machine.builder.cast(following, "int64", True)
    return out


def _count_loops(machine: Machine, site: DrawSite) -> None:
    """Room for the draws of a site in the loops around it, once for each time they are run."""
    key = (site.name, *(note for note, _ in machine.loops))
    if key in machine.counted:
        return
    machine.counted.add(key)
    turns = math.prod(most for _, most in machine.loops if most is not None)
    if any(most is None for _, most in machine.loops):
        turns *= LOOP_COUNT
    site.count = max(LOOP_COUNT, site.count + min(turns, MOST_DRAWS))


def _place(machine: Machine, node: ast.Call) -> tuple[str, int, int]:
    return machine.frame.source.file, node.lineno, node.col_offset


def is_plain(machine: Machine, draw: Draw) -> bool:
    """Whether callers give a site different arguments, so that only what they have in common can be recorded."""
    return _place(machine, draw.node) in machine.plain_sites


def _site(machine: Machine, draw: Draw, form: str, size: tuple[int, ...], dtype: str, arguments: dict[str, Any]) -> str:
    module, filename = machine.frame.globals.get("__name__", ""), machine.frame.source.file
    key = _place(machine, draw.node)
    for name, site in machine.sites.items():
        if (site.filename, site.line, site.column) == key:
            if (site.form, site.shape) != (form, size) or not _same_arguments(site.arguments, arguments):
                if site.form == form == "unit" and site.shape == size:
                    return name
                if key not in machine.plain_sites and site.shape == size and "permutation" not in (form, site.form):
                    raise NeedsPlainDrawError(key)
                raise UnsupportedError("one draw is made with different arguments by different callers")
            return name
    name = f"{draw.method}_{draw.node.lineno}"
    while name in machine.sites:
        name += "b"
    place = module, filename, draw.node.lineno, draw.node.col_offset
    machine.sites[name] = DrawSite(name, *place, draw.method, form, size, dtype, arguments, draw.source, draw.own)
    return name


def _same_arguments(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[key], b[key]) for key in a)
