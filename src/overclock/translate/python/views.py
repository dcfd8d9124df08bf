"""NumPy's functions that give the memory of an array another shape, or may: what is a view, and what a copy."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Operand
from overclock.translate.ir.values import ArrayCell, Elem, Known, Ref, Value, View
from overclock.translate.python.arrays import Remake
from overclock.translate.python.draws import Draws

REMADE = ("ravel", "reshape", "transpose")
# Further functions whose result may share memory with their argument.
SHARING = (
    "flip", "fliplr", "flipud", "rot90", "squeeze", "expand_dims", "swapaxes", "moveaxis", "diagonal", "diag",
    "broadcast_to", "atleast_1d", "atleast_2d", "nan_to_num",
)  # fmt: skip
CHANGING = ("copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal")


class Views(Draws):
    """What shares memory."""

    def remade(self, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        """owner.ravel(), owner.reshape(...) or owner.transpose(...)."""
        if keywords.keys() - {"shape", "axes"} or (name == "ravel" and args):
            raise UnsupportedError(f"np.{name} in another order")
        given = [self.static(one) for one in (*args, *keywords.values())]
        to = tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given)
        size = self.operand(owner).type.shape
        if name == "transpose":
            axes = to if to and to != (None,) else tuple(reversed(range(len(size))))
            return self.viewed(owner, Remake("transpose", tuple(axis % len(size) for axis in axes)))
        to = np.zeros(size).reshape(-1 if name == "ravel" else to).shape
        return self.viewed(owner, Remake("reshape", to))

    def viewed(self, owner: Value, step: Remake) -> Value:
        """An array in another shape, or with other axes."""
        if step.op == "transpose" and len(step.to) > 1:
            self.store.journal.turned = True
        shared = self.arrays.stepped(self.operand(owner), step)
        if not isinstance(owner, Ref | View) or not shared.type.shape:
            return self.sharing(self.own(shared), owner)
        view = owner if isinstance(owner, View) else View(owner, ())
        # Results of NumPy keep the order of axes of what they were computed from: then nobody knows what is a view.
        unsure = self.store.journal.turned and step.op == "reshape" and len(self.operand(view.base).type.shape) > 1
        if unsure:
            return self.sharing(self.own(shared), owner)
        if self.arrays.is_view(view, step, self.store):
            return View(view.base, (*view.steps, step))
        return self.own(shared)

    def sharing(self, made: Value, owner: Value) -> Value:
        """A result that may share memory with an argument: changing one spoils the other."""
        if isinstance(made, Ref) and isinstance(owner, Ref | View | Elem | Known):
            self.store.copied(made, owner)
        return made

    def own(self, operand: Operand) -> Value:
        """An array of its own, also where it has no dimensions."""
        return self.store.new(ArrayCell(operand)) if operand.type.shape else self.fresh(operand)

    def static(self, value: Value) -> Any:
        """An argument that must be known."""
        ok, inner = self.known(value)
        if not ok:
            raise UnsupportedError("an argument of a NumPy function that must be known is not")
        return inner
