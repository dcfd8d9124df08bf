"""What XLA does slowly on small arrays, in the words of `overclock.env.small`."""

from collections.abc import Mapping, Sequence

import numpy as np

from overclock.translate.ir.nodes import Const, Let, Operand, Var
from overclock.translate.printing.walk import rewrite_lets
from overclock.translate.program import Function

NAMES = ("first_above", "order_by", "put")  # of `overclock.env`
SMALL = 256  # numbers of an array that is compared with whole
FEW = 32  # items that are sorted by comparing each with each
MANY = 16  # numbers of a table from which on a search is quicker


def quicken(function: Function, changes: bool = True) -> None:
    """Replace operations by faster functions of `overclock.env`; `changes`: also writes into arrays.

    For writes that is slower where many follow one another.
    """

    def rewrite(let: Let, made: Mapping[Operand, Let]) -> None:
        match let.op:
            case "setitem" if changes and _few_places(let):
                let.op = "put"
            case "lexsort" if let.out.type.shape[-1] <= FEW and _comparable(let.args):
                let.op = "order_by"
            case "argmax" if not let.keywords and (search := _search(made.get(let.args[0]))) is not None:
                let.op, let.args = "first_above", search

    rewrite_lets(function, rewrite)


def _comparable(keys: Sequence[Operand]) -> bool:
    return all(len(key.type.shape) == 1 and key.type.kind in "biu" for key in keys)


def _few_places(let: Let) -> bool:
    """Whether an index is of single numbers and whole slices, and not of slices alone."""
    index = let.keywords["index"]
    places = [part for part in index if not isinstance(part, tuple)]
    single = all(not isinstance(part, Var | Const) or not part.type.shape for part in places)
    whole = all(part == ("slice", None, None, None) for part in index if isinstance(part, tuple))
    return bool(places) and single and whole and int(np.prod(let.out.type.shape)) <= SMALL


def _search(made: Let | None) -> tuple[Operand, ...] | None:
    """Table and number of `table > number`, where the table never falls."""
    if made is None or made.op != "gt":
        return None
    table, number = made.args
    if not isinstance(table, Const) or number.type.shape or number.type.kind != "f":
        return None
    value = np.asarray(table.value)
    long = value.ndim == 1 and len(value) >= MANY and value.dtype.kind == "f"
    return (table, number) if long and (np.diff(value) >= 0).all() else None
