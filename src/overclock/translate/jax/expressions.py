"""Operations of a program as expressions of JAX, with brackets only where they are needed."""

from typing import Any

import numpy as np

from overclock.translate.ir.nodes import Const, Let, Operand, Var
from overclock.translate.jax.lines import mark
from overclock.translate.jax.tables import Tables, listed, plain, upper

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@",
}  # fmt: skip
STRENGTH = {
    "or": 1, "xor": 2, "and": 3, "eq": 0, "ne": 0, "lt": 0, "le": 0, "gt": 0, "ge": 0, "lshift": 4, "rshift": 4,
    "add": 5, "sub": 5, "mul": 6, "truediv": 6, "floordiv": 6, "mod": 6, "matmul": 6,
}  # fmt: skip
ATOM, UNARY_STRENGTH = 10, 7
MIXED = ("or", "and", "xor")
OPEN = -1  # inside the brackets of a call, nothing needs brackets
SMALL_TABLE = 6  # numbers that are written where they are used
OTHER_NAMES = {"rint": "round", "around": "round"}


def dtype_text(dtype: str) -> str:
    """A dtype as the program says it: Python's own types follow the precision that JAX is set to."""
    return {"float64": "float", "int64": "int", "bool": "bool"}.get(dtype, f"jnp.{dtype}")


class Expressions:
    """The texts of operands and operations; an expression that is written in place is kept here until it is read."""

    def __init__(self, tables: Tables, draws: dict[str, int]) -> None:
        self.tables, self.draws = tables, draws
        self.inlined: dict[Var, tuple[str, int]] = {}  # expressions written in place, with their strength

    def text(self, operand: Operand, strength: int = OPEN) -> str:
        """The text of an operand, in brackets where it binds weaker than its surroundings."""
        if isinstance(operand, Const):
            text = self.number(operand)
            own = UNARY_STRENGTH if text.startswith("-") else 0 if " < " in text else ATOM
            return f"({text})" if own < strength or (own == strength == 0) else text
        if operand in self.inlined:
            inner, own = self.inlined[operand]
            return f"({inner})" if own < strength or (own == strength == 0) else inner
        return mark(operand)

    def number(self, const: Const, exact: bool = False, dtype: str | None = None) -> str:
        """The text of a constant; with its dtype if `exact`, or where nothing else would tell it."""
        value = np.asarray(const.value)
        if value.shape:
            return self.array(Const(value if dtype is None else value.astype(dtype), const.name))
        dtype = dtype or str(value.dtype)
        text = number_text(value.astype(dtype)[()])
        if value.dtype.kind in "iuf" and text[-1].isdigit():
            text = self.tables.number(const, text)
        if exact:
            return f"jnp.asarray({text})" if dtype == "bool" else f"jnp.asarray({text}, {dtype_text(dtype)})"
        if value.dtype.kind in "iu" and str(value.dtype) != "int64":
            return f"jnp.{value.dtype.name}({text})"
        return text

    def array(self, const: Const) -> str:
        """The text of a constant array: in place where it is small or plain, else the name of a table."""
        value = np.asarray(const.value)
        dtype = dtype_text(str(value.dtype))
        size = value.shape if value.ndim > 1 else len(value)
        if not value.any():
            return f"jnp.zeros({size}, {dtype})"
        if (value == value.flat[0]).all():
            if value.flat[0] == 1:
                return f"jnp.ones({size}, {dtype})"
            return f"jnp.full({value.shape}, {number_text(value.flat[0])}, {dtype})"
        if value.ndim == 1 and value.dtype == np.int64 and (value == np.arange(len(value))).all():
            return f"jnp.arange({len(value)})"
        inside = int(value.argmin())
        if value.ndim == 1 and value.dtype.kind == "b" and (value == (np.arange(len(value)) < inside)).all():
            return f"jnp.arange({len(value)}) < {inside}"
        if value.size <= SMALL_TABLE and (not upper(const.name) or const.name.endswith("_table")):
            return f"jnp.array({listed(value).replace('np.', 'jnp.')}, {dtype})"
        return f"jnp.asarray({self.tables.array(value, const.name)}, {dtype})"

    def expression(self, let: Let) -> tuple[str, int]:
        """The text of an operation, and how strongly it binds."""
        op, args, keywords = let.op, let.args, let.keywords
        if op in SYMBOLS and len(args) == 2:
            return self._symbol(op, args)
        match op:
            case "neg":
                return f"-{self.text(args[0], UNARY_STRENGTH + 1)}", UNARY_STRENGTH
            case "not" | "invert":
                return f"~{self.text(args[0], UNARY_STRENGTH + 1)}", UNARY_STRENGTH
            case "cast":
                return f"{self.text(args[0], ATOM)}.astype({dtype_text(keywords['dtype'])})", ATOM
            case "getitem":
                return f"{self.text(args[0], ATOM)}[{self._index(list(args[1:]), keywords['index'])}]", ATOM
            case "setitem":
                place = self._index(list(args[2:]), keywords["index"])
                return f"{self.text(args[0], ATOM)}.at[{place}].set({self.text(args[1])})", ATOM
            case "put":
                place = self._index(list(args[2:]), keywords["index"])
                single = "," not in place and ":" not in place
                place = place if single else f"np.s_[{place}]" if ":" in place else f"({place})"
                return f"put({self.text(args[0])}, {place}, {self.text(args[1])})", ATOM
            case "order_by" | "first_above":
                return f"{op}({', '.join(map(self.text, args))})", ATOM
            case "stack" if "several" not in keywords:
                return f"jnp.stack([{', '.join(self._part(arg, let.out) for arg in args)}])", ATOM
            case "draw":
                site = let.keywords["site"]
                return f"draw.{site}" if self.draws[site] == 1 else f"draw.{site}[{self.text(args[0])}]", ATOM
            case "where":
                return self.picked(self.text(args[0]), let.out, args[1], args[2]), ATOM
            case "lexsort":
                return f"jnp.lexsort(({', '.join(map(self.text, args))}{',' if len(args) == 1 else ''}))", ATOM
            case "pad":
                return f"jnp.pad({self.text(args[0])}, {keywords['widths']})", ATOM
            case "reshape" | "broadcast_to":
                return f"jnp.{op}({self.text(args[0])}, {keywords['shape']})", ATOM
        named = "".join(f", {name}={value!r}" for name, value in keywords.items() if name != "several")
        parts = ", ".join(map(self.text, args))
        parts = f"[{parts}]" if keywords.get("several") else parts
        return f"jnp.{OTHER_NAMES.get(op, op)}({parts}{named})", ATOM

    def choice(self, condition: Operand, out: Var, yes: Operand, no: Operand) -> tuple[str, int]:
        """The text of one of two values, and how strongly it binds; flags and counts need no `where`."""
        bracketed = self.text(condition, ATOM)
        if out.type.dtype == "bool" and not out.type.shape:
            if isinstance(yes, Const) and isinstance(no, Const):
                return (f"~{bracketed}", 7) if no.value else (self.text(condition), self._strength(condition))
            known, other = (yes, no) if isinstance(yes, Const) else (no, yes)
            if isinstance(known, Const):
                flag = bracketed if bool(known.value) == (known is yes) else f"~{bracketed}"
                symbol, strength = ("|", 1) if known.value else ("&", 3)
                return f"{flag} {symbol} {self.text(other, 4)}", strength
        if not out.type.shape and _is_plain(yes, 1) and _is_plain(no, 0):
            return f"{bracketed}.astype({dtype_text(out.type.dtype)})", ATOM
        return self.picked(self.text(condition), out, yes, no), ATOM

    def picked(self, condition: str, out: Var, yes: Operand, no: Operand) -> str:
        """The text of a `where`: two constants need a dtype, one takes that of the other arm."""
        if isinstance(yes, Const) and isinstance(no, Const):
            shown = [self.number(one, exact=True, dtype=out.type.dtype) for one in (yes, no)]
            return f"jnp.where({condition}, {', '.join(shown)})"
        return f"jnp.where({condition}, {self.text(yes)}, {self.text(no)})"

    def _symbol(self, op: str, args: tuple[Operand, ...]) -> tuple[str, int]:
        own = STRENGTH[op]
        # Comparisons bind weaker than `&`, and one of another one's result needs brackets.
        left, right = (1, 1) if own == 0 else (own, own + 1)
        if op in MIXED:  # Python needs none around `a & b` in `a & b | c`, but people do
            left, right = (own if self._strength(args[0]) == own else 5), 5
        return f"{self.text(args[0], left)} {SYMBOLS[op]} {self.text(args[1], right)}", own

    def _strength(self, operand: Operand) -> int:
        return self.inlined[operand][1] if isinstance(operand, Var) and operand in self.inlined else ATOM

    def _part(self, operand: Operand, out: Var) -> str:
        if isinstance(operand, Const) and not operand.type.shape:
            return self.number(operand, out.type.dtype not in ("float64", "int64"), out.type.dtype)
        return self.text(operand)

    def _index(self, args: list[Operand], index: tuple[Any, ...]) -> str:
        parts = []
        for part in index:
            if isinstance(part, Var | Const):
                parts.append(self.text(args.pop(0)))
            elif isinstance(part, tuple) and part[0] == "slice":
                start, stop, step = ("" if one is None else str(one) for one in part[1:])
                parts.append(f"{start}:{stop}" + (f":{step}" if step else ""))
            elif isinstance(part, tuple):
                parts.append("None" if part[0] == "new" else "...")
            else:
                parts.append(str(part))
        return ", ".join(parts)


def _is_plain(operand: Operand, number: int) -> bool:
    return isinstance(operand, Const) and not operand.name and operand.value == number


def number_text(value: Any) -> str:
    """The text of a number; where x64 is off, the ends of int64 are those of 32 bits."""
    whole = "jnp.iinfo(jnp.result_type(int))"
    ends = {str(np.iinfo(np.int64).min): f"{whole}.min", str(np.iinfo(np.int64).max): f"{whole}.max"}
    text = plain(value, "jnp")
    return ends.get(text, text)
