"""Two versions of a reference compared: the rules of its modules, and what its contract follows from."""

import ast
import dataclasses
import re
from collections.abc import Mapping

from overclock.recipe.contract.file import ContractFile, StateField
from overclock.recipe.judging.hygiene.source import docstrings
from overclock.recipe.syntax import read_tree
from overclock.verify.tolerance import Tolerance

# A line that a Python comment is; those of C's preprocessor are rules.
COMMENT = re.compile(r"\s*#(?!\s*(define|undef|include|if|ifdef|ifndef|elif|else|endif|pragma)\b)")


def same_rules(before: str, after: str) -> bool:
    """Whether two texts of a module are the same program; comments, docstrings and layout do not count."""
    first, second = _program(before), _program(after)
    return first == second if first is not None and second is not None else _lines(before) == _lines(after)


def moved_on(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The modules whose rules differ; where somebody grouped them otherwise, all of them if any line does."""
    if before.keys() == after.keys():
        return [name for name in before if not same_rules(before[name], after[name])]
    first, second = ({line for text in texts.values() for line in _lines(text)} for texts in (before, after))
    return [] if first == second else list(after)


def _program(text: str) -> str | None:
    try:
        tree = read_tree(text)
    except SyntaxError:  # an excerpt may lack the rest of a long `class` line
        return None
    told = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not (isinstance(one, ast.Expr) and one.value in told)]
    return ast.dump(tree)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip() and not COMMENT.match(line)]


def contract_differences(before: ContractFile, after: ContractFile) -> list[str]:
    """How state and draws differ, in sentences; names, ranges and tolerances are the project's own."""
    said: list[str] = []
    old, new = ({field.read: field for field in one.state} for one in (before, after))
    said += [f"The state has no `{read}` any more." for read in old if read not in new]
    said += [f"The state has a new `{read}`: {_form(new[read])}." for read in new if read not in old]
    for read in old:
        if read in new and _form(old[read]) != _form(new[read]):
            said.append(f"The state's `{read}` was {_form(old[read])} and is {_form(new[read])}.")
    for when in ("reset", "step"):
        first, second = (
            [f"{draw.method}({draw.arguments}){list(draw.shape)}" for draw in getattr(one, f"{when}_draws")]
            for one in (before, after)
        )
        if first != second:
            drew, draws = (", ".join(calls) or "nothing" for calls in (first, second))
            said.append(f"A {when} drew {drew} and draws {draws}.")
    return said


def merged(before: ContractFile, after: ContractFile) -> ContractFile:
    """The new state, draws and thresholds with the project's own names and tolerances."""
    known = {field.read: field.name for field in before.state}
    names = {field.name: known.get(field.read, field.name) for field in after.state}
    state = tuple(dataclasses.replace(field, name=names[field.name]) for field in after.state)
    precisions = {}
    for precision, close in before.precisions.items():
        limits = after.precisions[precision].limits if precision in after.precisions else None
        new = after.precisions.get(precision, close)
        tables = {
            table: {**_new_fields(getattr(new, table), names, before), **getattr(close, table)}
            for table in ("per_step", "free_running")
        }
        precisions[precision] = dataclasses.replace(close, limits=limits and limits.renamed(names), **tables)
    return dataclasses.replace(after, state=state, precisions=precisions)


def _new_fields(table: Mapping[str, Tolerance], names: Mapping[str, str], before: ContractFile) -> dict[str, Tolerance]:
    """The tolerances of state fields that the contract did not have before, by the project's names."""
    known = {field.name for field in before.state}
    return {names[name]: one for name, one in table.items() if name in names and names[name] not in known}


def _form(field: StateField) -> str:
    return f"{field.dtype}{list(field.shape)}"
