"""A hash of a candidate's program: equal for files that differ only in comments and layout.

A verdict with random draws belongs to the program: changing a comment must not buy another attempt.
"""

import ast

from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.hygiene.reading import README
from overclock.recipe.judging.rust.tokens import NotRustError, tokens
from overclock.recipe.syntax import read_tree


def program_hash(frozen: Frozen) -> str:
    """Equal for two candidates with the same program; a file that cannot be parsed counts byte by byte."""
    return tree_hash({path: _said(path, text) for path, text in frozen.files.items() if path != README})


def _said(path: str, content: bytes) -> bytes:
    try:
        if path.endswith(".py"):
            return _python(content.decode())
        if path.endswith(".rs"):
            return "\n".join(token.text for token in tokens(content.decode())).encode()
    except (SyntaxError, ValueError, RecursionError, MemoryError, NotRustError):
        pass
    return content


def _python(text: str) -> bytes:
    """The syntax tree without positions, and without texts and numbers that stand alone as statements."""
    tree = read_tree(text)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            said = [statement for statement in body if not _is_remark(statement)]
            body[:] = said or [ast.Pass()]
    return ast.dump(tree).encode()


def _is_remark(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
