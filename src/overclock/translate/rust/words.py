"""Words of Rust: types, literals, names, and how strongly an expression binds."""

import contextlib
import dataclasses
import re
import textwrap
from collections.abc import Iterator, Sequence
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
# How strongly operators bind, as in the Rust reference; what binds weaker than its surroundings gets brackets.
ATOM, UNARY, AS, MUL, ADD, SHIFT, AND, XOR, OR, COMPARE, ALSO, EITHER, LOOSE = range(13, 0, -1)
LONGEST = 110  # characters of a line
INDEX_LETTERS = "ijklmnopq"  # of closures and loops over places


@dataclasses.dataclass(frozen=True)
class Text:
    """An expression; `typed` is a literal with its type, which it needs where a method is called on it."""

    text: str
    strength: int = ATOM
    typed: str = ""

    def within(self, strength: int) -> str:
        """In brackets where it binds weaker than `strength`."""
        return f"({self.text})" if self.strength < strength else self.text

    @property
    def owner(self) -> str:
        """As something a method is called on."""
        return self.typed or self.within(ATOM)


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
            return Text(f"-{name}", UNARY) if number == -np.inf else Text(name)
        text = str(number) if kind == "f32" else repr(float(number))
    else:
        text = str(int(number))
    typed = f"{text}_{kind}"
    return Text(text, UNARY, f"({typed})") if text.startswith("-") else Text(text, ATOM, typed)


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


class Names:
    """Names of variables, taken from the source where it has one; those of a closed block are free again."""

    def __init__(self, reserved: set[str]) -> None:
        self._scopes: list[set[str]] = [{*reserved, *KEYWORDS, *IMPOSSIBLE, *INDEX_LETTERS}]

    def fresh(self, hint: str, otherwise: str = "value") -> str:
        """A name that nothing else has here."""
        plain = re.sub(r"[^a-z0-9_]", "", hint.lower()).strip("_") or otherwise
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name, number = plain, 2
        while any(name in scope for scope in self._scopes):
            name, number = f"{plain}_{number}", number + 1
        self._scopes[-1].add(name)
        return name

    @contextlib.contextmanager
    def inside(self, scope: set[str]) -> Iterator[None]:
        """Inside, names belong to a block, which may be entered again."""
        self._scopes.append(scope)
        try:
            yield
        finally:
            self._scopes.pop()


class Tables:
    """Constant arrays, written once at the top of the file."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self.lines: list[str] = []

    def name(self, value: np.ndarray, kind: str | None = None) -> str:
        """The name of a table; `kind` is Rust's type of its numbers where it is not that of NumPy."""
        shown = rust_type(str(value.dtype), value.shape)
        if kind is not None:
            shown = shown.replace(KINDS[str(value.dtype)], kind)
        key = (shown, value.tobytes())
        if key not in self._names:
            self._names[key] = f"TABLE_{len(self._names) + 1}"
            text = f"static {self._names[key]}: {shown} = {array_literal(value)};"
            self.lines += textwrap.wrap(text, LONGEST, subsequent_indent="    ", break_long_words=False)
        return self._names[key]
