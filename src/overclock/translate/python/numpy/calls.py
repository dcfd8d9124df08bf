"""Calls of NumPy's functions. What is known is computed by NumPy itself; the types of results are always NumPy's.

A new function is one function and one row of `RULES` of its file; functions that are alike share a rule (`FAMILIES`).
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.values import TEXT, Known, Value, View
from overclock.translate.python.frames import LIBRARIES
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import new_flexible
from overclock.translate.python.memory.kinds import is_flexible, is_number, is_text, known_value
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.views import REMADE, remade, sharing
from overclock.translate.python.numpy import joining, making, reductions, searching, ufuncs
from overclock.translate.python.numpy.making import MAKERS, make_array
from overclock.translate.python.numpy.plain import PLAIN, plain_call
from overclock.translate.python.numpy.reductions import REDUCTIONS, reduction
from overclock.translate.python.purity import FILES

# Functions, other than those of views.py, whose result may share memory with their argument.
SHARING = (
    "flip", "fliplr", "flipud", "rot90", "squeeze", "expand_dims", "swapaxes", "moveaxis", "diagonal", "diag",
    "broadcast_to", "atleast_1d", "atleast_2d", "nan_to_num",
)  # fmt: skip
CHANGING = ("copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal")
ASARRAY = ("asarray", "asanyarray", "ascontiguousarray")  # give the array itself, where it is one
# What may be said by name, of functions with rules of their own; of ufuncs nothing.
KEYWORDS = {
    "array": {"copy", "ndmin"}, "clip": {"a_min", "a_max", "min", "max"}, "concatenate": {"axis"}, "stack": {"axis"},
    "allclose": {"rtol", "atol"}, "norm": {"ord", "axis"}, "append": {"axis"},
    "pad": {"pad_width", "mode", "constant_values"}, "digitize": {"bins", "right"},
}  # fmt: skip
LINEAR = ("norm", "outer", "matmul", "cross")  # of np.linalg


def is_numpy(inner: Any) -> bool:
    """Whether something is a function of NumPy, or one of its dtypes, which convert."""
    if isinstance(inner, np.ufunc):
        return True
    if isinstance(inner, type):
        return issubclass(inner, np.generic) or inner is np.ndarray
    named = hasattr(inner, "__name__")  # objects that can be called have none
    return named and (getattr(inner, "__module__", None) or "").split(".")[0] == "numpy"


def numpy_call(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of function(*args, **keywords) for a function of NumPy."""
    name = function.__name__
    known = getattr(np, name, None) is function or (name in LINEAR and getattr(np.linalg, name, None) is function)
    if name in CHANGING:
        raise UnsupportedError(_full_name(function))
    if name in FILES:
        raise UnsupportedError(f"{_full_name(function)}: what is in a file is not decided by the program alone")
    if known and name in REMADE and args and is_number(machine, machine.present(args[0])):
        return remade(machine, name, machine.present(args[0]), args[1:], keywords)
    found = [known_value(machine, one) for one in args]
    named = {key: known_value(machine, one) for key, one in keywords.items()}
    if all(ok for ok, _ in (*found, *named.values())) and "out" not in keywords and name not in ASARRAY:
        made = machine.constant(function(*(one for _, one in found), **{key: one for key, (_, one) in named.items()}))
        return sharing(machine, made, args[0]) if name in SHARING else made
    if any(is_text(machine, one) for one in args):
        return TEXT
    if isinstance(function, type):
        return machine.fresh(machine.builder.cast(machine.array(args[0]), np.dtype(function).name))
    if not known or (name not in RULES and name not in FAMILIES):
        raise UnsupportedError(f"{_full_name(function)} with values of the run time")
    out = keywords.pop("out", None)
    dtype = keywords.pop("dtype", None)
    if unknown := keywords.keys() - KEYWORDS.get(name, keywords.keys() if name in (*REDUCTIONS, *PLAIN) else set()):
        raise UnsupportedError(f"np.{name} with {min(unknown)}=")
    if name in RULES:
        result = RULES[name](machine, args, keywords)
    else:
        result = FAMILIES[name](machine, function, args, keywords)
    if dtype is not None and isinstance(dtype, Known) and dtype.value is not None:
        if is_flexible(machine, result):
            cell = many_cell(machine, result)
            return new_flexible(machine, machine.builder.cast(cell.leaves[0], np.dtype(dtype.value).name), cell.length)
        operand = machine.operand(result)
        if operand.type.dtype != np.dtype(dtype.value).name or operand.type.python:
            result = machine.fresh(machine.builder.cast(operand, np.dtype(dtype.value).name))
    if out is not None:
        target, steps = (out.base, out.steps) if isinstance(out, View) else (out, ())
        machine.arrays.assign(machine.mutable(target), steps, machine.operand(result), machine.store)
        return out
    return sharing(machine, result, args[0]) if name in SHARING else result


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


RULES: dict[str, Callable[[Machine, list[Value], dict[str, Value]], Value]] = {
    **making.RULES,
    **joining.RULES,
    **searching.RULES,
    **reductions.RULES,
    **ufuncs.RULES,
}
FAMILIES: dict[str, Callable[[Machine, Any, list[Value], dict[str, Value]], Value]] = {
    **dict.fromkeys(MAKERS, make_array),
    **dict.fromkeys(PLAIN, plain_call),
    **dict.fromkeys(REDUCTIONS, reduction),
    **ufuncs.FAMILIES,
}
