"""What a state shows: observations and masks as one operand, and expressions of the source that may give them."""

import ast
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Block, Const, If, Let, Loop, Operand, Var
from overclock.translate.ir.passes import frozen
from overclock.translate.ir.values import Value
from overclock.translate.python.frames import source_of
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.sequences import entries_of, iterate

MASK = "action_mask"  # the key of an info under which references tell which actions are legal
Shows = tuple[ast.expr, Any]  # an expression that shows something of a state, and the function it stands in
Flat = Callable[[Machine, Value], Operand]


def flat_mask(machine: Machine, value: Value) -> Operand:
    """An action mask as flags."""
    return machine.builder.cast(machine.operand(value), "bool")


def flat_observation(machine: Machine, space: Any, value: Value) -> Operand:
    """An observation as one array, in the order of `observations.parts`."""
    kind = type(space).__name__
    if kind in ("Tuple", "Dict"):
        parts = [_ravelled(machine, one) for one in _parts(machine, space, value)]
        dtype = str(np.result_type(*(part.type.dtype for part in parts)))
        cast = [machine.builder.cast(part, dtype) for part in parts]
        return machine.builder.let("concatenate", lambda *a: np.concatenate(a), *cast, several=True)
    operand = machine.operand(value)
    dtype = str(space.dtype) if kind != "Discrete" else "int64"
    if math.prod(operand.type.shape) != math.prod(space.shape):
        raise UnsupportedError(f"an observation has the shape {operand.type.shape}, which {space} does not hold")
    if operand.type.shape != tuple(space.shape):
        operand = machine.builder.let(
            "reshape", lambda a: np.reshape(a, space.shape), operand, shape=tuple(space.shape)
        )
    return machine.builder.cast(operand, dtype)


def _parts(machine: Machine, space: Any, value: Value) -> list[Operand]:
    kind = type(space).__name__
    if kind == "Tuple":
        items = iterate(machine, value)
        return [one for inner, item in zip(space.spaces, items, strict=True) for one in _parts(machine, inner, item)]
    if kind == "Dict":
        found = entries_of(machine, value)
        return [one for key, inner in space.spaces.items() for one in _parts(machine, inner, found[key])]
    operand = machine.operand(value)
    return [machine.builder.cast(operand, str(space.dtype))]


def _ravelled(machine: Machine, operand: Operand) -> Operand:
    return machine.builder.let("reshape", lambda a: np.reshape(a, (-1,)), operand, shape=(-1,))


class Keys:
    """Structural keys of what a block computes: equal keys, equal values."""

    def __init__(self, block: Block) -> None:
        self._made: dict[Var, Any] = {}
        self._keys: dict[Var, Any] = {}
        self._walk(block)

    def _walk(self, block: Block, depth: int = 0) -> None:
        for statement in block:
            if isinstance(statement, Let):
                self._made[statement.out] = statement
            elif isinstance(statement, If):
                self._walk(statement.then, depth)
                self._walk(statement.orelse, depth)
                for at, out in enumerate(statement.outs):
                    self._made[out] = (statement, at)
            elif isinstance(statement, Loop):
                self._walk(statement.header, depth + 1)
                self._walk(statement.body, depth + 1)
                for at, (var, out) in enumerate(zip(statement.carried, statement.outs, strict=True)):
                    self._keys[var] = ("carried", depth, at)
                    self._made[out] = (statement, at)

    def of(self, operand: Operand) -> Any:
        if isinstance(operand, Const):
            value = np.asarray(operand.value)
            return ("const", str(value.dtype), value.shape, value.tobytes())
        if operand in self._keys:
            return self._keys[operand]
        made = self._made.get(operand)
        if isinstance(made, Let):
            static = {name: value for name, value in made.keywords.items() if name != "index"}
            index = tuple(self.of(p) if isinstance(p, Var | Const) else p for p in made.keywords.get("index", ()))
            key: Any = (made.op, tuple(self.of(arg) for arg in made.args), frozen(static), index, made.out.type.dtype)
        elif made is not None and isinstance(made[0], Loop):
            loop, at = made
            parts = (*loop.first, loop.test, *loop.following)
            key = ("loop", at, tuple(self.of(part) for part in parts))
        elif made is not None:
            branch, at = made
            key = ("phi", self.of(branch.condition), self.of(branch.yes[at]), self.of(branch.no[at]))
        else:
            key = ("var", operand.number)
        self._keys[operand] = key
        return key


def return_expressions(cls: type) -> list[Shows]:
    """Expressions that may show a state: what step and reset return, and methods named after observations."""
    found: list[Shows] = []
    for name in ("step", "reset"):
        function = inspect.unwrap(getattr(cls, name))
        node = source_of(function).node
        assert isinstance(node, ast.FunctionDef)
        returns = [one for one in ast.walk(node) if isinstance(one, ast.Return) and isinstance(one.value, ast.Tuple)]
        for one in reversed(returns):
            assert isinstance(one.value, ast.Tuple)
            expression = one.value.elts[0]
            found.append((expression, function))
            if isinstance(expression, ast.Name):
                assigns = [one for one in ast.walk(node) if isinstance(one, ast.Assign)]
                assigned = [one.value for one in assigns if any(_is_named(t, expression.id) for t in one.targets)]
                found += [(value, function) for value in reversed(assigned)]
    step = inspect.unwrap(cls.step)
    owner = source_of(step).node.args.args[0].arg
    for name in dir(cls):
        if "obs" in name and inspect.isfunction(getattr(cls, name)):
            found.append((ast.parse(f"{owner}.{name}()", mode="eval").body, step))
    return found


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def mask_expressions(cls: type) -> list[Shows]:
    """What step and reset put into their info as the action mask."""
    found: list[Shows] = []
    for name in ("step", "reset"):
        function = inspect.unwrap(getattr(cls, name))
        for node in ast.walk(source_of(function).node):
            if isinstance(node, ast.Dict):
                pairs = zip(node.keys, node.values, strict=True)
                found += [
                    (value, function) for key, value in pairs if isinstance(key, ast.Constant) and key.value == MASK
                ]
    return found
