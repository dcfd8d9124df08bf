"""NumPy's functions and the methods of arrays. What is known is computed by NumPy itself; types are always NumPy's."""

import operator
import sys
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Choice, Number
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.values import (
    ArrayCell,
    DictCell,
    Known,
    ListCell,
    ManyCell,
    May,
    Num,
    ObjectCell,
    Pack,
    Pick,
    Ref,
    Rows,
    Value,
    View,
    Window,
    same_operand,
)  # fmt: skip
from overclock.translate.python.expressions import TEXT
from overclock.translate.python.frames import LIBRARIES
from overclock.translate.python.purity import FILES
from overclock.translate.python.views import CHANGING, REMADE, SHARING, Views

BINARY_UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
    "floor_divide": "floordiv", "mod": "mod", "remainder": "mod", "power": "power", "minimum": "minimum",
    "maximum": "maximum", "arctan2": "arctan2", "hypot": "hypot", "equal": "eq", "not_equal": "ne", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "fmod": "fmod", "copysign": "copysign", "left_shift": "lshift", "right_shift": "rshift",
}  # fmt: skip
LOGICAL_UFUNCS = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
UNARY_UFUNCS = {
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "exp2", "log", "log2", "log10",
    "log1p", "expm1", "sqrt", "cbrt", "square", "sign", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite",
    "rad2deg", "deg2rad", "degrees", "radians", "negative", "absolute", "abs", "fabs", "logical_not", "invert",
    "reciprocal",
}  # fmt: skip
UNARY_NAMES = {
    "negative": "neg",
    "absolute": "abs",
    "fabs": "abs",
    "logical_not": "not",
    "degrees": "rad2deg",
    "radians": "deg2rad",
}
REDUCTIONS = ("sum", "prod", "mean", "std", "var", "min", "max", "amin", "amax", "any", "all", "argmin", "argmax",
              "cumsum", "cumprod", "count_nonzero", "median", "ptp")  # fmt: skip
REDUCTION_NAMES = {"amin": "min", "amax": "max"}
# Functions of one or more arrays whose further arguments are static: name -> how many arrays come first.
PLAIN = {
    "transpose": 1, "ravel": 1, "flip": 1, "fliplr": 1, "flipud": 1, "rot90": 1, "roll": 1, "sort": 1, "argsort": 1,
    "diff": 1, "squeeze": 1, "expand_dims": 1, "reshape": 1, "repeat": 1, "tile": 1, "swapaxes": 1, "moveaxis": 1,
    "triu": 1, "tril": 1, "trace": 1, "diag": 1, "dot": 2, "inner": 2, "outer": 2, "cross": 2, "matmul": 2, "kron": 2,
    "broadcast_to": 1, "nan_to_num": 1, "searchsorted": 2, "interp": 3, "round": 1, "around": 1,
    "convolve": 2, "take": 2, "isclose": 2, "atleast_1d": 1, "atleast_2d": 1, "diagonal": 1, "cumsum": 1,
}  # fmt: skip
STATIC_NAMES = {
    "transpose": ("axes",), "flip": ("axis",), "rot90": ("k", "axes"), "roll": ("shift", "axis"), "sort": ("axis",),
    "argsort": ("axis",), "diff": ("n", "axis"), "squeeze": ("axis",), "expand_dims": ("axis",), "reshape": ("shape",),
    "repeat": ("repeats", "axis"), "tile": ("reps",), "swapaxes": ("axis1", "axis2"),
    "moveaxis": ("source", "destination"), "triu": ("k",), "tril": ("k",), "trace": ("offset",), "diag": ("k",),
    "broadcast_to": ("shape",), "searchsorted": ("side",), "round": ("decimals",),
    "around": ("decimals",), "convolve": ("mode",), "take": ("axis",), "isclose": ("rtol", "atol"),
    "diagonal": ("offset",),
    "cumsum": ("axis",),
}  # fmt: skip
ASARRAY = ("asarray", "asanyarray", "ascontiguousarray")  # give the array itself, where it is one
# What may be said by name, of functions with rules of their own; of ufuncs nothing.
KEYWORDS = {
    "array": {"copy", "ndmin"}, "clip": {"a_min", "a_max", "min", "max"}, "concatenate": {"axis"}, "stack": {"axis"},
    "allclose": {"rtol", "atol"}, "norm": {"ord", "axis"}, "append": {"axis"},
    "pad": {"pad_width", "mode", "constant_values"}, "digitize": {"bins", "right"},
}  # fmt: skip
LINEAR = ("norm", "outer", "matmul", "cross")  # of np.linalg
MAKERS = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "full_like", "empty_like", "arange", "linspace",
          "eye", "identity", "tri", "indices", "meshgrid")  # fmt: skip


class NumpyCalls(Views):
    """What NumPy's functions mean."""

    def is_numpy(self, inner: Any) -> bool:
        """NumPy's functions, and its dtypes as converters."""
        if isinstance(inner, np.ufunc):
            return True
        if isinstance(inner, type):
            return issubclass(inner, np.generic) or inner is np.ndarray
        named = hasattr(inner, "__name__")  # objects that can be called have none
        return named and (getattr(inner, "__module__", None) or "").split(".")[0] == "numpy"

    def known(self, value: Value) -> tuple[bool, Any]:
        """(whether everything about a value is known, the value)."""
        match value:
            case Known(inner):
                return True, inner
            case Pack(items) if not isinstance(value.cls, str):
                found = [self.known(item) for item in items]
                return all(ok for ok, _ in found), tuple(one for _, one in found)
            case Ref():
                cell = self.store[value]
                if isinstance(cell, ArrayCell):
                    return isinstance(cell.operand, Const), getattr(cell.operand, "value", None)
                if isinstance(cell, ListCell):
                    found = [self.known(item) for item in cell.items]
                    return all(ok for ok, _ in found), [one for _, one in found]
                if isinstance(cell, DictCell):
                    pairs = {key: self.known(item) for key, item in cell.items.items()}
                    return all(ok for ok, _ in pairs.values()), {key: one for key, (_, one) in pairs.items()}
            case View():
                operand = self.operand(value)
                return isinstance(operand, Const), getattr(operand, "value", None)
        return False, None

    def numpy_call(self, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A function of NumPy."""
        name = function.__name__
        known = getattr(np, name, None) is function or (name in LINEAR and getattr(np.linalg, name, None) is function)
        if name in CHANGING:
            raise UnsupportedError(_full_name(function))
        if name in FILES:
            raise UnsupportedError(f"{_full_name(function)}: what is in a file is not decided by the program alone")
        if known and name in REMADE and args and self.is_number(self.present(args[0])):
            return self.remade(name, self.present(args[0]), args[1:], keywords)
        found = [self.known(one) for one in args]
        named = {key: self.known(one) for key, one in keywords.items()}
        if all(ok for ok, _ in (*found, *named.values())) and "out" not in keywords and name not in ASARRAY:
            made = self.constant(function(*(one for _, one in found), **{key: one for key, (_, one) in named.items()}))
            return self.sharing(made, args[0]) if name in SHARING else made
        if any(map(self._is_text, args)):
            return TEXT
        if isinstance(function, type):
            return self.fresh(self.builder.cast(self._as_array(args[0]), np.dtype(function).name))
        if not known or not self._has_rule(name):
            raise UnsupportedError(f"{_full_name(function)} with values of the run time")
        out = keywords.pop("out", None)
        dtype = keywords.pop("dtype", None)
        if unknown := keywords.keys() - KEYWORDS.get(name, keywords.keys() if name in (*REDUCTIONS, *PLAIN) else set()):
            raise UnsupportedError(f"np.{name} with {min(unknown)}=")
        result = self._numpy(name, function, args, keywords)
        if dtype is not None and isinstance(dtype, Known) and dtype.value is not None:
            if self.is_flexible(result):
                cell = self.many(result)
                return self.flexible(self.builder.cast(cell.leaves[0], np.dtype(dtype.value).name), cell.length)
            operand = self.operand(result)
            if operand.type.dtype != np.dtype(dtype.value).name or operand.type.python:
                result = self.fresh(self.builder.cast(operand, np.dtype(dtype.value).name))
        if out is not None:
            target, steps = (out.base, out.steps) if isinstance(out, View) else (out, ())
            self.arrays.assign(self.mutable(target), steps, self.operand(result), self.store)
            return out
        return self.sharing(result, args[0]) if name in SHARING else result

    def _is_text(self, value: Value) -> bool:
        """Texts, of which at least one is chosen at run time, and lists of such."""
        match value:
            case Pick(_, options):
                return all(isinstance(one, str) for one in options)
            case Ref() if isinstance(cell := self.store[value], ListCell):
                return any(map(self._is_text, cell.items))
            case Ref() if isinstance(cell := self.store[value], ManyCell) and isinstance(cell.of, Choice):
                return all(isinstance(one, str) for one in cell.of.options)
        return value is TEXT

    def _has_rule(self, name: str) -> bool:
        tables = (BINARY_UFUNCS, LOGICAL_UFUNCS, UNARY_UFUNCS, REDUCTIONS, PLAIN, MAKERS)
        return hasattr(self, f"_np_{name}") or any(name in table for table in tables)

    def _as_array(self, value: Value) -> Operand:
        value = self.present(value)
        operand = self.operand(value)
        if operand.type.python:
            operand = self.builder.cast(operand, operand.type.dtype, False)
        return operand

    def _numpy(self, name: str, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
        special = getattr(self, f"_np_{name}", None)
        if special is not None:
            return special(args, keywords)
        if name in BINARY_UFUNCS and len(args) == 2:
            return self.fresh(
                self._unpython(self.builder.joined(BINARY_UFUNCS[name], function, *map(self.operand, args)))
            )
        if name in LOGICAL_UFUNCS and len(args) == 2:
            flags = [self._flag_array(self.operand(one)) for one in args]
            return self.fresh(self._unpython(self.builder.let(LOGICAL_UFUNCS[name], function, *flags)))
        if name in UNARY_UFUNCS:
            operand = self.operand(args[0])
            if name == "logical_not":
                operand = self._flag_array(operand)
            return self.fresh(self._unary(name, function, operand))
        if name in REDUCTIONS:
            return self._reduce(name, args, keywords)
        if name in PLAIN:
            return self._plain_call(name, function, args, keywords)
        if name in MAKERS:
            return self._maker(name, function, args, keywords)
        raise UnsupportedError(f"np.{name} with values of the run time")

    def _unary(self, name: str, function: Any, operand: Operand) -> Operand:
        if operand.type.kind in "biu" and isinstance(operand, Var):
            from overclock.translate.ir.nodes import sample, type_of

            result = type_of(function(sample(operand)))
            if result.kind == "f":
                operand = self.builder.cast(operand, result.dtype)
        return self._unpython(self.builder.let(UNARY_NAMES.get(name, name), function, operand))

    def _unpython(self, operand: Operand) -> Operand:
        return self.builder.cast(operand, operand.type.dtype, False)

    def _flag_array(self, operand: Operand) -> Operand:
        if operand.type.kind == "b":
            return operand
        return self.builder.joined("ne", operator.ne, operand, Const(0))

    def _reduce(self, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        name = REDUCTION_NAMES.get(name, name)
        value = self.present(args[0])
        if isinstance(value, Pack) and len(value.items) == 1 and not isinstance(value.cls, str):
            value = value.items[0]  # what np.where gives for one axis
        if isinstance(value, Window | Ref) and (isinstance(value, Window) or isinstance(self.store[value], ManyCell)):
            if len(args) > 1 or keywords:
                raise UnsupportedError(f"np.{name} of something whose length is not known, with more arguments")
            return self._reduce_window(name, value) if isinstance(value, Window) else self._reduce_many(name, value)
        operand = self.operand(value)
        static = {key: self.static(one) for key, one in keywords.items()}
        if len(args) > 1:
            static["axis"] = self.static(args[1])
        static = {key: one for key, one in static.items() if one is not None}
        function = getattr(np, name)
        compute = lambda array: np.asarray(function(array, **static))[()]  # noqa: E731
        if name in ("sum", "prod", "cumsum", "cumprod", "mean", "std", "var"):
            from overclock.translate.ir.nodes import sample, type_of

            result = type_of(compute(sample(operand)))
            operand = self.builder.cast(operand, result.dtype)
        if name in ("any", "all"):
            operand = self._flag_array(operand)
        return self.fresh(self._unpython(self.builder.let(name, compute, operand, **static)))

    def _reduce_many(self, name: str, ref: Ref) -> Value:
        cell = self.many(ref)
        if name in ("sum", "any", "all"):
            filled = self.masked(cell, name == "all")
            if name == "sum" and filled.type.kind == "b":
                filled = self.builder.cast(filled, "int64")
            if name in ("any", "all"):
                filled = self._flag_array(filled)
            return self.fresh(self._unpython(self.builder.let(name, getattr(np, name), filled)))
        if name == "mean":
            total = self.builder.cast(self.builder.let("sum", np.sum, self.masked(cell, 0)), "float64")
            return self.fresh(self.builder.joined("truediv", operator.truediv, total, cell.length))
        if name in ("min", "max") and isinstance(cell.of, Number) and np.dtype(cell.of.dtype).kind in "iuf":
            filled = self.masked(cell, extreme(np.dtype(cell.of.dtype), name))
            return self.fresh(self._unpython(self.builder.let(name, getattr(np, name), filled)))
        raise UnsupportedError(f"np.{name} over a list of changing length")

    def _reduce_window(self, name: str, window: Window) -> Value:
        if name not in ("sum", "any", "all", "min", "max"):
            raise UnsupportedError(f"np.{name} over a part of an array between bounds that are not known")
        kind = np.dtype(self.operand(window.base).type.dtype)
        padding = extreme(kind, name) if name in ("min", "max") else name == "all"
        return self._reduce(name, [self.fresh(self.filled(window, padding))], {})

    def _plain_call(self, name: str, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
        count = PLAIN[name]
        operands = [self._as_array(one) for one in args[:count]]
        static = dict(
            zip(STATIC_NAMES.get(name, ()), (self._static_or_none(one) for one in args[count:]), strict=False)
        )
        if len(args) - count > len(static):
            raise UnsupportedError(f"np.{name} with {len(args)} arguments")
        static |= {key: self.static(one) for key, one in keywords.items()}
        if name == "roll" and isinstance(static.get("shift"), Var):
            return self._roll(operands[0], static["shift"], static.get("axis"))
        if any(isinstance(one, Var) for one in static.values()):
            raise UnsupportedError(f"np.{name} with an argument that must be known")
        static = {key: one for key, one in static.items() if one is not None}
        if count > 1 and name in ("dot", "inner", "outer", "cross", "matmul", "kron", "convolve"):
            from overclock.translate.ir.nodes import common_dtype

            dtype = common_dtype(*operands)
            operands = [self.builder.cast(one, dtype) for one in operands]
        compute = lambda *arrays: np.asarray(function(*arrays, **static))[()]  # noqa: E731
        return self.fresh(self._unpython(self.builder.let(name, compute, *operands, **static)))

    def _static_or_none(self, value: Value) -> Any:
        ok, inner = self.known(value)
        return inner if ok else self.operand(value)

    def _roll(self, operand: Operand, shift: Var, axis: Any) -> Value:
        compute = lambda array, by: np.roll(array, int(by), axis=axis)  # noqa: E731
        keywords = {} if axis is None else {"axis": axis}
        return self.fresh(self.builder.let("roll", compute, operand, shift, **keywords))

    def _maker(self, name: str, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
        if name in ("zeros_like", "ones_like", "empty_like", "full_like"):
            base = self.operand(args[0])
            fill = {"zeros_like": 0, "ones_like": 1, "empty_like": 0}.get(name)
            value = Const(np.dtype(base.type.dtype).type(fill)) if fill is not None else self.operand(args[1])
            return self.fresh(self.arrays.full_like(Const(np.zeros(base.type.shape, base.type.dtype)), value))
        if name == "full":
            size = self.static(args[0])
            value = self._as_array(args[1])
            shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
            return self.fresh(self.arrays.full_like(Const(np.zeros(shape, value.type.dtype)), value))
        raise UnsupportedError(f"np.{name} with a size that is not known")

    # ---- functions with rules of their own ----

    def _np_array(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        box = self.present(args[0])
        if isinstance(box, Ref) and isinstance(cell := self.store[box], ManyCell) and isinstance(cell.length, Var):
            if len(args) > 1 or keywords:
                raise UnsupportedError("np.array of something whose length is not known, with more arguments")
            return self.as_flexible(box)
        if self.is_sequence(box) and (rows := self._rows(box)) is not None:
            return rows
        operand = self._as_array(args[0])
        if len(args) > 1:
            operand = self.builder.cast(operand, np.dtype(self.static(args[1])).name)
        depth, copy = keywords.get("ndmin"), keywords.get("copy")
        if depth is not None and len(operand.type.shape) < self.static(depth):
            raise UnsupportedError("np.array with ndmin")
        if copy is not None and self.static(copy) is not True:
            raise UnsupportedError("np.array with copy=")
        return self.own(operand)

    def _np_asarray(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        value = self.present(args[0])
        if len(args) > 1:
            raise UnsupportedError("np.asarray with a dtype that has no name")
        if self.is_flexible(value):
            return value
        if self.is_number(value) and self.operand(value).type.shape:
            return value
        return self._np_array(args, {})

    _np_ascontiguousarray = _np_asarray
    _np_asanyarray = _np_asarray

    def _np_copy(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._np_array(args, {})

    def _rows(self, box: Value) -> Rows | None:
        """Arrays of a length that is not known, on top of each other."""
        items = self.layout.items(box, self.store) if not self.is_numbers(box) else []
        if not any(map(self.is_flexible, items)):
            return None
        length = next(self.many(one).length for one in items if self.is_flexible(one))
        if not all(self.is_flexible(one) and same_operand(self.many(one).length, length) for one in items):
            raise UnsupportedError("arrays whose lengths are not known are put on top of each other")
        return Rows(tuple(self.as_flexible(one) for one in items))

    def _np_where(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        if len(args) == 1:
            return self._np_nonzero(args, {})
        condition = self._flag_array(self.operand(args[0]))
        from overclock.translate.ir.nodes import common_dtype

        yes, no = self.operand(args[1]), self.operand(args[2])
        dtype = common_dtype(yes, no)
        return self.fresh(self.where(condition, self.builder.cast(yes, dtype), self.builder.cast(no, dtype)))

    def _np_nonzero(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        box = self.present(args[0])
        if not self.is_flexible(box):
            return self.nonzero(self._flag_array(self.operand(box)))
        cell = self.many(box)
        return self.nonzero(self.builder.let("and", np.logical_and, self._flag_array(cell.leaves[0]), self.valid(cell)))

    def _np_unique(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        box = self.present(args[0])
        if self.is_flexible(box):
            cell = self.many(box)
            items, valid = self.masked(cell, extreme(np.dtype(cell.leaves[0].type.dtype), "min")), self.valid(cell)
        else:
            items = self.builder.let("ravel", np.ravel, self._as_array(box))
            valid = Const(np.ones(items.type.shape, bool))
        if items.type.kind not in "biu" or len(args) > 1:
            raise UnsupportedError("np.unique of numbers that are no whole ones, or with more arguments")
        items = self.builder.let("sort", np.sort, items)
        before, behind = (self.arrays.getitem(items, (("slice", *cut, None),)) for cut in ((None, -1), (1, None)))
        new = self.builder.joined("ne", operator.ne, behind, before)
        first = self.builder.let(
            "concatenate", lambda *a: np.concatenate(a), Const(np.ones(1, bool)), new, several=True
        )
        return self.where_mask(self.own(items), self.builder.let("and", np.logical_and, first, valid))

    def _np_digitize(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        """By a search in the limits, as NumPy does it; falling limits are counted from the other end."""
        given = dict(zip(("x", "bins", "right"), args, strict=False)) | keywords
        limits, right = np.asarray(self.static(given["bins"])), bool(self.static(given.get("right", Known(False))))
        if limits.ndim != 1 or not len(limits) or np.isnan(limits).any():
            raise UnsupportedError("np.digitize with limits that are no row of numbers")
        rises, falls = (np.diff(limits) >= 0).all(), (np.diff(limits) <= 0).all()
        if not rises and not falls:
            raise UnsupportedError("np.digitize with limits that are not in order")
        value = self._as_array(given["x"])
        dtype = np.result_type(limits, np.dtype(value.type.dtype))  # JAX would meet floats and whole numbers elsewhere
        ordered = Known((limits if rises else limits[::-1]).astype(dtype))
        searched = [ordered, self.fresh(self.builder.cast(value, dtype.name))]
        side = "left" if right else "right"
        found = self._plain_call("searchsorted", np.searchsorted, searched, {"side": Known(side)})
        if rises:
            return found
        return self.fresh(self.builder.joined("sub", operator.sub, Const(np.int64(len(limits))), self.operand(found)))

    def _np_flatnonzero(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        flags = self.builder.let("ravel", np.ravel, self._flag_array(self.operand(args[0])))
        (found,) = self.nonzero(flags).items
        return found

    def _np_argwhere(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        columns = [self.many(one) for one in self.nonzero(self._flag_array(self.operand(args[0]))).items]
        places = self.builder.let(
            "stack", lambda *a: np.stack(a, axis=1), *(one.leaves[0] for one in columns), several=True, axis=1
        )
        return self.flexible(places, columns[0].length)

    def _np_clip(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        low = args[1] if len(args) > 1 else keywords.get("a_min", keywords.get("min", Known(None)))
        high = args[2] if len(args) > 2 else keywords.get("a_max", keywords.get("max", Known(None)))
        found = self.operand(args[0])
        for bound, op, function in ((low, "maximum", np.maximum), (high, "minimum", np.minimum)):
            if not (isinstance(bound, Known) and bound.value is None):
                found = self.builder.joined(op, function, found, self.operand(bound))
        return self.fresh(self._unpython(found))

    def _np_concatenate(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        axis = keywords.get("axis", args[1] if len(args) > 1 else Known(0))
        return self._joined_arrays("concatenate", np.concatenate, self.iterate(args[0]), axis=self.static(axis))

    def _np_stack(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        axis = keywords.get("axis", args[1] if len(args) > 1 else Known(0))
        if self.static(axis) == 0 and (rows := self._rows(args[0])) is not None:
            return rows
        return self._joined_arrays("stack", np.stack, self.iterate(args[0]), axis=self.static(axis))

    def _np_hstack(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._joined_arrays("hstack", np.hstack, self.iterate(args[0]))

    def _np_vstack(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        if (rows := self._rows(args[0])) is not None:
            return rows
        return self._joined_arrays("vstack", np.vstack, self.iterate(args[0]))

    def _np_column_stack(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._joined_arrays("column_stack", np.column_stack, self.iterate(args[0]))

    def _np_append(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        operands = [self._as_array(one) for one in args[:2]]
        if keywords or len(args) > 2:
            raise UnsupportedError("np.append along an axis")
        flat = [self.builder.let("ravel", np.ravel, one) for one in operands]
        return self._joined_arrays("concatenate", np.concatenate, [self.fresh(one) for one in flat])

    def _joined_arrays(self, name: str, function: Any, items: list[Value], **static: Any) -> Value:
        from overclock.translate.ir.nodes import common_dtype

        operands = [self._as_array(one) for one in items]
        dtype = common_dtype(*operands)
        operands = [self.builder.cast(one, dtype) for one in operands]
        compute = lambda *arrays: function(arrays, **static)  # noqa: E731
        return self.fresh(self.builder.let(name, compute, *operands, several=True, **static))

    def _np_pad(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        mode = self.static(args[2] if len(args) > 2 else keywords.get("mode", Known("constant")))
        value = self.static(keywords.get("constant_values", Known(0)))
        if mode != "constant" or np.ndim(value):
            raise UnsupportedError("np.pad in another way than with one constant")
        operand = self._as_array(args[0])
        around = self.static(args[1] if len(args) > 1 else keywords["pad_width"])
        widths = [tuple(map(int, pair)) for pair in np.broadcast_to(around, (len(operand.type.shape), 2))]
        if not value:
            return self.fresh(self.builder.let("pad", lambda array: np.pad(array, widths), operand, widths=widths))
        whole = Const(np.pad(np.zeros(operand.type.shape, operand.type.dtype), widths, constant_values=value))
        inner = zip(widths, operand.type.shape, strict=True)
        index = tuple(("slice", before, before + size, None) for (before, _), size in inner)
        return self.fresh(self.arrays.setitem(whole, index, operand))

    def _np_array_equal(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        a, b = (self._as_array(one) for one in args[:2])
        if a.type.shape != b.type.shape:
            return Known(False)
        equal = self.builder.joined("eq", operator.eq, a, b)
        return number(self.builder.cast(self.builder.let("all", np.all, equal), "bool", True))

    def _np_allclose(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        close = self._plain_call("isclose", np.isclose, args, keywords)
        return number(self.builder.cast(self.builder.let("all", np.all, self.operand(close)), "bool", True))

    def _np_isin(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        item, box = self._as_array(args[0]), self.builder.let("ravel", np.ravel, self._as_array(args[1]))
        spread = self.arrays.getitem(item, (("rest",), ("new",)))
        equal = self.builder.joined("eq", operator.eq, spread, box)
        return self.fresh(self.builder.let("any", lambda a: np.any(a, axis=-1), equal, axis=-1))

    def _np_norm(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        if len(args) > 1 or keywords:
            raise UnsupportedError("np.linalg.norm with an order or an axis")
        operand = self._as_array(args[0])
        squares = self.builder.let(
            "square",
            np.square,
            self.builder.cast(operand, operand.type.dtype if operand.type.kind == "f" else "float64"),
        )
        return self.fresh(self.builder.let("sqrt", np.sqrt, self.builder.let("sum", np.sum, squares)))

    def _np_fill_diagonal(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        raise UnsupportedError("np.fill_diagonal")

    def _np_ndim(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Known(len(self.operand(args[0]).type.shape))

    def _np_shape(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Known(self.operand(args[0]).type.shape)

    def _np_size(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Known(int(np.prod(self.operand(args[0]).type.shape)))

    def _np_isscalar(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Known(isinstance(args[0], Num))

    def _np_unravel_index(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        size = self.static(args[1])
        left = self._as_array(args[0])
        parts: list[Value] = []
        for extent in reversed(size):
            parts.append(self.fresh(self._unpython(self.builder.joined("mod", operator.mod, left, Const(int(extent))))))
            left = self.builder.joined("floordiv", operator.floordiv, left, Const(int(extent)))
        return Pack(tuple(reversed(parts)))

    def _np_ravel_multi_index(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        size = self.static(args[1])
        total: Operand = Const(np.int64(0))
        for part, extent in zip(self.iterate(args[0]), size, strict=True):
            scaled = self.builder.joined("mul", operator.mul, total, Const(int(extent)))
            total = self.builder.joined("add", operator.add, scaled, self._as_array(part))
        return self.fresh(total)

    # ---- methods of arrays ----

    def array_method(self, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        """owner.name(*args) of an array or a number."""
        if self.is_partial(owner):
            return self._partial_method(name, owner, args, keywords)
        if name in ("fill", "sort") or (name == "clip" and "out" in keywords):
            return self._array_change(name, owner, args, keywords)
        match name:
            case "copy" | "__copy__":
                return self.own(self.operand(owner))
            case "item":
                if args:
                    owner = self.array_item(self._flat(owner), (self.static(args[0]),))
                operand = self.operand(owner)
                while operand.type.shape:
                    operand = self.arrays.getitem(operand, (0,))
                return number(self.builder.cast(operand, python_dtype(operand.type.kind), True))
            case "astype":
                to = np.dtype(self.static(args[0] if args else keywords["dtype"])).name
                made = self.fresh(self.builder.cast(self.operand(owner), to))
                return self.sharing(made, owner) if "copy" in keywords or len(args) > 1 else made
            case "tolist":
                return self._tolist(self.operand(owner))
            case "flatten" if not args and not keywords:
                return self.own(self.builder.let("ravel", np.ravel, self.operand(owner)))
            case "ravel" | "reshape" | "transpose":
                return self.remade(name, owner, args, keywords)
            case "nonzero":
                return self._np_nonzero([owner], {})
            case "dot":
                return self._numpy("dot", np.dot, [owner, *args], keywords)
            case "is_integer":
                floor = self.builder.let("floor", np.floor, self.operand(owner))
                return self.fresh(self.builder.joined("eq", operator.eq, floor, self.operand(owner)))
        if hasattr(np, name):
            return self.numpy_call(getattr(np, name), [owner, *args], keywords)
        raise UnsupportedError(f"the method '{name}' of an array")

    def _partial_method(self, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        """owner.name(*args) of an array whose shape is not known."""
        if name in REDUCTIONS:
            return self._reduce(name, [owner, *args], keywords)
        if self.is_flexible(owner) and name in ("copy", "astype", "tolist"):
            cell = self.many(owner)
            if name == "copy":
                return self.as_flexible(owner)
            if name == "astype":
                to = np.dtype(self.static(args[0] if args else keywords["dtype"])).name
                return self.flexible(self.builder.cast(cell.leaves[0], to), cell.length)
            if isinstance(cell.of, Number):
                to = python_dtype(np.dtype(cell.of.dtype).kind)
                items = self.builder.cast(cell.leaves[0], to)
                return self.store.new(ManyCell(Number(to, True), cell.capacity, [items], cell.length))
        if name == "item" and not args:
            return self.item(owner, Known((0, 0) if isinstance(owner, Rows) else 0))
        flat = name in ("ravel", "flatten", "reshape") and [self.static(one) for one in args] in ([], [-1], [(-1,)])
        if flat and isinstance(owner, Rows) and len(owner.items) == 1:
            return owner.items[0]
        raise UnsupportedError(f"the method '{name}' of an array whose length is not known")

    def _flat(self, owner: Value) -> Value:
        return self.own(self.builder.let("ravel", np.ravel, self.operand(owner)))

    def _tolist(self, operand: Operand) -> Value:
        if not operand.type.shape:
            return number(self.builder.cast(operand, python_dtype(operand.type.kind), True))
        rows = [self._tolist(self.arrays.getitem(operand, (at,))) for at in range(operand.type.shape[0])]
        return self.store.new(ListCell(rows))

    def _array_change(self, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        target, steps = (owner.base, owner.steps) if isinstance(owner, View) else (owner, ())
        ref = self.mutable(target)
        if name == "fill":
            operand = self.arrays.full_like(self.operand(owner), self.operand(args[0]))
        elif name == "sort":
            axis = self.static(args[0] if args else keywords.get("axis", Known(-1)))
            operand = self.builder.let("sort", lambda a: np.sort(a, axis), self.operand(owner), axis=axis)
        else:
            operand = self.operand(self._np_clip([owner, *args], {k: v for k, v in keywords.items() if k != "out"}))
        self.arrays.assign(ref, steps, operand, self.store)
        return Known(None)

    def mutable(self, value: Value) -> Ref:
        raise NotImplementedError


def _full_name(function: Any) -> str:
    """'np.sin', or the module and the name of a function of another library."""
    name = function.__name__
    if getattr(np, name, None) is function:
        return f"np.{name}"
    # Compiled functions do not know their module.
    modules = [one for one in sys.modules if one.split(".")[0] in LIBRARIES and "._" not in one]
    own = getattr(function, "__module__", None)
    found = own or next((one for one in modules if getattr(sys.modules[one], name, None) is function), None)
    return f"{found}.{name}" if found else name


def extreme(dtype: np.dtype, name: str) -> Any:
    """What no number is larger than (for `min`) or smaller than (for `max`)."""
    if dtype.kind == "f":
        return np.inf if name == "min" else -np.inf
    if dtype.kind == "b":
        return name == "min"
    return np.iinfo(dtype).max if name == "min" else np.iinfo(dtype).min


def python_dtype(kind: str) -> str:
    """What `item` and `tolist` make of a number of NumPy's."""
    return {"b": "bool", "f": "float64"}.get(kind, "int64")


__all__ = ["May", "NumpyCalls", "ObjectCell"]
