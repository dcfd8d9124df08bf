"""The turns of a loop: written out where they are few, else left to a loop (loops.py).

Python asks a list for its next item when a turn begins, not before: what a turn removes or appends counts.
"""

import ast
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var, size
from overclock.translate.ir.values import Known, Lazy, Ref, Value
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.flow.loops import fixed_point_loop
from overclock.translate.python.flow.sources import ItemSource, source_of_items
from overclock.translate.python.frames import RETURNED, names_read
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.padded import DEFAULT_CAPACITY, arrayify
from overclock.translate.python.operators.truth import read_flag

UNROLLED = 4  # a loop of at most so many turns is written out
LONG = 48  # statements: what becomes longer than this when it is written out stays a loop, if it can be one
MOST_UNROLLED = 400
MOST_GROWN = 3 * UNROLLED  # turns that are written out of a loop over a list that it makes longer


class GrowingError(UnsupportedError):
    """A loop over a list that grows under it is no short one."""


def for_each(machine: Machine, iterable: Value, node: Any, turn: Callable[[Value], None], text: str) -> None:
    """`turn` for every item; written out where there are few, else a loop."""
    if isinstance(iterable, Lazy) and iterable.kind == "chain":
        if not isinstance(node, ast.comprehension):
            raise UnsupportedError("a loop over two lists of different things, one behind the other")
        for part in iterable.items:
            for_each(machine, machine.present(part), node, turn, text)
        return
    backwards = isinstance(iterable, Lazy) and iterable.kind == "reversed"
    source = source_of_items(machine, iterable.items[0] if backwards and isinstance(iterable, Lazy) else iterable)
    count = source.count()
    before, statements = machine.store.copy(), len(machine.builder.block)
    if isinstance(count, Const) and int(count.value) <= UNROLLED:
        try:
            _unrolled(machine, source, node, turn, backwards)
            if size(machine.builder.block[statements:]) <= LONG or int(count.value) == 1:
                return
            machine.store = before.copy()
            del machine.builder.block[statements:]
        except GrowingError:
            if not isinstance(iterable, Ref):
                raise
            machine.store = before.copy()
            del machine.builder.block[statements:]
            arrayify(machine, iterable, DEFAULT_CAPACITY)
    note = f"for {machine.frame.source.text(node.target)} in {text}"
    try:
        _rolled(machine, source, node, turn, note, backwards)
    except UnsupportedError:
        if not isinstance(count, Const) or int(count.value) > MOST_UNROLLED:
            raise
        machine.store = before
        del machine.builder.block[statements:]
        _unrolled(machine, source, node, turn, backwards)


def _unrolled(machine: Machine, source: ItemSource, node: Any, turn: Callable[[Value], None], backwards: bool) -> None:
    depth = machine.frame.depth + 1
    broken, continued = f"$broken{depth}", f"$continued{depth}"
    machine.locals[broken] = Known(False)
    count = source.count()
    assert isinstance(count, Const)
    source.before = int(count.value)
    loop = _WrittenOut(machine, source, -1 if backwards else 1, turn, broken, continued)
    loop.turns(int(count.value) - 1 if backwards else 0)
    _loop_else(machine, node, broken)
    machine.locals.pop(continued, None)
    machine.locals.pop(broken, None)


@dataclasses.dataclass
class _WrittenOut:
    """A loop whose turns are written one behind the other."""

    machine: Machine
    source: ItemSource
    step: int
    turn: Callable[[Value], None]
    broken: str
    continued: str

    def turns(self, at: int) -> None:
        """The turns from a position on, each under the condition that there is one."""
        while 0 <= at < (self.source.most() or 0):
            if at >= max(MOST_GROWN, self.source.before):
                raise GrowingError("a list that grows while a loop runs through it")
            inside = self.machine.builder.apply("gt", self.source.count(), Const(at))
            if isinstance(inside, Var):
                here = functools.partial(self._turn_and_further, at)
                branch(self.machine, self.machine.builder.flag(inside), here, lambda: None)
                return
            if not inside.value or not self._goes_on(at):
                return
            at += self.step

    def _turn_and_further(self, at: int) -> None:
        if self._goes_on(at):
            self.turns(at + self.step)

    def _goes_on(self, at: int) -> bool:
        """Run one turn; whether others come behind it that are not written yet."""
        self.machine.locals[self.continued] = Known(False)
        with self.machine.frame.inside_loop():
            self.turn(self.source.get(Const(at)))
        left = self.machine.builder.logical(
            "or", read_flag(self.machine, RETURNED), read_flag(self.machine, self.broken)
        )
        if isinstance(left, Const):
            return not left.value
        branch(self.machine, left, lambda: None, lambda: self.turns(at + self.step))
        return False


def _loop_else(machine: Machine, node: Any, broken: str) -> None:
    if getattr(node, "orelse", None):
        left = machine.builder.logical("or", read_flag(machine, broken), read_flag(machine, RETURNED))
        branch(machine, left, lambda: None, lambda: machine.run(node.orelse))


def _rolled(
    machine: Machine, source: ItemSource, node: Any, turn: Callable[[Value], None], note: str, backwards: bool
) -> None:
    name = machine.temporary_name()
    first = machine.builder.apply("sub", source.count(), Const(1)) if backwards else Const(0)
    machine.locals[name] = number(machine.builder.cast(first, "int64", True))

    def header() -> Operand:
        at = _counter(machine, name, source)
        inside = machine.builder.apply("lt", at, source.count())
        if backwards:
            inside = machine.builder.logical("and", inside, machine.builder.apply("ge", at, Const(0)))
        return machine.builder.flag(inside)

    def body() -> None:
        at = _counter(machine, name, source)
        turn(source.get(at))
        following = machine.builder.apply("sub" if backwards else "add", at, Const(1))
        machine.locals[name] = number(machine.builder.cast(following, "int64", True))

    looping(machine, node, header, body, note, source.most())
    machine.locals.pop(name, None)


def _counter(machine: Machine, name: str, source: ItemSource) -> Operand:
    at = machine.operand(machine.locals[name])
    if isinstance(at, Var):
        most = source.most()
        at.hint = at.hint if at.hint and not at.hint.startswith("$") else "i"
        at.low, at.high = 0, None if most is None else max(0, most - 1)
    return at


def looping(
    machine: Machine,
    node: Any,
    header: Callable[[], Operand],
    body: Callable[[], None],
    note: str,
    most: int | None = None,
) -> None:
    """A loop of the source with the locals that say whether a `break` or a `continue` was met, and its `else`."""
    depth = machine.frame.depth + 1
    broken, continued = f"$broken{depth}", f"$continued{depth}"
    machine.locals[broken] = Known(False)
    machine.locals[continued] = Known(False)

    def test() -> Operand:
        stopped = machine.builder.logical("or", read_flag(machine, RETURNED), read_flag(machine, broken))
        # Without room or draws nothing is right any more; but the loop must end.
        for overflow in (machine.store.overflow, *machine.store.full.values()):
            stopped = machine.builder.logical("or", stopped, overflow)
        if isinstance(stopped, Const) and stopped.value:
            return Const(False)
        holds = header()
        return machine.builder.logical("and", machine.builder.negated(stopped), holds)

    def turn() -> None:
        machine.locals[continued] = Known(False)
        with machine.frame.inside_loop():
            body()
        machine.locals[continued] = Known(False)

    fixed_point_loop(machine, test, turn, note, most, _inner_names(machine, node))
    _loop_else(machine, node, broken)
    machine.locals.pop(continued, None)
    machine.locals.pop(broken, None)


def _inner_names(machine: Machine, node: Any) -> frozenset[str]:
    """Names that a loop assigns and that nothing outside it reads."""
    if not isinstance(node, ast.For | ast.While):
        return frozenset()
    inside = {id(one) for one in ast.walk(node)}
    stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return frozenset(stored - names_read([one for one in ast.walk(machine.frame.source.node) if id(one) not in inside]))
