"""Names in a generated Rust file: those of variables, and those of constant arrays."""

import contextlib
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from overclock.translate.rust.line_breaking import LONGEST
from overclock.translate.rust.syntax import IMPOSSIBLE, INDEX_LETTERS, KEYWORDS, KINDS, array_literal, rust_type


class Names:
    """Names of variables, taken from the source where it has one; those of a closed block are free again."""

    def __init__(self, reserved: set[str]) -> None:
        self._scopes: list[set[str]] = [{*reserved, *KEYWORDS, *IMPOSSIBLE, *INDEX_LETTERS}]

    def fresh(self, hint: str, otherwise: str = "value") -> str:
        """A name that no variable in reach has, after the hint where that is usable."""
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
