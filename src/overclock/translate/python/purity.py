"""Which functions of Python itself may be called while a translation is made, in place of a program that calls them.

Only those whose result follows from their arguments, today as in ten years: no files, no clocks, no addresses.
"""

import functools
import operator
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, ModuleType
from typing import Any

MODULES = frozenset({
    "builtins", "math", "cmath", "operator", "_operator", "itertools", "functools", "_functools", "bisect", "_bisect",
    "heapq", "_heapq", "struct", "_struct", "binascii", "zlib",
})  # fmt: skip
NOT_THESE = frozenset({
    "open", "input", "eval", "exec", "compile", "__import__", "globals", "locals", "vars", "breakpoint", "id", "hash",
    "print",
})  # fmt: skip
PLAIN = (bool, int, float, complex, str, bytes, tuple, frozenset, range, list, dict, set, type(None))
MADE = (
    functools.partial,
    operator.itemgetter,
    operator.attrgetter,
    operator.methodcaller,
    functools._lru_cache_wrapper,
)
# Of NumPy, which is called by name.
FILES = frozenset({
    "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "open_memmap", "save", "savetxt", "savez",
    "savez_compressed", "tofile",
})  # fmt: skip


def only_computes(function: Any) -> bool:
    """Whether a function that has no source gives the same for the same arguments, always."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, ModuleType):
        return owner.__name__ in MODULES and function.__name__ not in NOT_THESE
    if isinstance(function, BuiltinFunctionType | MethodWrapperType):
        return isinstance(owner, PLAIN) or owner in PLAIN
    return isinstance(function, (MethodDescriptorType, *MADE))
