"""Reads Python source as a syntax tree, from any thread."""

import ast
import threading

READING = threading.Lock()


def read_tree(text: str, file: str = "<unknown>") -> ast.Module:
    """As `ast.parse`, by one thread at a time: Python 3.11 counts how deep a tree is for all of them together."""
    with READING:
        return ast.parse(text, file)


def read_expression(text: str) -> ast.expr:
    """The same for one expression."""
    with READING:
        return ast.parse(text, mode="eval").body
