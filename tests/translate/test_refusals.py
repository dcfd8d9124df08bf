"""Whom a refusal blames, and where: what a trap cannot show, as it needs another library or a broken part."""

import ast
import inspect
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="the traps are Gymnasium environments")

from translate.traps import lists
from translate.traps.base import Trap

from overclock.recording.errors import UnsupportedError
from overclock.translate import profile
from overclock.translate.compiler import Compiler
from overclock.translate.python.frames import is_library, source_of
from overclock.translate.python.private import mangled, with_private_names


def test_what_breaks_in_the_translator_is_not_blamed_on_the_reference(monkeypatch):
    def broken(value):
        raise RecursionError("too deep")

    monkeypatch.setattr(profile, "of_python", broken)
    with pytest.raises(UnsupportedError, match="the translator itself fails") as refusal:
        profile.look(lists.RemovedWhileIterated)
    assert "reference" not in refusal.value.reason
    assert Path(refusal.value.place.file) == Path(inspect.getsourcefile(lists))
    assert refusal.value.place.text == "class RemovedWhileIterated(Trap):"


def test_a_function_of_scipy_is_called_by_its_own_name():
    special = pytest.importorskip("scipy.special", reason="scipy is an extra")

    class Expit(Trap):
        def begin(self):
            self.x = 0.0

        def play(self, action):
            self.x += action
            return special.expit(self.x)

    with pytest.raises(UnsupportedError, match=r"scipy\.special\.expit with values of the run time") as refusal:
        Compiler(Expit, "Expit", profile.look(Expit, episodes=1, steps=3)).program()
    assert refusal.value.place.file == __file__


@pytest.mark.parametrize(
    ("name", "cls", "meant"),
    [
        ("__n", "Simple", "_Simple__n"),
        ("__n", "__Simple", "_Simple__n"),
        ("___n", "Simple", "_Simple___n"),
        ("__n_", "Simple", "_Simple__n_"),
        ("__n__", "Simple", "__n__"),
        ("_n", "Simple", "_n"),
        ("__n", "__", "__n"),
    ],
)
def test_a_private_name_is_the_one_that_python_uses(name, cls, meant):
    space = {}
    exec(f"class {cls}:\n    {name} = 1", space)
    assert meant in vars(space[cls])
    assert mangled(name, cls) == meant


def test_names_in_a_tree_are_those_of_the_compiled_code():
    text = """
class Outer(__base__):
    def f(self, __a):
        global __g
        __g = self.__x = call(__a, __k=1)
        class Inner:
            def g(self):
                return self.__y
        return __free.__z
"""
    tree = with_private_names(ast.parse(text))
    assert compile(tree, "tree", "exec").co_consts[0].co_code == compile(text, "text", "exec").co_consts[0].co_code
    names = {one.attr for one in ast.walk(tree) if isinstance(one, ast.Attribute)}
    assert names == {"_Outer__x", "_Inner__y", "_Outer__z"}
    assert {one.arg for one in ast.walk(tree) if isinstance(one, ast.keyword)} == {"__k"}


class _Private:
    def __move(self):
        return self.__n > 1

    move = __move


def test_the_text_of_a_condition_has_the_names_of_the_source():
    source = source_of(_Private.move)
    assert source.node.name == "__move"
    assert source.text(source.node.body[0]) == "return self.__n > 1"


def test_libraries_are_told_from_environments():
    import dataclasses

    import gymnasium
    import numpy

    assert is_library(dataclasses.__file__)
    assert is_library(numpy.__file__)
    assert is_library("numpy/random/_bounded_integers.pyx")
    assert not is_library(gymnasium.__file__)
    assert not is_library(__file__)
