"""Writes through views of views, as one write: `a[-1][:4][0] = x` is `a[-1, 0] = x`.

The program says such a write as NumPy's memory sees it: read a part, change it, put it back. In Rust that would be two
copies of the part.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from overclock.translate.ir.nodes import Let, Operand
from overclock.translate.ir.passes import copied
from overclock.translate.printing.walk import rewrite_lets
from overclock.translate.program import Function


def direct_writes(function: Function) -> Function:
    """A copy of a function in which a write into a part of an array is one write into the array."""
    found = dataclasses.replace(function, block=copied(function.block))
    rewrite_lets(found, _merge)
    return found


def _merge(outer: Let, made: Mapping[Operand, Let]) -> None:
    """base[first] = (base[first] with [second] = value) is base[first and second] = value."""
    inner = made.get(outer.args[1]) if outer.op == "setitem" else None
    if inner is None or inner.op != "setitem":
        return
    part, base = made.get(inner.args[0]), outer.args[0]
    if part is None or part.op != "getitem" or part.args[0] is not base:
        return
    first, second = outer.keywords["index"], inner.keywords["index"]
    if part.keywords["index"] != first:
        return
    index = _both(base.type.shape, first, second)
    if index is not None:
        outer.args = (base, inner.args[1], *outer.args[2:], *inner.args[2:])
        outer.keywords = {"index": index}


def _both(shape: tuple[int, ...], first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """One index for array[first][second]; None where it takes more than putting them together."""
    if not any(isinstance(part, tuple) for part in first) and not any(_shaped(part) for part in first):
        return (*first, *second)
    if len(first) != 1 or not isinstance(first[0], tuple) or first[0][0] != "slice" or not second:
        return None
    places = range(*slice(*first[0][1:]).indices(shape[0]))
    part = second[0]
    if isinstance(part, int):
        return (places[part], *second[1:])
    if isinstance(part, tuple) and part[0] == "slice":
        kept = places[slice(*part[1:])]
        if kept.step > 0 and kept.stop >= 0:
            return (("slice", kept.start, kept.stop, kept.step), *second[1:])
    return None


def _shaped(part: Any) -> bool:
    return hasattr(part, "type") and bool(part.type.shape)
