"""The rule for a construct is found by its name: `list.pop` is `list_pop` in methods/lists.py."""

import ast
import builtins

import pytest

from overclock.translate.python import interpreter
from overclock.translate.python.draws import dispatch
from overclock.translate.python.functions import builtins as builtin_functions
from overclock.translate.python.functions import reducing
from overclock.translate.python.methods import arrays, dicts, lists
from overclock.translate.python.numpy import calls
from overclock.translate.python.operators import arithmetic, comparison

REFUSED = {
    "AsyncFor", "AsyncFunctionDef", "AsyncWith", "ClassDef", "TryStar", "TypeAlias", "Await", "Yield", "YieldFrom",
    "TemplateStr", "Interpolation",
}  # fmt: skip
PARTS = {"FormattedValue", "Slice", "Starred"}  # of other expressions, whose rules look at them


@pytest.mark.parametrize(
    ("kind", "module", "tables"),
    [
        ("list", lists, (lists.CHANGING, lists.ASKING)), ("dict", dicts, (dicts.RULES,)),
        ("array", arrays, (arrays.RULES,)),
    ],
)  # fmt: skip
def test_a_method_is_named_after_its_receiver(kind, module, tables):
    for table in tables:
        for name, rule in table.items():
            plain = name.strip("_")
            assert (rule.__module__, rule.__name__) == (module.__name__, f"{kind}_{plain}")


def test_a_built_in_function_has_its_own_rule():
    for function, rule in {**builtin_functions.RULES, **reducing.RULES}.items():
        assert getattr(builtins, function.__name__) is function
        assert rule.__name__ == f"builtin_{function.__name__}"


def test_a_function_of_numpy_has_a_rule_of_its_own_or_belongs_to_a_family():
    assert calls.RULES.keys().isdisjoint(calls.FAMILIES)
    same = {"asanyarray": "asarray", "ascontiguousarray": "asarray"}
    assert {name: rule.__name__ for name, rule in calls.RULES.items()} == {
        name: f"numpy_{same.get(name, name)}" for name in calls.RULES
    }


def test_every_draw_has_a_rule():
    assert {rule.__name__.partition("_")[0] for rule in dispatch.METHODS.values()} == {"draw"}


def test_statements_expressions_and_operators_of_python_have_rules():
    known = {cls.__name__ for cls in (*interpreter.RULES.statements, *interpreter.RULES.expressions)}
    syntax = {cls.__name__ for cls in (*ast.stmt.__subclasses__(), *ast.expr.__subclasses__())}
    assert syntax - known == REFUSED & syntax | PARTS
    assert arithmetic.BINARY.keys() == set(ast.operator.__subclasses__())
    assert {*arithmetic.UNARY, ast.Not} == set(ast.unaryop.__subclasses__())
    assert {*comparison.COMPARE, ast.In, ast.NotIn, ast.Is, ast.IsNot} == set(ast.cmpop.__subclasses__())
