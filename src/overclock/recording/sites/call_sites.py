"""Call sites: where in a program the call stands that a frame is making. A draw is named by its call site.

A frame says which instruction it has reached; the instruction knows where its call ends in the text. The end is looked
up among the calls of the file, because the start that Python reports is moved for calls over several lines.
"""

import ast
import functools
import itertools
import linecache
import types
from pathlib import Path
from typing import NamedTuple

INSTRUCTION = 2  # bytes of one unit of bytecode


class CallSite(NamedTuple):
    """The file as its package knows it, and where the call begins (lines from 1, columns from 0)."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def file_of(module: str, filename: str) -> str:
    """The path of a file from its top-level package, 'gymnasium/envs/toy_text/blackjack.py'."""
    parts = Path(filename).parts
    depth = 1 if module == "__main__" else len(module.split("."))
    return "/".join(parts[-(depth + (parts[-1] == "__init__.py" and module != "__main__")) :])


def call_site_of(frame: types.FrameType) -> CallSite:
    """The call site that a frame has reached: of the call that it makes or waits for."""
    return _place(frame.f_code, frame.f_lasti, frame.f_globals.get("__name__", "__main__"))


@functools.lru_cache(maxsize=4096)
def _place(code: types.CodeType, instruction: int, module: str) -> CallSite:
    positions = itertools.islice(code.co_positions(), instruction // INSTRUCTION, None)
    line, end_line, column, end_column = next(positions, (None, None, None, None))
    line, column = calls_of(code.co_filename).get((end_line, end_column), (line, column))
    return CallSite(file_of(module, code.co_filename), line or code.co_firstlineno, column or 0)


@functools.lru_cache(maxsize=256)
def calls_of(filename: str) -> dict[tuple[int | None, int | None], tuple[int, int]]:
    """The calls of a file: where each ends -> where it begins. No two calls end at the same place."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return {}
    return {
        (node.end_lineno, node.end_col_offset): (node.lineno, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
