"""The syntax tree of a source file, asked for a function's exception handlers and names."""

import ast
import linecache
from collections.abc import Iterator
from types import CodeType

Handler = tuple[int, int]  # its first and its last line
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Syntax:
    """What a file says about its functions; a file that cannot be read has none."""

    def __init__(self, file: str) -> None:
        try:
            self.tree = ast.parse("".join(linecache.getlines(file)))
        except SyntaxError:
            self.tree = ast.Module([], [])
        self._functions: dict[tuple[int, str], Function] = {}
        self._tries: dict[Handler, tuple[ast.ExceptHandler, ast.Try | ast.TryStar]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
                self._functions[first, getattr(node, "name", "<lambda>")] = node
            elif isinstance(node, ast.Try | ast.TryStar):
                self._tries |= {_span(one): (one, node) for one in node.handlers}

    def handlers_of(self, code: CodeType) -> list[Handler]:
        """The exception handlers that a function has itself."""
        return [_span(one) for one in self._own(code) if isinstance(one, ast.ExceptHandler)]

    def handler(self, handler: Handler) -> tuple[str, bool, range]:
        """What a handler catches, in words; whether it ends by raising; the lines that are tried."""
        node, tried = self._tries[handler]
        caught = "except" if node.type is None else f"except {ast.unparse(node.type)}"
        lines = range(tried.body[0].lineno, (tried.body[-1].end_lineno or tried.body[-1].lineno) + 1)
        return caught, isinstance(node.body[-1], ast.Raise), lines

    def named(self, code: CodeType) -> Iterator[ast.Name | ast.Attribute]:
        """The names and attributes that a function reads, nested functions left out."""
        for node in self._own(code):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield node

    def _own(self, code: CodeType) -> Iterator[ast.AST]:
        function = self._functions.get((code.co_firstlineno, code.co_name))
        waiting: list[ast.AST] = [] if function is None else [*_body(function)]
        while waiting:
            node = waiting.pop()
            if not isinstance(node, Function):
                yield node
                waiting += ast.iter_child_nodes(node)


def _body(function: Function) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else [*function.body]


def _span(node: ast.ExceptHandler) -> Handler:
    return node.lineno, node.end_lineno or node.lineno
