"""NumPy's functions and the methods of arrays. What is known is computed by NumPy itself; types are always NumPy's."""

import operator
from typing import Any

import numpy as np

from overclock.translate.errors import UnsupportedError
from overclock.translate.ir import Const, Operand, Var
from overclock.translate.layout import number
from overclock.translate.shapes import Number
from overclock.translate.values import (
    ArrayCell,
    DictCell,
    Known,
    ListCell,
    ManyCell,
    May,
    Num,
    ObjectCell,
    Pack,
    Ref,
    Value,
    View,
)  # fmt: skip
from overclock.translate.views import CHANGING, REMADE, SHARING, Views

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
    "broadcast_to": 1, "nan_to_num": 1, "searchsorted": 2, "interp": 3, "pad": 1, "round": 1, "around": 1,
    "convolve": 2, "take": 2, "isclose": 2, "atleast_1d": 1, "atleast_2d": 1, "diagonal": 1, "cumsum": 1,
}  # fmt: skip
STATIC_NAMES = {
    "transpose": ("axes",), "flip": ("axis",), "rot90": ("k", "axes"), "roll": ("shift", "axis"), "sort": ("axis",),
    "argsort": ("axis",), "diff": ("n", "axis"), "squeeze": ("axis",), "expand_dims": ("axis",), "reshape": ("shape",),
    "repeat": ("repeats", "axis"), "tile": ("reps",), "swapaxes": ("axis1", "axis2"),
    "moveaxis": ("source", "destination"), "triu": ("k",), "tril": ("k",), "trace": ("offset",), "diag": ("k",),
    "broadcast_to": ("shape",), "searchsorted": ("side",), "pad": ("pad_width", "mode"), "round": ("decimals",),
    "around": ("decimals",), "convolve": ("mode",), "take": ("axis",), "isclose": ("rtol", "atol"),
    "diagonal": ("offset",),
    "cumsum": ("axis",),
}  # fmt: skip
ASARRAY = ("asarray", "asanyarray", "ascontiguousarray")  # give the array itself, where it is one
# What may be said by name, of functions with rules of their own; of ufuncs nothing.
KEYWORDS = {
    "array": {"copy", "ndmin"}, "clip": {"a_min", "a_max", "min", "max"}, "concatenate": {"axis"}, "stack": {"axis"},
    "allclose": {"rtol", "atol"}, "norm": {"ord", "axis"}, "append": {"axis"},
}  # fmt: skip
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
        return (getattr(inner, "__module__", None) or "").split(".")[0] == "numpy"

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
        if name in CHANGING:
            raise UnsupportedError(f"np.{name}")
        if name in REMADE and args and self.is_number(self.present(args[0])):
            return self.remade(name, self.present(args[0]), args[1:], keywords)
        found = [self.known(one) for one in args]
        named = {key: self.known(one) for key, one in keywords.items()}
        if all(ok for ok, _ in (*found, *named.values())) and "out" not in keywords and name not in ASARRAY:
            made = self.constant(function(*(one for _, one in found), **{key: one for key, (_, one) in named.items()}))
            return self.sharing(made, args[0]) if name in SHARING else made
        if isinstance(function, type):
            return self.fresh(self.builder.cast(self._as_array(args[0]), np.dtype(function).name))
        out = keywords.pop("out", None)
        dtype = keywords.pop("dtype", None)
        if unknown := keywords.keys() - KEYWORDS.get(name, keywords.keys() if name in (*REDUCTIONS, *PLAIN) else set()):
            raise UnsupportedError(f"np.{name} with {min(unknown)}=")
        result = self._numpy(name, function, args, keywords)
        if dtype is not None and isinstance(dtype, Known) and dtype.value is not None:
            operand = self.operand(result)
            if operand.type.dtype != np.dtype(dtype.value).name or operand.type.python:
                result = self.fresh(self.builder.cast(operand, np.dtype(dtype.value).name))
        if out is not None:
            target, steps = (out.base, out.steps) if isinstance(out, View) else (out, ())
            self.arrays.assign(self.mutable(target), steps, self.operand(result), self.store)
            return out
        return self.sharing(result, args[0]) if name in SHARING else result

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
            from overclock.translate.ir import sample, type_of

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
        if isinstance(value, Ref) and isinstance(self.store[value], ManyCell):
            return self._reduce_many(name, value)
        operand = self.operand(value)
        static = {key: self.static(one) for key, one in keywords.items()}
        if len(args) > 1:
            static["axis"] = self.static(args[1])
        static = {key: one for key, one in static.items() if one is not None}
        function = getattr(np, name)
        compute = lambda array: np.asarray(function(array, **static))[()]  # noqa: E731
        if name in ("sum", "prod", "cumsum", "cumprod", "mean", "std", "var"):
            from overclock.translate.ir import sample, type_of

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
            dtype = np.dtype(cell.of.dtype)
            info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
            filled = self.masked(cell, info.max if name == "min" else info.min)
            return self.fresh(self._unpython(self.builder.let(name, getattr(np, name), filled)))
        raise UnsupportedError(f"np.{name} over a list of changing length")

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
            from overclock.translate.ir import common_dtype

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
        if self.is_number(value) and self.operand(value).type.shape:
            return value
        return self._np_array(args, {})

    _np_ascontiguousarray = _np_asarray
    _np_asanyarray = _np_asarray

    def _np_copy(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self.own(self._as_array(args[0]))

    def _np_where(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        condition = self._flag_array(self.operand(args[0]))
        if len(args) == 1:
            return self._nonzero(condition)
        from overclock.translate.ir import common_dtype

        yes, no = self.operand(args[1]), self.operand(args[2])
        dtype = common_dtype(yes, no)
        return self.fresh(self.where(condition, self.builder.cast(yes, dtype), self.builder.cast(no, dtype)))

    def _np_nonzero(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._nonzero(self._flag_array(self.operand(args[0])))

    def _np_flatnonzero(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        flags = self.builder.let("ravel", np.ravel, self._flag_array(self.operand(args[0])))
        (found,) = self._nonzero(flags).items
        return found

    def _np_argwhere(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        from overclock.translate.shapes import LIST, Fixed, Number

        columns = [self.many(one) for one in self._nonzero(self._flag_array(self.operand(args[0]))).items]
        first = columns[0]
        of = Fixed((Number("int64"),) * len(columns), LIST)
        return self.store.new(ManyCell(of, first.capacity, [one.leaves[0] for one in columns], first.length))

    def _nonzero(self, flags: Operand) -> Pack:
        """The places where flags hold, as lists of changing length."""
        from overclock.translate.shapes import Number

        size = flags.type.shape
        capacity = int(np.prod(size))
        length = self.builder.cast(self.builder.let("sum", np.sum, flags), "int64")
        flat = flags if len(size) == 1 else self.builder.let("ravel", np.ravel, flags)
        order = self.builder.let(
            "argsort",
            lambda a: np.argsort(~a, kind="stable"),
            self.builder.let("not", np.logical_not, flat),
            stable=True,
        )
        found: list[Value] = []
        for axis in range(len(size)):
            table = np.indices(size)[axis].ravel()
            column = order if len(size) == 1 else self.arrays.getitem(Const(table), (order,))
            found.append(self.store.new(ManyCell(Number("int64"), capacity, [column], length)))
        return Pack(tuple(found))

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
        return self._joined_arrays("stack", np.stack, self.iterate(args[0]), axis=self.static(axis))

    def _np_hstack(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._joined_arrays("hstack", np.hstack, self.iterate(args[0]))

    def _np_vstack(self, args: list[Value], keywords: dict[str, Value]) -> Value:
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
        from overclock.translate.ir import common_dtype

        operands = [self._as_array(one) for one in items]
        dtype = common_dtype(*operands)
        operands = [self.builder.cast(one, dtype) for one in operands]
        compute = lambda *arrays: function(arrays, **static)  # noqa: E731
        return self.fresh(self.builder.let(name, compute, *operands, several=True, **static))

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
                return number(self.builder.cast(operand, operand.type.dtype, True))
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

    def _flat(self, owner: Value) -> Value:
        return self.own(self.builder.let("ravel", np.ravel, self.operand(owner)))

    def _tolist(self, operand: Operand) -> Value:
        if not operand.type.shape:
            return number(self.builder.cast(operand, operand.type.dtype, True))
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


__all__ = ["May", "NumpyCalls", "ObjectCell"]
