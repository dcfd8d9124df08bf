"""Negative places: JAX counts them from the end as NumPy does, so what the program does about them can go."""

from collections.abc import Mapping
from typing import Any

from overclock.translate.ir.nodes import Const, Let, Operand, Var
from overclock.translate.printing.walk import rewrite_lets
from overclock.translate.program import Function

Made = Mapping[Operand, Let]


def plain_places(function: Function) -> None:
    """`array[where(at < 0, at + size, at)]` is `array[at]`; a place outside of the array is an error of the source."""
    rewrite_lets(function, _index)


def _index(let: Let, made: Made) -> None:
    index = let.keywords["index"] if let.op in ("getitem", "setitem") else ()
    if any(isinstance(part, tuple) and part[0] != "slice" for part in index):
        return  # a new axis or `...`: places are not the axes
    args, parts = list(let.args), list[Any](index)
    at = 1 if let.op == "getitem" else 2
    for axis, part in enumerate(index):
        if isinstance(part, Var | Const):
            args[at] = parts[axis] = _counted_from_end(args[at], let.args[0].type.shape[axis], made)
            at += 1
    if index:
        let.args, let.keywords = tuple(args), {**let.keywords, "index": tuple(parts)}


def _counted_from_end(place: Operand, size: int, made: Made) -> Operand:
    """The place itself, where the program adds the size to a negative one."""
    where = made.get(place)
    if where is None or where.op != "where" or place.type.shape:
        return place
    test, wrapped, plain = (_uncast(one, made) for one in where.args)
    negative, added = made.get(test), made.get(wrapped)
    if negative is None or added is None or (negative.op, added.op) != ("lt", "add"):
        return place
    same = _uncast(negative.args[0], made) is plain and _uncast(added.args[0], made) is plain
    zero, more = negative.args[1], added.args[1]
    fits = isinstance(zero, Const) and isinstance(more, Const) and zero.value == 0 and more.value == size
    return plain if same and fits and isinstance(plain, Var) else place


def _uncast(operand: Operand, made: Made) -> Operand:
    """The whole number behind a cast that changes nothing but its width to the largest."""
    cast = made.get(operand)
    if cast is not None and cast.op == "cast" and cast.keywords["dtype"] == "int64":
        return cast.args[0] if cast.args[0].type.kind == "i" else operand
    return operand
