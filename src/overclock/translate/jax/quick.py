"""What XLA does slowly on small arrays, in the words of `overclock.env.small`."""

import numpy as np

from overclock.translate.ir.nodes import Const, Let, Operand, Var
from overclock.translate.ir.passes import lets, live
from overclock.translate.program import Function

NAMES = ("first_above", "order_by", "put")  # of `overclock.env`
SMALL = 256  # numbers of an array that is compared with whole
FEW = 32  # items that are sorted by comparing each with each
MANY = 16  # numbers of a table from which on a search is quicker


def quicken(function: Function, changes: bool = True) -> None:
    """Rewrite what has a quicker form; `changes`: of arrays as well, which is slower where many follow one another."""
    quick = _Quick(changes)
    for let in lets(function.block):
        quick.rewrite(let)
    live(function.block, {one for one in function.results.values() if isinstance(one, Var)})


class _Quick:
    def __init__(self, changes: bool) -> None:
        self._changes = changes
        self._made: dict[Var, Let] = {}

    def rewrite(self, let: Let) -> None:
        self._made[let.out] = let
        match let.op:
            case "setitem" if self._changes and self._whole(let):
                let.op = "put"
            case "lexsort" if let.out.type.shape[-1] <= FEW and all(_comparable(key) for key in let.args):
                let.op = "order_by"
            case "argmax" if not let.keywords and (search := self._search(let.args[0])) is not None:
                let.op, let.args = "first_above", search

    def _whole(self, let: Let) -> bool:
        """Whether an index is of single numbers and whole slices, and not of slices alone."""
        index = let.keywords["index"]
        places = [part for part in index if not isinstance(part, tuple)]
        single = all(not isinstance(part, Var | Const) or not part.type.shape for part in places)
        slices = [part for part in index if isinstance(part, tuple)]
        return (
            bool(places) and single and int(np.prod(let.out.type.shape)) <= SMALL
            and all(part == ("slice", None, None, None) for part in slices)
        )  # fmt: skip

    def _search(self, operand: Operand) -> tuple[Operand, ...] | None:
        """Table and number of `table > number`, where the table never falls."""
        made = self._made.get(operand) if isinstance(operand, Var) else None
        if made is None or made.op != "gt":
            return None
        table, number = made.args
        if not isinstance(table, Const) or number.type.shape or number.type.kind != "f":
            return None
        value = np.asarray(table.value)
        rising = (
            value.ndim == 1 and len(value) >= MANY and value.dtype.kind == "f" and bool((np.diff(value) >= 0).all())
        )
        return (table, number) if rising else None


def _comparable(key: Operand) -> bool:
    return len(key.type.shape) == 1 and key.type.kind in "biu"
