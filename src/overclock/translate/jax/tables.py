"""Constants of a generated file: numbers and tables at its top, under the names of the source's attributes."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from overclock.translate.ir.nodes import Const
from overclock.translate.jax.line_breaking import WIDTH
from overclock.translate.printing.line_breaking import packed

MOST_ROWS = 24  # of a table that is written row by row


class Tables:
    """Numbers and arrays that are written once, at the top of the file."""

    def __init__(self, changing: Collection[str] = ()) -> None:
        """`changing` attributes give no number their name: it is only what they begin with."""
        self._changing = frozenset(changing)
        self._names: dict[Any, str] = {}
        self._numbers: dict[str, str] = {}
        self.lines: list[str] = []

    def number(self, const: Const, text: str) -> str:
        """The name of a number after the source's attribute; the number itself where there is none."""
        name = upper(const.name)
        if not name or name in self._names.values() or const.name.lstrip("-") in self._changing:
            return text
        if const.name.startswith("-"):
            opposite = text[1:] if text.startswith("-") else f"-{text}"
            shown = self.number(Const(const.value, const.name[1:]), opposite)
            return text if shown == opposite else f"-{shown}"
        if self._numbers.setdefault(name, text) != text:
            return text  # the attribute is used as an int and as a float
        line = f"{name} = {text}"
        if line not in self.lines:
            self.lines.insert(len(self._numbers) - 1, line)
        return name

    def array(self, value: np.ndarray, hint: str) -> str:
        """The name of a constant array, which is written at the top of the file."""
        key = (str(value.dtype), value.shape, value.tobytes())
        if key not in self._names:
            taken = {*self._names.values(), *self._numbers}
            name, number = upper(hint) or "TABLE", 1
            while (name if number == 1 and hint else f"{name}_{number}") in taken:
                number += 1
            self._names[key] = name if number == 1 and hint else f"{name}_{number}"
            self.lines += table(self._names[key], value)
        return self._names[key]


def upper(name: str) -> str:
    """'x_threshold' and 'xThreshold' -> 'X_THRESHOLD'; nothing where that would be no name of its own."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"\W", "", name)).strip("_").upper()
    return name if len(name) > 1 and name.isidentifier() else ""


def table(name: str, value: np.ndarray) -> list[str]:
    """The lines that define an array."""
    dtype = "np.bool_" if value.dtype.kind == "b" else f"np.{value.dtype.name}"
    whole = f"{name} = np.array({listed(value)}, {dtype})"
    if len(whole) <= WIDTH:
        return [whole]
    if value.ndim == 2 and len(value) <= MOST_ROWS:
        rows = [f"        {listed(row)}," for row in value]
        if max(map(len, rows)) <= WIDTH:
            return [f"{name} = np.array(", "    [", *rows, "    ],", f"    {dtype},", ")"]
    shape = "" if value.ndim == 1 else f".reshape{value.shape}"
    numbers = packed([plain(one) for one in value.ravel()], "    ", WIDTH - 4)
    return [f"{name} = np.array([", *numbers, f"], {dtype}){shape}  # fmt: skip"]


def listed(value: np.ndarray) -> str:
    """An array as the text of a list of lists."""
    return plain(value) if value.ndim == 0 else f"[{', '.join(listed(one) for one in value)}]"


def plain(value: Any, module: str = "np") -> str:
    """The text of a number; infinity and NaN are names of a module."""
    value = np.asarray(value)[()]
    if isinstance(value, np.floating):
        text = repr(float(value)).replace("e+", "e")
        return text.replace("inf", f"{module}.inf").replace("nan", f"{module}.nan")
    return repr(bool(value) if isinstance(value, np.bool_) else int(value))
