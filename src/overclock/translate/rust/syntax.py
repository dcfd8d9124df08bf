"""The syntax of Rust: types, literals, keywords, and how strongly an expression binds."""

import dataclasses
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError

# NumPy's names of the types that a program may have, and Rust's.
KINDS = {
    "bool": "bool", "float32": "f32", "float64": "f64",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
# Words of the language; written r#word they can be names, but for those that cannot.
KEYWORDS = frozenset(
    {
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    }
)  # fmt: skip
IMPOSSIBLE = frozenset({"_", "self", "Self", "super", "crate"})
INDEX_LETTERS = "ijklmnopq"  # of closures and loops over places


class Strength(enum.IntEnum):
    """How strongly an expression binds, as in the Rust reference; a weaker one inside a stronger one gets brackets."""

    LOOSE, EITHER, ALSO, COMPARE, OR, XOR, AND, SHIFT, ADD, MUL, AS, UNARY, ATOM = range(1, 14)


@dataclasses.dataclass(frozen=True)
class Text:
    """An expression; `typed` is a literal with its type, which it needs where a method is called on it."""

    text: str
    strength: int = Strength.ATOM
    typed: str = ""

    def within(self, strength: int) -> str:
        """In brackets where it binds weaker than `strength`."""
        return f"({self.text})" if self.strength < strength else self.text

    @property
    def owner(self) -> str:
        """As something a method is called on."""
        return self.typed or self.within(Strength.ATOM)


OPERATORS = {
    "*": Strength.MUL, "/": Strength.MUL, "%": Strength.MUL, "+": Strength.ADD, "-": Strength.ADD, "&": Strength.AND,
    "^": Strength.XOR, "|": Strength.OR, "&&": Strength.ALSO, "||": Strength.EITHER,
}  # fmt: skip


def joined(symbol: str, args: Sequence[Text]) -> Text:
    """a + b; the right one needs brackets where it is a sum as well, for floats are not associative."""
    strength = OPERATORS[symbol]
    right = args[1].within(strength if symbol in ("&&", "||") else strength + 1)
    return Text(f"{args[0].within(strength)} {symbol} {right}", strength)


def compared(symbol: str, args: Sequence[Text]) -> Text:
    """a < b; `x as i64 < y` would begin the arguments of a type."""
    left, right = (one.within(Strength.UNARY if one.strength == Strength.AS else Strength.COMPARE + 1) for one in args)
    return Text(f"{left} {symbol} {right}", Strength.COMPARE)


def negated(flag: Text) -> Text:
    """The opposite of a flag, without a second `!` in front of a first."""
    if flag.strength == Strength.UNARY:
        return Text(flag.text[1:])
    return Text(f"!{flag.within(Strength.UNARY)}", Strength.UNARY)


def kind_of(dtype: str) -> str:
    """Rust's name of a dtype."""
    if dtype not in KINDS:
        raise UnsupportedError(f"Rust has no numbers of the type {dtype}")
    return KINDS[dtype]


def literal(value: Any, dtype: str) -> Text:
    """A number; the shortest text that is read back as the same one."""
    number = np.asarray(value).astype(dtype)[()]
    kind = kind_of(dtype)
    if kind == "bool":
        return Text("true" if number else "false")
    if kind[0] == "f":
        if not np.isfinite(number):
            name = f"{kind}::" + ("NAN" if np.isnan(number) else "INFINITY")
            return Text(f"-{name}", Strength.UNARY) if number == -np.inf else Text(name)
        text = str(number) if kind == "f32" else repr(float(number))
    else:
        text = str(int(number))
    typed = f"{text}_{kind}"
    return Text(text, Strength.UNARY, f"({typed})") if text.startswith("-") else Text(text, Strength.ATOM, typed)


def array_literal(value: np.ndarray) -> str:
    """All numbers of an array; `[x; n]` where they are equal."""
    dtype = str(value.dtype)
    if value.ndim == 0:
        return literal(value, dtype).text
    if _all_equal(value):
        inner = array_literal(value[0])
        return f"[{inner}; {len(value)}]"
    return "[" + ", ".join(map(array_literal, value)) + "]"


def _all_equal(value: np.ndarray) -> bool:
    """Also by their bits: zeros have signs."""
    rows = [row.tobytes() for row in value]
    return len(rows) > 1 and len(set(rows)) == 1


def rust_type(dtype: str, shape: Sequence[int] = ()) -> str:
    """A number or a nested array of fixed size."""
    kind = kind_of(dtype)
    for length in reversed(shape):
        kind = f"[{kind}; {length}]"
    return kind


def field_name(name: str) -> str:
    """A name of the source as the name of a field."""
    return f"r#{name}" if name in KEYWORDS else name
