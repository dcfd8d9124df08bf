"""Methods of lists, dicts and constants: what `append`, `get`, `index` and their like do."""

import ast
import collections
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.values import DictCell, Elem, Known, Lazy, ListCell, ManyCell, Pack, Pick, Ref, Value
from overclock.translate.python.numpy_calls import NumpyCalls


class Methods(NumpyCalls):
    """What methods mean."""

    def method(self, name: str, owner: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """owner.name(*args) where owner is a container, an array or a constant."""
        owner = self.present(owner)
        if isinstance(owner, Known) and not isinstance(owner.value, np.ndarray | np.generic):
            return self._constant_method(name, owner, args, keywords)
        if isinstance(owner, Pick):
            every = [one.value for one in args if isinstance(one, Known)]
            if len(every) != len(args) or keywords:
                raise UnsupportedError(f"a method '{name}' of something chosen at run time")
            return self.from_options(owner.index, [getattr(one, name)(*every) for one in owner.options])
        if self.is_number(owner) or self.is_partial(owner):
            return self.array_method(name, owner, args, keywords)
        if isinstance(owner, Ref) and isinstance(cell := self.store[owner], DictCell):
            return self._dict_method(name, owner, cell, args)
        if self.is_sequence(owner):
            return self._list_method(name, owner, args, keywords)
        raise UnsupportedError(f"the method '{name}' of a {type(owner).__name__.lower()}")

    def _constant_method(self, name: str, owner: Known, args: list[Value], keywords: dict[str, Value]) -> Value:
        inner = owner.value
        if inner is None:
            return Known(None)
        if isinstance(inner, dict) and name in ("get", "items", "keys", "values"):
            if name != "get":
                return self.constant([*getattr(inner, name)()])
            return self._get(list(inner), lambda at: self.from_options(at, list(inner.values())), args)
        changing = (
            "append",
            "pop",
            "remove",
            "insert",
            "extend",
            "clear",
            "sort",
            "add",
            "discard",
            "update",
            "popleft",
            "appendleft",
            "setdefault",
            "reverse",
        )
        if isinstance(inner, list | dict | set | collections.deque) and name in changing:
            self.mutable(owner)
        if name == "contains" and hasattr(inner, "sample"):
            return Known(True)  # an action outside the space is no step
        if all(isinstance(one, Known) for one in (*args, *keywords.values())):
            return self.constant(
                getattr(inner, name)(*(one.value for one in args), **{k: v.value for k, v in keywords.items()})  # pyright: ignore[reportAttributeAccessIssue]
            )
        mapped = self.map_options(lambda *a: getattr(inner, name)(*a), *args) if not keywords else None
        if mapped is not None:
            return mapped
        if name in ("index", "count") and isinstance(inner, list | tuple):
            if name == "index":
                return number(self.builder.cast(self.position(list(inner), args[0])[0], "int64", True))
            return self._list_question(name, owner, args)
        raise UnsupportedError(f"the method '{name}' of {inner!r:.40} with values of the run time")

    def _get(self, keys: list[Any], choose: Any, args: list[Value]) -> Value:
        """dict.get."""
        default = args[1] if len(args) > 1 else Known(None)
        at, inside = self.position(keys, args[0])
        if isinstance(inside, Const):
            return choose(at) if inside.value else default
        return self._choose(inside, choose(at), default)

    def _dict_method(self, name: str, owner: Ref, cell: DictCell, args: list[Value]) -> Value:
        match name:
            case "keys":
                return Pack(tuple(Known(key) for key in cell.items))
            case "values":
                return Lazy("values", (owner,))
            case "items":
                return Lazy("items", (owner,))
            case "copy":
                return self.store.new(DictCell(dict(cell.items), cell.default))
            case "update" | "clear" | "pop" | "setdefault":
                self.mutable(owner)
        match name:
            case "get":
                return self._get(
                    list(cell.items),
                    lambda at: (
                        self.select(list(cell.items.values()), at)
                        if isinstance(at, Var)
                        else list(cell.items.values())[int(at.value)]
                    ),
                    args,
                )
            case "update":
                cell.items |= {key: self.settled(value) for key, value in self.entries(args[0]).items()}
                return Known(None)
            case "clear":
                cell.items.clear()
                return Known(None)
            case "pop" if isinstance(args[0], Known) and (args[0].value in cell.items or len(args) > 1):
                return cell.items.pop(args[0].value, args[-1])
            case "setdefault" if isinstance(args[0], Known):
                return cell.items.setdefault(args[0].value, self.settled(args[1]) if len(args) > 1 else Known(None))
        raise UnsupportedError(f"the method '{name}' of a dict")

    def _list_method(self, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        if name in ("copy", "index", "count", "__contains__"):
            return self._list_question(name, owner, args)
        ref = self.mutable(owner)
        cell = self.store[ref]
        match name:
            case "append":
                self.append(ref, args[0])
            case "appendleft":
                self.insert_at(ref, Const(0), args[0])
            case "extend":
                self.extend(ref, args[0])
            case "insert":
                if isinstance(cell, ManyCell):
                    self.insert_at(ref, self.place(cell, args[0]), args[1])
                else:
                    self.insert_at(ref, self.operand(args[0]), args[1])
            case "pop" | "popleft":
                return self._pop(ref, Known(0) if name == "popleft" else args[0] if args else Known(-1))
            case "remove":
                self._remove(ref, args[0])
            case "clear":
                if isinstance(cell, ManyCell):
                    cell.length = Const(np.int64(0))
                    self.arrays.forget_items(ref, self.store)
                else:
                    assert isinstance(cell, ListCell)
                    cell.items.clear()
            case "sort":
                self.sort(ref, keywords)
            case "reverse":
                if isinstance(cell, ListCell):
                    cell.items.reverse()
                else:
                    self.many(ref).leaves = self.many(self.reversed_list(ref)).leaves
                    self.arrays.forget_items(ref, self.store)
            case _:
                raise UnsupportedError(f"the method '{name}' of a list")
        return Known(None)

    def _list_question(self, name: str, owner: Value, args: list[Value]) -> Value:
        if name == "copy":
            return self.copy_list(owner)
        if name == "__contains__":
            return number(self.contains(owner, args[0]))
        if isinstance(owner, Ref) and isinstance(cell := self.store[owner], ManyCell):
            if name == "index":
                return number(self.builder.cast(self.first(cell, args[0]), "int64", True))
            both = self.builder.let("and", np.logical_and, self.matches(cell, args[0]), self.valid(cell))
            return number(self.builder.cast(self.builder.let("sum", np.sum, both), "int64", True))
        items = self.iterate(owner)
        equal = [self.equal(one, args[0]) for one in items]
        if name == "count":
            total: Value = Known(0)
            for flag in equal:
                total = self.binary(ast.Add(), total, number(self.builder.cast(flag, "int64", True)))
            return total
        found: Value = Known(len(items) - 1)
        for at in reversed(range(len(items) - 1)):
            flag = equal[at]
            if isinstance(flag, Var):
                found = self._choose(flag, Known(at), found)
            elif flag.value:
                found = Known(at)
        return found

    def _pop(self, ref: Ref, index: Value) -> Value:
        cell = self.store[ref]
        if isinstance(cell, ListCell):
            if isinstance(index, Known):
                return cell.items.pop(index.value)
            self.arrayify(ref)
            cell = self.many(ref)
        assert isinstance(cell, ManyCell)
        at = self.place(cell, index)
        value = self.arrays.item(ref, at, self.store)
        if isinstance(value, Elem):
            value = self.arrays.detached(value, self.store)
        if isinstance(index, Known) and index.value == -1:
            self.arrays.follow_removal(ref, at, self.store)
            cell.length = self.builder.joined("maximum", max, at, Const(0))
            if isinstance(cell.length, Var):
                cell.length.low, cell.length.high = 0, cell.capacity
        else:
            self.remove_at(ref, at)
        return value

    def _remove(self, ref: Ref, item: Value) -> None:
        """list.remove: the first equal item goes. Where none is, Python raises: that does not happen in a step."""
        cell = self.store[ref]
        if isinstance(cell, ListCell):
            flags = [self.equal(one, item) for one in cell.items]
            if all(isinstance(flag, Const) for flag in flags):
                del cell.items[[bool(flag.value) for flag in flags].index(True)]  # pyright: ignore[reportAttributeAccessIssue]
                return
            self.arrayify(ref)
            cell = self.many(ref)
        assert isinstance(cell, ManyCell)
        self.remove_at(ref, self.first(cell, item))

    def _choose(self, condition: Operand, yes: Value, no: Value) -> Value:
        """One of two values, by a condition."""
        name = f"$choice{len(self.frames)}"
        self.branch(condition, lambda: self.set_local(name, yes), lambda: self.set_local(name, no))
        return self.locals.pop(name)

    def sort(self, ref: Ref, keywords: dict[str, Value]) -> None:
        raise NotImplementedError
