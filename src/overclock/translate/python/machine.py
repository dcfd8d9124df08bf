"""The state of one abstract interpretation of a function of the reference, and the way to the rule for a construct.

A `Machine` is handed to every rule. Rules are plain functions in tables; interpreter.py puts the tables together.
"""

import ast
import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from overclock.recording.errors import NeedsStateError, StartAnewError, UnsupportedError
from overclock.recording.shapes import Shape
from overclock.translate.ir.layout import Layout
from overclock.translate.ir.nodes import Builder, Const, Operand
from overclock.translate.ir.sites import DrawSite
from overclock.translate.ir.store import ArrayCell, Cell, DictCell, ListCell, Store
from overclock.translate.ir.values import Closure, Elem, Gone, Known, May, Num, Pack, Ref, Value, constants
from overclock.translate.python.frames import Frame, is_library
from overclock.translate.python.memory.arrays import Arrays

NO_CALL = ast.Call(ast.Name("called"), [], [])  # of functions that the source does not call itself, as keys of a sort


@dataclasses.dataclass(frozen=True)
class Rules:
    """What a machine dispatches to. Every rule takes the machine first."""

    statements: Mapping[type[ast.stmt], Callable[["Machine", Any], None]]
    expressions: Mapping[type[ast.expr], Callable[["Machine", Any], Value]]
    run: Callable[["Machine", list[ast.stmt]], None]
    assign: Callable[["Machine", ast.expr, Value], None]
    call: Callable[..., Value]
    call_function: Callable[..., Value]
    from_options: Callable[["Machine", Operand, Any], Value]


class Machine:
    """Everything that belongs to one run: the store, active calls, the program built so far, draws, assumptions."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.builder = Builder()
        self.store = Store()
        self.arrays = Arrays(self.builder)
        self.layout = self.arrays.layout = Layout(self.builder, self.arrays)
        self.arrays.options = functools.partial(rules.from_options, self)
        self.frames: list[Frame] = []
        self.assumptions: list[str] = []
        # The live instance.
        self.kept: set[int] = set()  # cells of the state
        self.lengthened: dict[int, list[Operand]] = {}  # of these: lengths after each place that adds to one
        self.paths: dict[int, tuple[Any, ...]] = {}  # id of a constant container of the instance -> where it hangs
        self.stand_ins: dict[int, Value] = {}  # id of a live object -> what it is in this run
        self._alive: list[Any] = []  # parts of constants, whose ids must not be given to anything else
        # Random draws.
        self.own_generator: Any = None  # the environment's np_random
        self.sites: dict[str, DrawSite] = {}
        self.plain_sites: set[tuple[str, int, int]] = set()  # drawn with different arguments by different callers
        self.loops: list[tuple[str, int | None]] = []  # around what is run: the source, how many turns at most
        self.counted: set[tuple[str, ...]] = set()  # sites, each with the loops around it, that have got their room
        # The statement that is run.
        self.permuted = False  # whether items of lists change their places now, and none gets a second one
        self.trying = 0  # how many handlers of exceptions there are around what is run
        self.ragged: str | None = None  # a local that was just assigned lists of different lengths
        self._temporaries = 0

    @property
    def frame(self) -> Frame:
        """The innermost active call of the run."""
        return self.frames[-1]

    @property
    def locals(self) -> dict[str, Value]:
        """The local names of the innermost active call."""
        return self.store.frames[-1]

    @contextlib.contextmanager
    def inside_loop(self, note: str, most: int | None) -> Iterator[None]:
        """Inside, a site draws several times; `most`: how many turns there are at most."""
        if not self.loops:
            self.counted.clear()
        self.loops.append((note, most))
        try:
            yield
        finally:
            self.loops.pop()

    # ---- values ----

    def present(self, value: Value) -> Value:
        """The value behind None-or-value, where Python would fail on None."""
        while isinstance(value, May):
            value = value.value
        if isinstance(value, Gone):
            raise UnsupportedError(value.reason)
        return value

    def operand(self, value: Value) -> Operand:
        """A number or an array as an operand."""
        return self.arrays.operand(self.present(value), self.store)

    def cell(self, value: Value) -> Cell | None:
        """The cell of a mutable thing; None for any other value."""
        return self.store[value] if isinstance(value, Ref) else None

    def shape(self, value: Value) -> Shape:
        """What a value looks like."""
        return self.layout.shape(value, self.store)

    def lower(self, value: Value, shape: Shape) -> list[Operand]:
        """The leaves of a value that is to have a shape."""
        return self.layout.lower(value, shape, self.store)

    def items(self, value: Value) -> list[Value]:
        """The items of a list or a tuple of known length."""
        return self.layout.items(value, self.store)

    def array(self, value: Value) -> Operand:
        """What np.asarray makes of a value, as an operand."""
        operand = self.operand(value)
        return self.builder.as_numpy(operand) if operand.type.python else operand

    def fresh(self, operand: Operand) -> Value:
        """A new number or array as a value."""
        if isinstance(operand, Const) and not isinstance(operand.value, np.ndarray):
            return Known(operand.value)
        if operand.type.shape == () and not isinstance(operand, Const):
            return Num(operand)
        if isinstance(operand, Const) and operand.value.shape == ():
            return Known(operand.value[()])
        return self.store.new(ArrayCell(operand))

    def constant(self, value: Any) -> Value:
        """A freshly computed constant; mutable ones get a cell of their own."""
        if isinstance(value, np.ndarray):
            return self.fresh(Const(value))
        if type(value) is list:
            return self.store.new(ListCell([self.constant(item) for item in value]))
        if type(value) is dict:
            return self.store.new(DictCell({key: self.constant(item) for key, item in value.items()}))
        if type(value) is tuple:
            items = tuple(self.constant(item) for item in value)
            return Known(value) if all(isinstance(item, Known) for item in items) else Pack(items)
        return Known(value)

    def computed(self, function: Callable[..., Any], args: list[Value], keywords: dict[str, Value]) -> Value | None:
        """What Python itself gives where all arguments are known; None where one is not."""
        if not all(isinstance(one, Known) for one in (*args, *keywords.values())):
            return None
        named = dict(zip(keywords, constants(keywords.values()), strict=True))
        return self.constant(function(*constants(args), **named))

    def new_list(self, items: list[Value]) -> Ref:
        """A new list. (Evaluating the items may replace the store, so they are evaluated before it is asked for.)"""
        return self.store.new(ListCell([self.settled(item) for item in items]))

    def settled(self, value: Value) -> Value:
        """A value to be kept in a container: an item of a list kept as arrays is only followed as a local."""
        match value:
            case Elem():
                made = self.arrays.detached(value, self.store)
                self.store.copied(made, value)
                return made
            case Pack(items, cls) if self.store.borrowed(value):
                return Pack(tuple(map(self.settled, items)), cls)
            case May(present, inner):
                return May(present, self.settled(inner))
        return value

    def part_of(self, value: Known, found: Any, key: Any) -> Value:
        """A part of a constant: still that constant's own memory."""
        if id(value.value) in self.paths and isinstance(found, list | dict | np.ndarray | set):
            self._alive.append(found)
            self.paths.setdefault(id(found), (*self.paths[id(value.value)], ("item", key)))
        return Known(found)

    def mutable(self, value: Value) -> Ref:
        """A reference that may be changed; a constant of the instance that is changed is no constant."""
        value = self.present(value)
        if isinstance(value, Known):
            if id(value.value) in self.paths:
                raise NeedsStateError(self.paths[id(value.value)])
            if isinstance(value.value, set | frozenset):
                raise UnsupportedError("a set is changed: which items a set has, and in which order, is not followed")
            raise UnsupportedError("something that does not belong to the environment is changed")
        if not isinstance(value, Ref):
            raise UnsupportedError("this cannot be changed in place")
        self.store.change(value)
        return value

    # ---- dispatch ----

    def evaluate(self, node: ast.expr) -> Value:
        """The abstract value of an expression, by the rule for its class of syntax."""
        return self._by_rule(self._rules.expressions, node, "{} is not supported")

    def execute(self, node: ast.stmt) -> None:
        """Run one statement, by the rule for its class of syntax."""
        self._by_rule(self._rules.statements, node, "the statement {} is not supported")

    def _by_rule(self, table: Mapping[type[Any], Callable[..., Any]], node: Any, unsupported: str) -> Any:
        rule = table.get(type(node))
        try:
            if rule is None:
                raise UnsupportedError(unsupported.format(type(node).__name__))
            return rule(self, node)
        except UnsupportedError as error:
            self.locate(error, node)
            raise
        except (StartAnewError, RecursionError):
            raise
        except Exception as error:
            raise self.locate(UnsupportedError(f"{type(error).__name__}: {error}"), node) from error

    def run(self, statements: list[ast.stmt]) -> None:
        """Run statements one after the other (statements/blocks.py)."""
        self._rules.run(self, statements)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Run `target = value` (statements/assignment.py)."""
        self._rules.assign(self, target, value)

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call = NO_CALL) -> Value:
        """The value of function(*args, **keywords), whatever the function is (functions/calling.py)."""
        return self._rules.call(self, function, args, keywords, node)

    def call_function(
        self,
        function: Any,
        args: list[Value],
        keywords: dict[str, Value] | None = None,
        closure: Closure | None = None,
    ) -> Value:
        """The value of a call of a function with a Python source (functions/running.py)."""
        return self._rules.call_function(self, function, args, keywords or {}, closure)

    def locate(self, error: UnsupportedError, node: ast.AST) -> UnsupportedError:
        """Say where it happened; what happens inside a library is located where that is called."""
        if not is_library(self.frame.source.file):
            error.locate(self.frame.source.place(node))
        return error

    def set_local(self, name: str, value: Value) -> None:
        """Assign a local of the active call; as `new_list`, after its value was evaluated."""
        self.store.frames[-1][name] = value

    def temporary_name(self) -> str:
        """A name for a local that no name of the source can be."""
        self._temporaries += 1
        return f"${self._temporaries}"
