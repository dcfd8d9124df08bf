"""Functions of the source become functions of the output: calls that were run in place are written once.

Statements remember the calls that they come from. What one call left behind, after tidying, is a run of statements in
one block: values in, values out. Runs that are the same but for the names of their variables are one function.
"""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from overclock.translate.ir.nodes import Block, Call, Callee, Const, Helper, If, Let, Loop, Note, Statement, Var, size
from overclock.translate.jax.names import RESERVED, free
from overclock.translate.printing.walk import inner_blocks, operands, outputs, statements
from overclock.translate.program import Function

SMALLEST, LONG = 3, 12  # statements of a function that is called several times, and of one that is called once
MOST_RESULTS, MOST_PARAMS = 6, 12
MOST_RESULTS_ONCE = 3
GREATEST_SHARE = 0.6  # of all statements: what is nearly everything is no part


@dataclasses.dataclass
class _Region:
    """A run of statements: what it reads from outside, what is read of it, and its statements without names (`key`)."""

    variables: list[Var]  # in the order in which they come
    params: list[Var]
    outs: list[Var]
    key: Any
    draws: dict[str, int]
    loops: bool


class Outliner:
    """Finds runs of statements that become functions: `helpers`, each behind those that it calls."""

    def __init__(self, functions: Sequence[Function], taken: Iterable[str]) -> None:
        self.helpers: list[Helper] = []
        self._taken = set(taken)
        self._made: dict[Any, Helper] = {}
        self._orders: dict[Helper, list[int]] = {}  # of parameters: as in the source, then what it reads besides
        self._found: Counter[Any] = Counter()
        self._wanted: dict[Any, set[int]] = {}  # places of the variables that are read behind some of the calls
        self._counts: dict[str, int] = {}
        self._reads: Counter[Var] = Counter()
        for function in functions:
            self._reads += Counter(_reads(function.block))
            self._reads.update(one for one in function.results.values() if isinstance(one, Var))
        for function in functions:
            self._begin(function)
            self._count(function.block, 0)
        for function in functions:
            self._begin(function)
            function.block[:] = self._rewritten(function.block, 0, False)

    def _begin(self, function: Function) -> None:
        self._counts = {site.name: site.count for site in function.sites}
        self._whole = size(function.block)

    def _count(self, block: Block, depth: int, around: Any = None) -> None:
        for callee, run in _runs(block, depth):
            if callee is None:
                for one in run:
                    for inner in inner_blocks(one):
                        self._count(inner, depth)
                continue
            region = self._region(run)
            self._wanted.setdefault(region.key, set()).update(map(region.variables.index, region.outs))
            self._found[region.key] += region.key != around  # a call that is nothing but another one
            self._count(run, depth + 1, region.key)

    def _rewritten(self, block: Block, depth: int, guarded: bool) -> Block:
        """A block with calls in it; `guarded`: whether a branch is around it, so that its loops need not turn."""
        found: Block = []
        for callee, run in _runs(block, depth):
            if callee is None:
                for one in run:
                    for inner in inner_blocks(one):
                        inner[:] = self._rewritten(inner, depth, isinstance(one, If) or guarded)
                found += run
                continue
            region = self._region(run)
            region.outs = [region.variables[at] for at in sorted(self._wanted[region.key])]
            inside = self._rewritten(run, depth + 1, guarded)
            if self._worth(region, inside, size(run)):
                helper = self._helper(region, inside, callee)
                helper.guarded |= region.loops and guarded
                found.append(Call(region.outs, helper, [region.params[at] for at in self._orders[helper]]))
            else:
                found += inside
        return found

    def _worth(self, region: _Region, inside: Block, whole: int) -> bool:
        if not 1 <= len(region.outs) <= MOST_RESULTS or len(region.params) > MOST_PARAMS:
            return False
        if self._found[region.key] > 1:
            return size(inside) >= SMALLEST
        return size(inside) > LONG and len(region.outs) <= MOST_RESULTS_ONCE and whole < GREATEST_SHARE * self._whole

    def _helper(self, region: _Region, block: Block, callee: Callee) -> Helper:
        helper = self._made.get(region.key)
        if helper is None:
            name = callee.name.strip("_") or "part"
            name = free(f"{name}_rule" if name in RESERVED else name, self._taken)
            self._taken.add(name)
            given = {var: name for name, mine in callee.arguments.items() for var in mine if isinstance(var, Var)}
            arguments = {var: given[var] for var in region.params if var in given}
            places = {var: at for at, var in enumerate(given)}
            order = sorted(range(len(region.params)), key=lambda at: places.get(region.params[at], len(places)))
            params = [region.params[at] for at in order]
            helper = Helper(name, callee.name, params, block, region.outs, region.draws, False, arguments)
            self._made[region.key], self._orders[helper] = helper, order
            self.helpers.append(helper)
        return helper

    def _region(self, run: Block) -> _Region:
        numbers: dict[Var, int] = {}
        own: set[Var] = set()
        signs: list[Any] = []
        draws: dict[str, int] = {}
        loops = False

        def sign(operand: Any) -> Any:
            if isinstance(operand, Var):
                numbers.setdefault(operand, len(numbers))
                return numbers[operand], operand.type
            if isinstance(operand, Const):
                value = np.asarray(operand.value)
                return str(value.dtype), value.shape, value.tobytes(), operand.type.python, operand.name
            return tuple(map(sign, operand)) if isinstance(operand, tuple) else repr(operand)

        def walk(block: Block) -> None:
            nonlocal loops
            for one in block:
                if isinstance(one, Note):
                    continue
                if isinstance(one, Loop):
                    loops = True
                    own.update(one.carried)
                    signs.append(("loop", one.note, *map(sign, one.carried)))
                for inner in inner_blocks(one):
                    signs.append("[")
                    walk(inner)
                    signs.append("]")
                if isinstance(one, Let):
                    if one.op == "draw":
                        draws[one.keywords["site"]] = self._counts[one.keywords["site"]]
                    keywords = {name: value for name, value in one.keywords.items() if name != "index"}
                    index = [sign(part) for part in one.keywords.get("index", ())]
                    single = self._counts.get(keywords.get("site", "")) == 1
                    signs.append((one.op, repr(sorted(keywords.items())), *index, single))
                elif isinstance(one, If):
                    signs.append(("if", one.note))
                own.update(outputs(one))
                signs.append((*map(sign, operands(one)), *map(sign, outputs(one))))

        walk(run)
        inside = Counter(_reads(run))
        top = [var for one in run if not isinstance(one, Note) for var in outputs(one)]
        outs = [var for var in top if self._reads[var] > inside[var]]
        params = [var for var in numbers if var not in own]
        return _Region(list(numbers), params, outs, tuple(signs), draws, loops)


def _runs(block: Block, depth: int) -> list[tuple[Callee | None, Block]]:
    """The statements of a block, those of one call together."""

    def callee(statement: Statement) -> Callee | None:
        calls = () if isinstance(statement, Note) else statement.calls
        return calls[depth] if len(calls) > depth else None

    return [(found, list(run)) for found, run in itertools.groupby(block, callee)]


def _reads(block: Block) -> list[Var]:
    return [one for statement in statements(block) for one in operands(statement) if isinstance(one, Var)]
