"""Loops and comprehensions: what they run through, written out where it is short, else as a loop.

Python asks a list for its next item when a turn begins, not before: what a turn removes or appends counts.
"""

import ast
import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var, size
from overclock.translate.ir.values import (
    DictCell,
    Known,
    Lazy,
    ListCell,
    ManyCell,
    Pack,
    Ref,
    Span,
    Value,
    same_operand,
)  # fmt: skip
from overclock.translate.python.calls import Calls
from overclock.translate.python.control import DEFAULT_CAPACITY, TestChangesError
from overclock.translate.python.frames import RETURNED, names_read

UNROLLED = 4  # a loop of at most so many turns is written out
LONG = 48  # statements: what becomes longer than this when it is written out stays a loop, if it can be one
MOST_UNROLLED = 400
MOST_GROWN = 3 * UNROLLED  # turns that are written out of a loop over a list that it makes longer


class GrowingError(UnsupportedError):
    """A loop over a list that grows under it is no short one."""


@dataclasses.dataclass
class Source:
    """What a loop runs through: how many items there are now, the one at a position, how many there can be."""

    count: Callable[[], Operand]
    get: Callable[[Operand], Value]
    most: Callable[[], int | None]
    before: int = 0  # how many there were when the loop began, where that is known


def fixed(count: int, get: Callable[[Operand], Value]) -> Source:
    """Something whose length does not change."""
    return Source(lambda: Const(count), get, lambda: count)


class Iteration(Calls):
    """What loops mean."""

    # ---- statements ----

    def visit_While(self, node: ast.While) -> None:
        note = f"while {self.frame.source.text(node.test)}"
        before, statements = self.store.copy(), len(self.builder.block)
        try:
            self._looping(node, lambda: self.condition(node.test), lambda: self.run(node.body), note)
        except TestChangesError:
            self.store = before
            del self.builder.block[statements:]
            self._looping_by_body(node, note)

    def _looping_by_body(self, node: ast.While, note: str) -> None:
        """What a test does, it also does when it fails: it belongs to the turns."""
        ended = self._temporary_name()
        self.locals[ended] = Known(False)

        def turn() -> None:
            holds = self.condition(node.test)
            self.branch(holds, lambda: self.run(node.body), lambda: self.set_local(ended, Known(True)))

        self._looping(node, lambda: self.negated(self.flag(ended)), turn, note)
        self.locals.pop(ended, None)

    def visit_For(self, node: ast.For) -> None:
        iterable = self.present(self.evaluate(node.iter))
        self.for_each(iterable, node, lambda item: self._turn(node, item), self.frame.source.text(node.iter))

    def _turn(self, node: ast.For, item: Value) -> None:
        self.assign(node.target, item)
        self.run(node.body)

    def for_each(self, iterable: Value, node: Any, turn: Callable[[Value], None], text: str) -> None:
        """`turn` for every item; written out where there are few, else a loop."""
        if isinstance(iterable, Lazy) and iterable.kind == "chain":
            if not isinstance(node, ast.comprehension):
                raise UnsupportedError("a loop over two lists of different things, one behind the other")
            for part in iterable.items:
                self.for_each(self.present(part), node, turn, text)
            return
        backwards = isinstance(iterable, Lazy) and iterable.kind == "reversed"
        source = self._source(iterable.items[0] if backwards and isinstance(iterable, Lazy) else iterable)
        count = source.count()
        before, statements = self.store.copy(), len(self.builder.block)
        if isinstance(count, Const) and int(count.value) <= UNROLLED:
            try:
                self._unrolled(source, node, turn, backwards)
                if size(self.builder.block[statements:]) <= LONG or int(count.value) == 1:
                    return
                self.store = before.copy()
                del self.builder.block[statements:]
            except GrowingError:
                if not isinstance(iterable, Ref):
                    raise
                self.store = before.copy()
                del self.builder.block[statements:]
                self.arrayify(iterable, DEFAULT_CAPACITY)
        note = f"for {self.frame.source.text(node.target)} in {text}"
        try:
            self._rolled(source, node, turn, note, backwards)
        except UnsupportedError:
            if not isinstance(count, Const) or int(count.value) > MOST_UNROLLED:
                raise
            self.store = before
            del self.builder.block[statements:]
            self._unrolled(source, node, turn, backwards)

    # ---- what is run through ----

    def _source(self, value: Value) -> Source:
        match value:
            case Known(inner) if isinstance(inner, range):
                return fixed(len(inner), lambda at: self._range_item(inner.start, inner.step, at))
            case Known(inner) if isinstance(inner, dict | set | frozenset):
                return self._source(Known(list(inner)))
            case Known(inner) if isinstance(inner, list | tuple | str):
                return fixed(len(inner), lambda at: self._constant_item(value, inner, at))
            case Span(start, _, step):
                count = self.span_length(value)
                return Source(lambda: count, lambda at: self._span_item(start, step, at), lambda: None)
            case Lazy(kind, items) if kind in ("zip", "enumerate", "reversed"):
                return getattr(self, f"_{kind}_source")(*items)
            case Lazy("items" | "values" as kind, (Ref() as box,)):
                return self._entries_source(box, kind)
            case Ref() if isinstance(self.store[value], ListCell | ManyCell):
                return Source(
                    lambda: self.operand(self.length(value)),
                    lambda at: self.item(value, number(at)),
                    lambda: self._capacity(value),
                )
        if self.is_number(value):
            size = self.operand(value).type.shape
            if not size:
                raise UnsupportedError("iteration over a number")
            return fixed(size[0], lambda at: self.array_item(value, (at if isinstance(at, Var) else int(at.value),)))
        items = self.iterate(value)
        return fixed(len(items), lambda at: items[int(at.value)] if isinstance(at, Const) else self.select(items, at))

    def _range_item(self, start: int, step: int, at: Operand) -> Value:
        scaled = at if step == 1 else self.builder.joined("mul", operator.mul, at, Const(step))
        return number(scaled if start == 0 else self.builder.joined("add", operator.add, scaled, Const(start)))

    def _span_item(self, start: Operand, step: int, at: Operand) -> Value:
        scaled = self.builder.joined("mul", operator.mul, at, Const(step))
        return number(self.builder.joined("add", operator.add, start, scaled))

    def _constant_item(self, box: Known, inner: Any, at: Operand) -> Value:
        if isinstance(at, Const):
            return self.part_of(box, inner[int(at.value)], int(at.value))
        return self.from_options(at, inner)

    def _zip_source(self, *items: Value) -> Source:
        inner = [self._source(self.present(item)) for item in items]

        def count() -> Operand:
            counts = [one.count() for one in inner]
            return functools.reduce(lambda a, b: self.builder.joined("minimum", min, a, b), counts)

        known = [most for one in inner if (most := one.most()) is not None]
        return Source(count, lambda at: Pack(tuple(one.get(at) for one in inner)), lambda: min(known, default=None))

    def _enumerate_source(self, box: Value, start: Value) -> Source:
        inner, first = self._source(self.present(box)), self.operand(start)
        get = lambda at: Pack((number(self.builder.joined("add", operator.add, at, first)), inner.get(at)))  # noqa: E731
        return Source(inner.count, get, inner.most)

    def _reversed_source(self, box: Value) -> Source:
        """reversed() inside zip or enumerate."""
        box = self.present(box)
        inner, before = self._source(box), self._length_now(box)
        length = inner.count()
        last = self.builder.joined("sub", operator.sub, length, Const(1))

        def count() -> Operand:
            if not same_operand(self._length_now(box), before):
                raise UnsupportedError(
                    "a list is changed while reversed() runs through it together with something else"
                )
            return length

        return Source(count, lambda at: inner.get(self.builder.joined("sub", operator.sub, last, at)), inner.most)

    def _length_now(self, box: Value) -> Operand:
        """The length of a list as it is kept, to see whether it is still the same."""
        cell = self.store[box] if isinstance(box, Ref) else None
        return (
            cell.length if isinstance(cell, ManyCell) else Const(len(cell.items) if isinstance(cell, ListCell) else 0)
        )

    def _entries_source(self, box: Ref, kind: str) -> Source:
        cell = self.store[box]
        assert isinstance(cell, DictCell)
        keys = list(cell.items)

        def get(at: Operand) -> Value:
            now = self.store[box]
            assert isinstance(now, DictCell)
            if list(now.items) != keys:
                raise UnsupportedError("a dict gets or loses keys while a loop runs through it")
            if isinstance(at, Var):
                value = self.select(list(now.items.values()), at)
                return value if kind == "values" else Pack((self.from_options(at, keys), value))
            key = keys[int(at.value)]
            return now.items[key] if kind == "values" else Pack((Known(key), now.items[key]))

        return fixed(len(keys), get)

    def _capacity(self, value: Ref) -> int:
        cell = self.store[value]
        return cell.capacity if isinstance(cell, ManyCell) else len(cell.items)  # pyright: ignore[reportAttributeAccessIssue]

    # ---- written out ----

    def _unrolled(self, source: Source, node: Any, turn: Callable[[Value], None], backwards: bool) -> None:
        depth = self.frame.depth + 1
        broken, continued = f"$broken{depth}", f"$continued{depth}"
        self.locals[broken] = Known(False)
        count = source.count()
        assert isinstance(count, Const)
        source.before = int(count.value)
        self._turns(source, int(count.value) - 1 if backwards else 0, -1 if backwards else 1, turn, depth)
        self._loop_else(node, broken)
        self.locals.pop(continued, None)
        self.locals.pop(broken, None)

    def _turns(self, source: Source, at: int, step: int, turn: Callable[[Value], None], depth: int) -> None:
        """The turns from a position on, each under the condition that there is one."""
        while 0 <= at < (source.most() or 0):
            if at >= max(MOST_GROWN, source.before):
                raise GrowingError("a list that grows while a loop runs through it")
            inside = self.builder.joined("gt", operator.gt, source.count(), Const(at))
            if isinstance(inside, Var):
                here = functools.partial(self._one_turn, source, at, step, turn, depth)
                self.branch(self.builder.cast(inside, "bool", True), here, lambda: None)
                return
            if not inside.value:
                return
            if not self._go_on(source, at, step, turn, depth):
                return
            at += step

    def _one_turn(self, source: Source, at: int, step: int, turn: Callable[[Value], None], depth: int) -> None:
        if self._go_on(source, at, step, turn, depth):
            self._turns(source, at + step, step, turn, depth)

    def _go_on(self, source: Source, at: int, step: int, turn: Callable[[Value], None], depth: int) -> bool:
        """One turn; whether others come behind it that are not written yet."""
        self.locals[f"$continued{depth}"] = Known(False)
        self.frame.depth = depth
        try:
            turn(source.get(Const(at)))
        finally:
            self.frame.depth = depth - 1
        left = self.logical("or", self.flag(RETURNED), self.flag(f"$broken{depth}"))
        if isinstance(left, Const):
            return not left.value
        self.branch(left, lambda: None, functools.partial(self._turns, source, at + step, step, turn, depth))
        return False

    def _loop_else(self, node: Any, broken: str) -> None:
        if getattr(node, "orelse", None):
            left = self.logical("or", self.flag(broken), self.flag(RETURNED))
            self.branch(left, lambda: None, lambda: self.run(node.orelse))

    # ---- as a loop ----

    def _rolled(self, source: Source, node: Any, turn: Callable[[Value], None], note: str, backwards: bool) -> None:
        name = self._temporary_name()
        first = self.builder.joined("sub", operator.sub, source.count(), Const(1)) if backwards else Const(0)
        self.locals[name] = number(self.builder.cast(first, "int64", True))

        def header() -> Operand:
            at = self._counter(name, source)
            inside = self.builder.joined("lt", operator.lt, at, source.count())
            if backwards:
                inside = self.logical("and", inside, self.builder.joined("ge", operator.ge, at, Const(0)))
            return self.builder.cast(inside, "bool", True)

        def body() -> None:
            at = self._counter(name, source)
            turn(source.get(at))
            step = ("sub", operator.sub) if backwards else ("add", operator.add)
            self.locals[name] = number(self.builder.cast(self.builder.joined(*step, at, Const(1)), "int64", True))

        self._looping(node, header, body, note, source.most())
        self.locals.pop(name, None)

    def _counter(self, name: str, source: Source) -> Operand:
        at = self.operand(self.locals[name])
        if isinstance(at, Var):
            most = source.most()
            at.hint = at.hint if at.hint and not at.hint.startswith("$") else "i"
            at.low, at.high = 0, None if most is None else max(0, most - 1)
        return at

    def _looping(
        self, node: Any, header: Callable[[], Operand], body: Callable[[], None], note: str, most: int | None = None
    ) -> None:
        depth = self.frame.depth + 1
        broken, continued = f"$broken{depth}", f"$continued{depth}"
        self.locals[broken] = Known(False)
        self.locals[continued] = Known(False)

        def test() -> Operand:
            stopped = self.logical("or", self.flag(RETURNED), self.flag(broken))
            # Without room or draws nothing is right any more; but the loop must end.
            for overflow in (self.store.overflow, *self.store.full.values()):
                stopped = self.logical("or", stopped, overflow)
            if isinstance(stopped, Const) and stopped.value:
                return Const(False)
            holds = header()
            return self.logical("and", self.negated(stopped), holds)

        def turn() -> None:
            self.locals[continued] = Known(False)
            self.frame.depth = depth
            try:
                body()
            finally:
                self.frame.depth = depth - 1
            self.locals[continued] = Known(False)

        self.loop(test, turn, note, most, self._inner_names(node))
        self._loop_else(node, broken)
        self.locals.pop(continued, None)
        self.locals.pop(broken, None)

    def _inner_names(self, node: Any) -> frozenset[str]:
        """Names that a loop assigns and that nothing outside it reads."""
        if not isinstance(node, ast.For | ast.While):
            return frozenset()
        inside = {id(one) for one in ast.walk(node)}
        stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        return frozenset(
            stored - names_read([one for one in ast.walk(self.frame.source.node) if id(one) not in inside])
        )

    # ---- comprehensions ----

    def comprehension(self, generators: list[ast.comprehension], element: ast.expr) -> Value:
        """A list, built by the loops it stands for; its names are its own."""
        result = self.store.new(ListCell([]))
        length = self._alone(generators, lambda: self.append(result, self.evaluate(element)))
        cell = self.store[result]
        if length is not None and isinstance(cell, ManyCell):
            cell.length = Const(np.int64(length))
        return result

    def until(self, node: ast.GeneratorExp, wanted: bool) -> Value:
        """any() and all() of a generator: nothing is computed behind the first item that decides."""
        decided = self._temporary_name()
        self.locals[decided] = Known(False)

        def look() -> None:
            test = self.condition(node.elt)
            self.set_local(decided, number(test if wanted else self.negated(test)))

        self._alone(node.generators, lambda: self.branch(self.flag(decided), lambda: None, look))
        found = self.truth(self.locals.pop(decided))
        return number(found if wanted else self.negated(found))

    def _alone(self, generators: list[ast.comprehension], then: Callable[[], None]) -> int | None:
        """Run loops whose names are their own; how many turns there are in all, where that is known."""
        hidden = {name: self.locals[name] for one in generators for name in _targets(one.target) if name in self.locals}
        count = self._generate(generators, then)
        for name in (name for one in generators for name in _targets(one.target)):
            self.locals.pop(name, None)
        self.locals.update(hidden)
        return count

    def _generate(self, generators: list[ast.comprehension], then: Callable[[], None]) -> int | None:
        if not generators:
            then()
            return 1
        one = generators[0]
        inner: list[int | None] = []  # how many turns of the loops inside there are in each turn

        def turn(item: Value) -> None:
            self.assign(one.target, item)
            self._when(one.ifs, lambda: inner.append(self._generate(generators[1:], then)))

        iterable = self.present(self.evaluate(one.iter))
        count = self._turns_of(iterable)
        self.for_each(iterable, one, turn, self.frame.source.text(one.iter))
        if one.ifs or count is None or count != self._turns_of(iterable) or None in inner:
            return None
        known = [each for each in inner if each is not None]
        if len(set(known)) == 1:
            return count * known[0]
        return sum(known) if len(known) == count else None

    def _turns_of(self, iterable: Value) -> int | None:
        if isinstance(iterable, Lazy) and iterable.kind == "chain":
            return None
        backwards = isinstance(iterable, Lazy) and iterable.kind == "reversed"
        count = self._source(iterable.items[0] if backwards and isinstance(iterable, Lazy) else iterable).count()
        return int(count.value) if isinstance(count, Const) else None

    def _when(self, tests: list[ast.expr], then: Callable[[], None]) -> None:
        if not tests:
            then()
            return
        condition = self.condition(tests[0])
        self.branch(condition, lambda: self._when(tests[1:], then), lambda: None, self.frame.source.text(tests[0]))

    # ---- of the interpreter ----

    def run(self, statements: list[ast.stmt]) -> None:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Value) -> None:
        raise NotImplementedError

    def flag(self, name: str) -> Operand:
        raise NotImplementedError


def _targets(node: ast.expr) -> list[str]:
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
