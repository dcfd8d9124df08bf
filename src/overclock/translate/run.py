"""One function of the reference, interpreted once: `reset`, `step`, or an expression that shows a state."""

import ast
import copy
import inspect
import operator
from collections.abc import Collection
from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import StartAnewError, UnsupportedError
from overclock.recording.room import outer_lists
from overclock.recording.shapes import Fixed, Many, Shape, leaves
from overclock.recording.wrappers import TRANSPARENT, outermost, wrapped
from overclock.translate import numpy_order
from overclock.translate.ir.nodes import Const, Operand, Type, Var, bounds
from overclock.translate.ir.passes import Shared, copied, follow_arguments, live
from overclock.translate.ir.store import ObjectCell
from overclock.translate.ir.values import UNSET, Gone, Known, Num, Ref, Value
from overclock.translate.profile import roomy
from overclock.translate.program import Function
from overclock.translate.python.frames import RETURNED, VALUE, Frame, source_of
from overclock.translate.python.interpreter import new_machine
from overclock.translate.python.memory.state_aliases import StateNames
from overclock.translate.python.operators.sequences import entries_of, iterate, length_of
from overclock.translate.python.operators.truth import truth
from overclock.translate.showing import MASK, Flat, Keys, flat_mask

TIDYINGS = 3  # each round makes things equal or certain that were not before
Path = tuple[str, ...]


class Run:
    """One function of the reference, interpreted once, and what it leaves behind.

    `state` has the attributes that are state, as far as that is known; `refused` those that must not be read, and why.
    """

    def __init__(
        self,
        env: Any,
        kind: str,
        state: dict[Path, Shape],
        refused: dict[Path, str],
        plain_sites: set[tuple[str, int, int]],
    ) -> None:
        self.machine = new_machine()
        self._env, self._kind, self._refused, self._state = env, kind, refused, state
        self._rules = rules = env.unwrapped
        self.machine.plain_sites = plain_sites
        self.inputs_by_path: dict[Path, list[Var]] = {}
        self.action_input: Var | None = None
        self.overflow_input: Var | None = None
        self.result: Value = UNSET
        machine = self.machine
        self.root = machine.store.new(ObjectCell(type(rules), {}, rules))
        machine.paths[id(rules)] = ()
        machine.own_generator = getattr(rules, "np_random", None)
        self._stand_in(env)
        for path, shape in state.items():
            self._place(path, shape)
        self.names = StateNames(self.root, state, machine.store)
        machine.kept |= machine.store.reached(self.root)
        if kind == "reset":
            self.names.connect(rules, machine.store)

    def _stand_in(self, env: Any) -> None:
        """Whoever reaches the live environment, from a wrapper or from an object inside, means the one of this run."""
        inner: Value = self.root
        for one in reversed(wrapped(env)):
            if one is not self._rules and not isinstance(one, TRANSPARENT):
                inner = Known(one)
            self.machine.stand_ins[id(one)] = inner

    def _place(self, path: Path, shape: Shape) -> None:
        store = self.machine.store
        owner, live_owner = self.root, self._rules
        for at, name in enumerate(path[:-1]):
            cell = store[owner]
            assert isinstance(cell, ObjectCell)
            live_owner = getattr(live_owner, name, None)
            if live_owner is None:
                return
            if name not in cell.fields:
                cell.fields[name] = store.new(ObjectCell(type(live_owner), {}, live_owner))
                self.machine.paths[id(live_owner)] = path[: at + 1]
            inner = cell.fields[name]
            assert isinstance(inner, Ref)
            owner = inner
        cell = store[owner]
        assert isinstance(cell, ObjectCell)
        name = path[-1]
        if self._kind == "reset":
            if hasattr(live_owner, name):
                value = copy.deepcopy(getattr(live_owner, name))
                seen = roomy(shapes.of_python(value))
                cell.fields[name] = self._constant(value, seen)
            else:
                cell.fields[name] = Gone("reset reads it before anything was assigned")
            return
        if path in self._refused:
            cell.fields[name] = Gone(self._refused[path])
            return
        mine = [Var(Type(leaf.dtype, leaf.shape), leaf.name) for leaf in leaves(shape, name)]
        self.inputs_by_path[path] = mine
        cell.fields[name] = self.machine.layout.lift(shape, list(mine), store)

    def _constant(self, value: Any, seen: Shape) -> Value:
        store = self.machine.store
        if isinstance(seen, shapes.Exactly):
            return Known(value)
        if isinstance(seen, shapes.Number):
            return Known(value)
        operands = self.machine.layout.lower(Known(value), seen, store)
        return self.machine.layout.lift(seen, operands, store)

    def action(self, space: Any) -> Value:
        """The argument of `step`, for an action space."""
        if hasattr(space, "n") and space.shape == ():
            start = int(getattr(space, "start", 0))
            self.action_input = Var(Type("int64", (), True), "action", start, start + int(space.n) - 1)
            return Num(self.action_input)
        if space.shape is None:
            raise UnsupportedError("actions that are tuples or dicts")
        self.action_input = Var(Type(str(space.dtype), space.shape), "action")
        return self.machine.fresh(self.action_input)

    def call(self, args: list[Value], keywords: dict[str, Value]) -> None:
        """Interpret the function on abstract arguments."""
        outer = outermost(self._env)
        function = getattr(type(outer), self._kind)
        known = source_of(inspect.unwrap(function)).node.args
        names = [one.arg for one in (*known.posonlyargs, *known.args, *known.kwonlyargs)]
        keywords = {name: value for name, value in keywords.items() if name in names or known.kwarg is not None}
        owner = self.machine.stand_ins[id(outer)]
        self.result = self.machine.call_function(function, [owner, *args], keywords)
        wanted = 5 if self._kind == "step" else 2
        items = iterate(self.machine, self.result)
        if len(items) != wanted:
            raise UnsupportedError(f"{self._kind} returns {len(items)} values, not {wanted}")
        self.items = items

    @property
    def files(self) -> tuple[str, ...]:
        """The files whose source was read."""
        return (inspect.getsourcefile(type(self._rules)) or "",)

    # ---- what it leaves behind ----

    def seen(self, value: Value, known: Shape) -> Shape:
        """The shape of a value; a list that is kept as arrays may still have a length that is known."""
        found = self.machine.layout.shape(value, self.machine.store)
        if isinstance(found, Many) and isinstance(known, Fixed):
            length = length_of(self.machine, value)
            if isinstance(length, Known) and length.value == len(known.items):
                return Fixed((found.of,) * length.value, found.kind)
        return found

    def read(self, path: Path) -> Value | None:
        """What lies at a path afterwards."""
        value: Value = self.root
        for name in path:
            if isinstance(value, Known):
                value = Known(getattr(value.value, name)) if hasattr(value.value, name) else UNSET
                continue
            if not isinstance(value, Ref):
                return None
            cell = self.machine.store[value]
            if not isinstance(cell, ObjectCell):
                return None
            if name in cell.fields:
                value = cell.fields[name]
            elif cell.like is not None and hasattr(cell.like, name):
                value = Known(getattr(cell.like, name))
            else:
                return None
        return value

    def lowered(self, path: Path, shape: Shape) -> list[Operand]:
        """What lies at a path afterwards, as the leaves of a shape."""
        value = self.read(path)
        if value is None:
            value = UNSET
        return self.machine.layout.lower(value, shape, self.machine.store)

    def state_results(self, kept: dict[Path, Shape], prefix: dict[str, str]) -> dict[str, Operand]:
        """The state afterwards, by the names of its leaves."""
        found: dict[str, Operand] = {}
        for path, shape in kept.items():
            names = [leaf.name for leaf in leaves(shape, prefix[".".join(path)])]
            tidy = self._tidied(shape, self.lowered(path, shape))
            found |= dict(zip(names, tidy, strict=True))
        return found

    def _tidied(self, shape: Shape, operands: list[Operand], valid: Operand | None = None) -> list[Operand]:
        """Zeros where there is no item or no value, so that equal states have equal leaves."""
        left = list(operands)
        found = self._tidy(shape, left, valid)
        assert not left
        return found

    def _tidy(self, shape: Shape, left: list[Operand], valid: Operand | None) -> list[Operand]:
        machine = self.machine
        match shape:
            case shapes.Exactly():
                return []
            case shapes.Number() | shapes.Array() | shapes.Choice():
                leaf = left.pop(0)
                if valid is None:
                    return [leaf]
                nothing = Const(np.zeros((), leaf.type.dtype)[()])
                spread = machine.arrays.spread(valid, leaf)
                return [machine.arrays.where(spread, leaf, nothing)]
            case shapes.Maybe(of):
                present = left.pop(0)
                if valid is not None:
                    present = machine.builder.let("and", np.logical_and, present, valid)
                return [present, *self._tidy(of, left, present)]
            case Fixed(items, _):
                return [one for item in items for one in self._tidy(item, left, valid)]
            case shapes.Record(_, fields):
                return [one for _, part in fields for one in self._tidy(part, left, valid)]
            case Many(of, capacity, _):
                length = left.pop(0)
                if valid is not None:
                    raise UnsupportedError("lists of lists of changing length")
                if isinstance(length, Const) and int(length.value) == capacity:
                    return [length, *self._tidy(of, left, None)]
                inside = machine.builder.joined("lt", operator.lt, Const(np.arange(capacity)), length)
                return [length, *self._tidy(of, left, inside)]
        raise AssertionError(shape)

    def overflow(self, paths: Collection[Path]) -> Operand:
        """Whether something needed more room than it has; of the lists of the state, only those at some paths count."""
        store = self.machine.store
        lists = self.names.lists(paths)
        found = store.overflow
        for cell, full in store.full.items():
            found = self.machine.builder.logical("or", found, full) if cell in lists else found
        for path in paths:
            found = self.machine.builder.logical("or", found, self._cut_short(path))
        return found

    def _cut_short(self, path: Path) -> Operand:
        """Whether a list that was made anew at a path is longer than the room that the state has for it."""
        shape, value, found = self._state[path], self.read(path), Const(False)
        rooms = {name: many.capacity for _, name, many in outer_lists(shape)}
        if not rooms or value is None or isinstance(value, Gone):
            return found
        made = outer_lists(self.machine.layout.shape(value, self.machine.store))
        larger = {name for _, name, many in made if many.capacity > rooms.get(name, many.capacity)}
        for leaf, length in zip(leaves(shape), self.lowered(path, shape), strict=True) if larger else ():
            longest = bounds(length)[1]
            if leaf.name in larger and (longest is None or longest > rooms[leaf.name]):
                full = self.machine.builder.apply("gt", length, Const(rooms[leaf.name]))
                found = self.machine.builder.logical("or", found, self.machine.builder.flag(full))
        return found

    def overflow_so_far(self, paths: Collection[Path]) -> Operand:
        """The same, now or before."""
        own = self.overflow(paths)
        if self._kind != "step":
            return own
        self.overflow_input = Var(Type("bool"), "overflow")
        return self.machine.builder.logical("or", self.overflow_input, own)

    def outcome(self) -> dict[str, Operand]:
        """Reward and end of a step."""
        reward = self.machine.operand(self.items[1])
        if reward.type.shape:
            raise UnsupportedError(
                f"the reward is an array {reward.type.shape}, and it must be one number: "
                "wrap the environment in something that weighs them"
            )
        dtype = reward.type.dtype if reward.type.kind == "f" else "float64"
        terminated = truth(self.machine, self.items[2])
        return {"reward": self.machine.builder.cast(reward, dtype), "terminated": terminated}

    @property
    def truncated(self) -> Operand:
        """What the rules say about time."""
        return truth(self.machine, self.items[3])

    def mask(self) -> Operand | None:
        """The action mask of the info that is returned, where it has one."""
        info = self.items[-1]
        entries = entries_of(self.machine, info)
        return flat_mask(self.machine, entries[MASK]) if MASK in entries else None

    def shown(self, expression: ast.expr, function: Any, flat: Flat) -> Operand:
        """What an expression of the reference's source shows of the state now; `flat` makes it one operand."""
        machine = self.machine
        source = source_of(function)
        cls = next(base for base in type(self._rules).__mro__ if function.__name__ in vars(base))
        machine.frames.append(Frame(source, function.__globals__, cls))
        machine.store.frames.append({source.node.args.args[0].arg: self.root, RETURNED: Known(False), VALUE: UNSET})
        try:
            value = machine.evaluate(expression)
        finally:
            machine.frames.pop()
            machine.store.frames.pop()
        return flat(machine, value)

    def shows(self, expression: ast.expr, function: Any, flat: Flat, returned: Operand) -> bool:
        """Whether an expression gives, from the state as it is now, what the run returned."""
        machine = self.machine
        before = machine.store
        machine.store = before.copy()
        try:
            again = self.shown(expression, function, flat)
            drawn = machine.store.drawn == before.drawn
        except (UnsupportedError, StartAnewError):
            return False
        finally:
            machine.store = before
        shared = Shared()
        block = copied(machine.builder.block)
        shared.run(block)
        keys = Keys(block)
        return drawn and keys.of(shared.of(again)) == keys.of(shared.of(returned))

    def function(self, results: dict[str, Operand], kept: dict[Path, Shape], prefix: dict[str, str]) -> Function:
        """The program of this run, tidied."""
        block, sites = self.machine.builder.block, list(self.machine.sites.values())
        numpy_refusal = numpy_order.refusal(block, sites)  # before draws that nobody needs are gone
        inputs: dict[str, Var] = {}
        for path, mine in self.inputs_by_path.items():
            if path in kept:
                names = [leaf.name for leaf in leaves(kept[path], prefix[".".join(path)])]
                inputs |= dict(zip(names, mine, strict=True))
        if self.action_input is not None:
            inputs["action"] = self.action_input
        if self.overflow_input is not None:
            inputs["overflow"] = self.overflow_input
        for _ in range(TIDYINGS):
            shared = Shared()
            shared.run(block)
            results = {name: shared.of(operand) for name, operand in results.items()}
            live(block, {one for one in results.values() if isinstance(one, Var)})
            follow_arguments(block, shared.of)
        return Function(block, inputs, results, sites, numpy_refusal)
