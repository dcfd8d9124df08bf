"""Negative places: JAX counts them from the end as NumPy does, so what the program does about them can go."""

from overclock.translate.ir.nodes import Const, Let, Operand, Var
from overclock.translate.ir.passes import lets, live
from overclock.translate.program import Function


def plain_places(function: Function) -> None:
    """`array[where(at < 0, at + size, at)]` is `array[at]`; a place outside of the array is an error of the source."""
    places = _Places()
    for let in lets(function.block):
        places.rewrite(let)
    live(function.block, {one for one in function.results.values() if isinstance(one, Var)})


class _Places:
    def __init__(self) -> None:
        self._made: dict[Var, Let] = {}

    def rewrite(self, let: Let) -> None:
        self._made[let.out] = let
        if let.op in ("getitem", "setitem"):
            self._index(let)

    def _index(self, let: Let) -> None:
        index = let.keywords["index"]
        if any(isinstance(part, tuple) and part[0] != "slice" for part in index):
            return  # a new axis or `...`: places are not the axes
        first = 1 if let.op == "getitem" else 2
        args, parts = list(let.args), list(index)
        at = first
        for axis, part in enumerate(index):
            if isinstance(part, Var | Const):
                args[at] = parts[axis] = self._counted_from_end(args[at], let.args[0].type.shape[axis])
                at += 1
        let.args, let.keywords = tuple(args), {**let.keywords, "index": tuple(parts)}

    def _counted_from_end(self, place: Operand, size: int) -> Operand:
        """The place itself, where the program adds the size to a negative one."""
        made = self._made.get(place) if isinstance(place, Var) else None
        if made is None or made.op != "where" or place.type.shape:
            return place
        test, wrapped, plain = (self._uncast(one) for one in made.args)
        negative, added = (self._made.get(one) if isinstance(one, Var) else None for one in (test, wrapped))
        if negative is None or added is None or (negative.op, added.op) != ("lt", "add"):
            return place
        same = self._uncast(negative.args[0]) is plain and self._uncast(added.args[0]) is plain
        zero, more = negative.args[1], added.args[1]
        fits = isinstance(zero, Const) and isinstance(more, Const) and zero.value == 0 and more.value == size
        return plain if same and fits and isinstance(plain, Var) else place

    def _uncast(self, operand: Operand) -> Operand:
        """The whole number behind a cast that changes nothing but its width to the largest."""
        made = self._made.get(operand) if isinstance(operand, Var) else None
        if made is not None and made.op == "cast" and made.keywords["dtype"] == "int64":
            return made.args[0] if made.args[0].type.kind == "i" else operand
        return operand
