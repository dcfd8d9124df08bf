"""Which values surely have their dtype, and not one that bends: those need no `astype` before they are stored.

Fields of the state have theirs by contract. An action or a draw may come in any width, and so does what is made of it.
"""

from overclock.translate.ir.nodes import COMPARISONS, Const, Let, Operand, Var

LOGIC = ("and", "or", "xor", "not", "invert")
ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod", "truediv", "minimum", "maximum")
SAME = (
    "neg", "abs", "reshape", "ravel", "transpose", "flip", "flipud", "fliplr", "roll", "rot90", "broadcast_to", "sort",
    "square",
)  # fmt: skip
REAL = ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh", "floor", "ceil")
JOINING = ("stack", "concatenate")


class Sure:
    """The variables whose dtype is certain: those whose value cannot be a Python number that bends to another dtype."""

    def __init__(self) -> None:
        self._vars: set[Var] = set()

    def add(self, var: Var) -> None:
        self._vars.add(var)

    def of(self, operand: Operand) -> bool:
        return isinstance(operand, Var) and operand in self._vars

    def all(self, *operands: Operand) -> bool:
        """Whether values of one dtype give one of that dtype: at least one is certain, and the others bend to it."""
        variables = [one for one in operands if isinstance(one, Var)]
        tables = [one for one in operands if isinstance(one, Const) and one.type.shape]
        return bool(variables or tables) and all(map(self.of, variables))

    def picked(self, out: Var, yes: Operand, no: Operand) -> bool:
        """Whether the dtype of one of two values is certain; two constants are written with their dtype."""
        if isinstance(yes, Const) and isinstance(no, Const):
            return True
        return self._alike(out, yes, no) and self.all(yes, no)

    def learn(self, let: Let) -> None:
        """Note a result whose dtype follows from the dtypes of its operands."""
        op, args, out = let.op, let.args, let.out
        if op in COMPARISONS or op == "cast" or (op in LOGIC and out.type.dtype == "bool"):
            self.add(out)
        elif op == "where":
            if self.picked(out, args[1], args[2]):
                self.add(out)
        elif op in ("getitem", "setitem", "put"):
            if isinstance(args[0], Const) or self.of(args[0]):
                self.add(out)
        elif op in REAL:
            if out.type.kind == "f" and self._alike(out, *args) and self.all(*args):
                self.add(out)
        elif op in (*ARITHMETIC, *SAME, *JOINING, "sum") and self._alike(out, *args) and self.all(*args):
            self.add(out)

    def _alike(self, out: Var, *operands: Operand) -> bool:
        """Whether operands have a result's dtype, or are plain numbers of its kind."""
        bending = [one for one in operands if isinstance(one, Const) and not one.type.shape]
        others = [one for one in operands if one not in bending]
        return all(one.type.dtype == out.type.dtype for one in others) and all(
            one.type.kind == out.type.kind for one in bending
        )
