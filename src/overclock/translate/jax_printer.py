"""A program as JAX: one readable file that meets the environment contract.

Both arms of a branch are computed and `jnp.where` picks; loops become `while_loop`. Names come from the source, and
each branch and loop has the source's own words as a comment.
"""

import keyword
import re
from typing import Any

import numpy as np

from overclock.translate.ir import Block, Const, If, Let, Loop, Note, Operand, Var

LONGEST = 110
INLINE = 70  # characters of an expression that is used once and written in place
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "eq": "==", "ne": "!=", "lt": "<",
    "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@",
}  # fmt: skip
STRENGTH = {
    "or": 1, "xor": 2, "and": 3, "eq": 0, "ne": 0, "lt": 0, "le": 0, "gt": 0, "ge": 0, "lshift": 4, "rshift": 4,
    "add": 5,
    "sub": 5, "mul": 6, "truediv": 6, "floordiv": 6, "mod": 6, "matmul": 6,
}  # fmt: skip
ATOM, UNARY_STRENGTH = 10, 7
RESERVED = {"state", "action", "draw", "params", "rng", "self", "jnp", "jax", "np", "dataclasses", "i", *keyword.kwlist}
OTHER_NAMES = {"rint": "round", "trunc": "trunc", "around": "round", "negative": "negative"}


class Names:
    """Names of variables, taken from the source where it has one."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken) | RESERVED
        self._of: dict[Var, str] = {}

    def of(self, var: Var) -> str:
        """The name of a variable."""
        if var not in self._of:
            hint = re.sub(r"\W", "", var.hint).strip("_") or "value"
            hint = f"_{hint}" if hint[0].isdigit() else hint
            name, number = hint, 2
            while name in self._taken:
                name, number = f"{hint}_{number}", number + 1
            self._taken.add(name)
            self._of[var] = name
        return self._of[var]

    def give(self, var: Var, name: str) -> None:
        """Fix a name."""
        self._of[var] = name


class Tables:
    """Constant arrays, written once at the top of the file."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self.lines: list[str] = []

    def name(self, value: np.ndarray) -> str:
        """The name of a table."""
        key = (str(value.dtype), value.shape, value.tobytes())
        if key not in self._names:
            self._names[key] = f"TABLE_{len(self._names) + 1}"
            text = np.array2string(value, separator=", ", threshold=10**9, max_line_width=100, floatmode="unique")
            if value.dtype.kind == "f":
                text = _floats(value)
            self.lines.append(f"{self._names[key]} = np.array({text}, np.{_numpy_name(value.dtype)})")
        return self._names[key]


def _floats(value: np.ndarray) -> str:
    return repr(value.tolist()).replace("inf", "np.inf").replace("nan", "np.nan")


def _numpy_name(dtype: np.dtype) -> str:
    return "bool_" if dtype.kind == "b" else dtype.name


def dtype_text(dtype: str) -> str:
    """A dtype as the program says it: Python's own types follow the precision that JAX is set to."""
    return {"float64": "float", "int64": "int", "bool": "bool"}.get(dtype, f"jnp.{dtype}")


class Body:
    """The lines of one function."""

    def __init__(self, names: Names, tables: Tables, draws: dict[str, tuple[str, int]]) -> None:
        self.names, self.tables, self.draws = names, tables, draws
        self.lines: list[str] = []
        self._text: dict[Var, tuple[str, int]] = {}  # expressions written in place, with their strength
        self._uses: dict[Var, int] = {}
        self._indent = 2
        self._guards: list[str] = []

    def count(self, block: Block, results: list[Operand]) -> None:
        """How often each variable is used."""

        def use(operand: Any, weight: int = 1) -> None:
            if isinstance(operand, Var):
                self._uses[operand] = self._uses.get(operand, 0) + weight

        def walk(inner: Block) -> None:
            for statement in inner:
                match statement:
                    case Let(_, _, args, _):
                        for arg in args:
                            use(arg)
                    case If():
                        use(statement.condition, 1 + len(statement.outs))
                        walk(statement.then)
                        walk(statement.orelse)
                        for one in (*statement.yes, *statement.no):
                            use(one)
                    case Loop():
                        walk(statement.header)
                        walk(statement.body)
                        # What a loop starts from or reads is computed before it.
                        for one in (*statement.first, *statement.following, statement.test):
                            use(one)
                        for var in _read_inside(statement):
                            use(var, 2)

        walk(block)
        for one in results:
            use(one)

    def name_inputs(self, inputs: dict[Var, str]) -> None:
        """What comes from outside: fields of the state, the action."""
        for var, text in inputs.items():
            self._text[var] = (text, ATOM)

    def constant(self, const: Const, dtype: str) -> str:
        """A constant that has a dtype of its own."""
        value = np.asarray(const.value)
        if value.shape:
            return self._array(value.astype(dtype), True)
        return self._const(const, exact=True, dtype=dtype)

    def line(self, text: str) -> None:
        """Write a line."""
        self.lines.append("    " * self._indent + text if text else "")

    # ---- statements ----

    def block(self, block: Block) -> None:
        """Write a block."""
        for statement in block:
            match statement:
                case Let():
                    self._let(statement)
                case If():
                    self._if(statement)
                case Loop():
                    self._loop(statement)
                case Note(text):
                    self.line(f"# {text}")

    def _let(self, let: Let) -> None:
        text, strength = self._expression(let)
        once = self._uses.get(let.out, 0) == 1
        if let.op == "draw" and len(let.out.type.shape) == 0 and len(text) < INLINE and not let.out.hint:
            self._text[let.out] = (text, strength)
            return
        if once and len(text) <= INLINE and (not let.out.hint or let.op in ("cast", "stack")) and "\n" not in text:
            self._text[let.out] = (text, strength)
            return
        self.line(f"{self.names.of(let.out)} = {text}")

    def _if(self, branch: If) -> None:
        condition = self.text(branch.condition)
        if branch.then or branch.orelse:
            if branch.note:
                self.line(f"# if {branch.note}:")
            guard = self._named(branch.condition)
            self._guards.append(guard)
            self.block(branch.then)
            self._guards[-1] = f"~{guard}"
            if branch.orelse and branch.note:
                self.line("# else:")
            self.block(branch.orelse)
            self._guards.pop()
            condition = guard
        elif branch.note:
            self.line(f"# if {branch.note}:")
        if len(branch.outs) > 1:
            condition = self._named(branch.condition)
        for out, yes, no in zip(branch.outs, branch.yes, branch.no, strict=True):
            text = self._picked(condition, branch.condition, out, yes, no)
            if self._uses.get(out, 0) == 1 and len(text) <= INLINE and not out.hint:
                self._text[out] = (text, ATOM if text.startswith("jnp.") else 0)
            else:
                self.line(f"{self.names.of(out)} = {text}")

    def _picked(self, condition: str, operand: Operand, out: Var, yes: Operand, no: Operand) -> str:
        """One of two values; flags without a `where`."""
        if out.type.dtype == "bool" and not out.type.shape:
            name = condition if _is_name(condition) else f"({condition})"
            if isinstance(yes, Const):
                other = self.text(no, ATOM)
                return f"{name} | {other}" if yes.value else f"~{name} & {other}"
            if isinstance(no, Const):
                other = self.text(yes, ATOM)
                return f"~{name} | {other}" if no.value else f"{name} & {other}"
        return f"jnp.where({condition}, {self._typed(yes, out, no)}, {self._typed(no, out, yes)})"

    def _named(self, operand: Operand) -> str:
        """The name of a condition; what has none gets one."""
        text, _ = self._text.get(operand, ("", ATOM)) if isinstance(operand, Var) else ("", ATOM)
        if isinstance(operand, Var) and text and not _is_name(text):
            del self._text[operand]
            if not operand.hint:
                operand.hint = "happens"
            self.line(f"{self.names.of(operand)} = {text}")
        return self.text(operand)

    def _typed(self, operand: Operand, out: Var, other: Operand) -> str:
        """An arm of a where: two constants need a dtype, one constant takes that of the other arm."""
        if isinstance(operand, Const) and isinstance(other, Const):
            return self._const(operand, exact=True, dtype=out.type.dtype)
        return self.text(operand)

    def _loop(self, loop: Loop) -> None:
        self.line("")
        if loop.note:
            self.line(f"# {loop.note}:")
        for var in _read_inside(loop):
            if var in self._text and not _is_name(self._text[var][0]):
                self._named(var)
        first = [self._first(one, var) for one, var in zip(loop.first, loop.carried, strict=True)]
        guards, self._guards = self._guards, []
        label = f"{len(self.lines)}"
        carried = ", ".join(self.names.of(var) for var in loop.carried)
        carried += "," if len(loop.carried) == 1 else ""
        self.line(f"def again_{label}(carried):")
        self._indent += 1
        self.line(f"({carried}) = carried")
        self.block(loop.header)
        guard = " & ".join(dict.fromkeys(guards))
        test = self.text(loop.test)
        self.line(f"return {guard} & ({test})" if guard else f"return {test}")
        self._indent -= 1
        self.line("")
        self.line(f"def turn_{label}(carried):")
        self._indent += 1
        self.line(f"({carried}) = carried")
        self.block(loop.body)
        following = ", ".join(self._first(one, var) for one, var in zip(loop.following, loop.carried, strict=True))
        self.line(f"return ({following}{',' if len(loop.following) == 1 else ''})")
        self._indent -= 1
        self.line("")
        self._guards = guards
        outs = ", ".join(self.names.of(out) for out in loop.outs)
        comma = "," if len(loop.outs) == 1 else ""
        self.line(f"({outs}{comma}) = jax.lax.while_loop(again_{label}, turn_{label}, ({', '.join(first)}{comma}))")

    def _first(self, operand: Operand, var: Var) -> str:
        """A value with exactly the dtype that is carried."""
        if isinstance(operand, Const):
            return self._const(operand, exact=True, dtype=var.type.dtype)
        if operand.type.dtype != var.type.dtype:
            return f"{self.text(operand, ATOM)}.astype({dtype_text(var.type.dtype)})"
        return self.text(operand)

    # ---- expressions ----

    def text(self, operand: Operand, strength: int = 0) -> str:
        """An operand, in brackets where it binds weaker than its surroundings."""
        if isinstance(operand, Const):
            text = self._const(operand)
            return f"({text})" if text.startswith("-") and strength > UNARY_STRENGTH else text
        if operand in self._text:
            inner, own = self._text[operand]
            return f"({inner})" if own < strength or (own == strength == 0) else inner
        return self.names.of(operand)

    def _const(self, const: Const, exact: bool = False, dtype: str | None = None) -> str:
        value = np.asarray(const.value)
        if value.shape:
            return self._array(value, exact)
        dtype = dtype or str(value.dtype)
        text = _number(value.astype(dtype)[()])
        if exact:
            return f"jnp.asarray({text}, {dtype_text(dtype)})"
        if value.dtype.kind in "iu" and str(value.dtype) not in ("int64",):
            return f"jnp.{value.dtype.name}({text})"
        return text

    def _array(self, value: np.ndarray, exact: bool) -> str:
        dtype = dtype_text(str(value.dtype))
        size = value.shape if value.ndim > 1 else len(value)
        if not value.any():
            return f"jnp.zeros({size}, {dtype})"
        if (value == value.flat[0]).all():
            if value.flat[0] == 1:
                return f"jnp.ones({size}, {dtype})"
            return f"jnp.full({value.shape}, {_number(value.flat[0])}, {dtype})"
        if value.ndim == 1 and value.dtype == np.int64 and (value == np.arange(len(value))).all():
            return f"jnp.arange({len(value)})"
        if value.size <= 6:
            return f"jnp.array({_floats(value) if value.dtype.kind == 'f' else value.tolist()}, {dtype})"
        return f"jnp.asarray({self.tables.name(value)}, {dtype})"

    def _expression(self, let: Let) -> tuple[str, int]:
        op, args, keywords = let.op, let.args, let.keywords
        if op in SYMBOLS and len(args) == 2:
            own = STRENGTH[op]
            left = self.text(args[0], own if own else 1)
            right = self.text(args[1], own + 1 if own else 1)
            if own == 0:  # comparisons bind weaker than `&`
                left, right = self.text(args[0], 1), self.text(args[1], 1)
            return f"{left} {SYMBOLS[op]} {right}", own
        match op:
            case "neg":
                return f"-{self.text(args[0], UNARY_STRENGTH + 1)}", UNARY_STRENGTH
            case "not" | "invert":
                return f"~{self.text(args[0], UNARY_STRENGTH + 1)}", UNARY_STRENGTH
            case "cast":
                return f"{self._method_owner(args[0])}.astype({dtype_text(keywords['dtype'])})", ATOM
            case "getitem":
                return self._getitem(args, keywords["index"]), ATOM
            case "setitem":
                return self._setitem(args, keywords["index"]), ATOM
            case "stack" if "several" not in keywords:
                parts = ", ".join(self._typed_part(arg, let.out) for arg in args)
                return f"jnp.stack([{parts}])", ATOM
            case "draw":
                return self._draw(let), ATOM
            case "where":
                a, b = args[1], args[2]
                both = isinstance(a, Const) and isinstance(b, Const)
                yes = self._const(a, True, let.out.type.dtype) if both else self.text(a)  # pyright: ignore[reportArgumentType]
                no = self._const(b, True, let.out.type.dtype) if both else self.text(b)  # pyright: ignore[reportArgumentType]
                return f"jnp.where({self.text(args[0])}, {yes}, {no})", ATOM
            case "lexsort":
                return f"jnp.lexsort(({', '.join(map(self.text, args))}))", ATOM
            case "pad":
                return f"jnp.pad({self.text(args[0])}, {keywords['widths']})", ATOM
            case "reshape" | "broadcast_to":
                shape = keywords["shape"]
                return f"jnp.{op}({self._array_text(args[0])}, {shape})", ATOM
        static = {name: value for name, value in keywords.items() if name != "several"}
        named = "".join(f", {name}={value!r}" for name, value in static.items())
        parts = ", ".join(map(self._array_text, args))
        if keywords.get("several"):
            parts = f"[{parts}]"
        name = OTHER_NAMES.get(op, op)
        return f"jnp.{name}({parts}{named})", ATOM

    def _typed_part(self, operand: Operand, out: Var) -> str:
        if isinstance(operand, Const) and not operand.type.shape:
            return self._const(operand, out.type.dtype not in ("float64", "int64"), out.type.dtype)
        return self.text(operand)

    def _array_text(self, operand: Operand) -> str:
        return self.text(operand)

    def _method_owner(self, operand: Operand) -> str:
        return self.text(operand, ATOM)

    def _index(self, args: list[Operand], index: tuple[Any, ...]) -> str:
        left = list(args)
        parts = []
        for part in index:
            if isinstance(part, Var | Const):
                parts.append(self.text(left.pop(0)))
            elif isinstance(part, tuple):
                if part[0] == "slice":
                    start, stop, step = ("" if one is None else str(one) for one in part[1:])
                    parts.append(f"{start}:{stop}" + (f":{step}" if step else ""))
                else:
                    parts.append("None" if part[0] == "new" else "...")
            else:
                parts.append(str(part))
        return ", ".join(parts)

    def _getitem(self, args: tuple[Operand, ...], index: tuple[Any, ...]) -> str:
        return f"{self.text(args[0], ATOM)}[{self._index(list(args[1:]), index)}]"

    def _setitem(self, args: tuple[Operand, ...], index: tuple[Any, ...]) -> str:
        return f"{self.text(args[0], ATOM)}.at[{self._index(list(args[2:]), index)}].set({self.text(args[1])})"

    def _draw(self, let: Let) -> str:
        name, count = self.draws[let.keywords["site"]]
        if count == 1:
            return f"draw.{name}"
        return f"draw.{name}[{self.text(let.args[0])}]"


def _read_inside(loop: Loop) -> set[Var]:
    """Variables of outside that a loop reads."""
    made: set[Var] = set(loop.carried)
    read: set[Var] = set()

    def walk(block: Block) -> None:
        for statement in block:
            match statement:
                case Let(out, _, args, _):
                    read.update(arg for arg in args if isinstance(arg, Var))
                    made.add(out)
                case If():
                    read.update(
                        one for one in (statement.condition, *statement.yes, *statement.no) if isinstance(one, Var)
                    )
                    walk(statement.then)
                    walk(statement.orelse)
                    made.update(statement.outs)
                case Loop():
                    read.update(
                        one for one in (*statement.first, statement.test, *statement.following) if isinstance(one, Var)
                    )
                    made.update(statement.carried)
                    walk(statement.header)
                    walk(statement.body)
                    made.update(statement.outs)

    walk(loop.header)
    walk(loop.body)
    read.update(one for one in (loop.test, *loop.following) if isinstance(one, Var))
    return read - made


def _is_name(text: str) -> bool:
    return text.replace(".", "").isidentifier()


def _number(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return repr(bool(value))
    if isinstance(value, np.floating | float):
        number = float(value)
        if np.isnan(number):
            return "jnp.nan"
        if np.isinf(number):
            return "jnp.inf" if number > 0 else "-jnp.inf"
        return repr(number)
    whole = "jnp.iinfo(jnp.result_type(int))"  # where x64 is off, the ends of the range are those of 32 bits
    ends = {np.iinfo(np.int64).min: f"{whole}.min", np.iinfo(np.int64).max: f"{whole}.max"}
    return ends.get(int(value), repr(int(value)))
