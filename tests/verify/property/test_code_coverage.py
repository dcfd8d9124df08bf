"""Which code ran: functions also under JAX's tracing, lines and branches of functions without those that draw."""

import functools
import importlib
import sys

import jax
import numpy as np
import pytest

pytest.importorskip("coverage", reason="coverage of level 1 needs coverage.py, from the extra `report`")

from overclock.entry_point import EntryPoint
from overclock.verify.property.code_coverage import CodeCoverage, FunctionsRun, exported_functions, modules_behind
from overclock.verify.property.module import Module, Output
from overclock.verify.property.result import Share
from overclock.verify.property.runner import ModuleRunner
from overclock.verify.sides.patched import load_changed, source_of

RULES = '''"""Rules of a game."""

import functools
from dataclasses import dataclass

import jax

from game.pieces import shift


@dataclass(frozen=True)
class Game:
    size: int = 3
    smooth = staticmethod(jax.numpy.tanh)

    def play(self, x):
        return _hidden(self.move(x))

    @functools.partial(jax.jit, static_argnums=0)
    def move(self, x):
        if self.size > 5:
            return x
        return shift(x)

    def idle(self, x):
        if self.render_mode == "human":
            self.render()
        return x


def _hidden(x):
    return x
'''
PIECES = '''"""Pieces of a game."""


def shift(x):
    return x + 1


def unused(x):
    return x
'''


class Opaque:
    """A decorator's result that does not tell what is inside."""

    def __init__(self, inner):
        self._inner = inner

    def __call__(self, x):
        return self._inner(x)


@pytest.fixture
def game(tmp_path, monkeypatch):
    """A package of two modules; a third is never used."""
    (tmp_path / "game").mkdir()
    for name, text in {
        "__init__": "",
        "rules": RULES,
        "pieces": PIECES,
        "painting": "def paint():\n    pass\n",
    }.items():
        (tmp_path / "game" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("game.rules")
    for name in [name for name in sys.modules if name.partition(".")[0] == "game"]:
        del sys.modules[name]


def test_the_modules_of_an_environment_are_those_its_class_uses(game):
    importlib.import_module("game.painting")
    assert [module.__name__ for module in modules_behind(game.Game)] == ["game.rules", "game.pieces"]


def test_exported_are_the_public_functions_that_somebody_wrote(game):
    names = [place.name for place in exported_functions(modules_behind(game.Game))]
    assert names == [
        "game.rules:Game.play", "game.rules:Game.move", "game.rules:Game.idle", "game.pieces:shift",
        "game.pieces:unused",
    ]  # fmt: skip


def test_functions_are_noticed_inside_jitted_and_vmapped_code(game):
    functions = FunctionsRun(exported_functions(modules_behind(game.Game)))
    with functions.watching() as ran:
        jax.jit(jax.vmap(game.Game().play))(jax.numpy.arange(3))
    assert ran == {"game.rules:Game.play", "game.rules:Game.move", "game.pieces:shift"}


def test_a_function_behind_an_opaque_decorator_is_noticed_in_its_file(game):
    pieces = sys.modules["game.pieces"]
    pieces.shift = game.shift = Opaque(pieces.shift)  # pyright: ignore[reportAttributeAccessIssue]
    assert "game.pieces:shift" not in [place.name for place in exported_functions([pieces])]
    functions = FunctionsRun([], {"game.pieces": str(pieces.__file__)})
    with functions.watching() as ran:
        game.Game().play(1)
    assert ran == {"game.pieces:shift"}


def test_nothing_is_noticed_when_nothing_runs(game):
    functions = FunctionsRun(exported_functions(modules_behind(game.Game)))
    game.Game().play(1)
    with functions.watching() as ran:
        pass
    assert ran == set()


def test_missing_lines_and_branches_are_named(game):
    measured = CodeCoverage(["game.rules", "game.pieces"])
    measured.start()
    game.Game().play(1)
    report = measured.report()
    assert report.missing_lines == ["game/rules.py:22", "game/rules.py:28", "game/pieces.py:9"]
    assert report.missing_branches == ["game/rules.py:21 -> 22"]
    assert report.lines == Share(5, 8, 62.5)
    assert report.branches == Share(1, 2, 50.0)


def test_only_the_asked_functions_count(game):
    measured = CodeCoverage(["game.rules"])
    measured.start()
    game.Game().play(1)
    report = measured.report(["game.rules:Game.play"])
    assert report.functions == ["game/rules.py:Game.play"]
    assert report.lines.percent == 100.0
    assert report.branches.percent is None  # there is none


def test_a_changed_module_cannot_be_measured_and_says_so(game):
    source, _ = source_of("game.pieces")
    load_changed("game.pieces", source.replace("x + 1", "x + 2"))
    measured = CodeCoverage(["game.pieces"])
    measured.start()
    report = measured.report()
    assert report.unmeasured == ["game.pieces"]
    assert report.lines.percent is None


# ---- the runner of performance functions, with a function that JAX compiles only once ----


@Opaque
def twice(x):
    return 2 * x


class Doubler:
    @functools.partial(jax.jit, static_argnums=0)
    def double(self, x):
        return twice(x)


class Ruled:
    def __init__(self, num_envs):
        self.rules = (Doubler(), None)


def module(name):
    return Module(
        name=name,
        reference=(),
        case=lambda call: None,
        performance=lambda env, params, inputs: {"y": env.double(inputs["x"])},
        exercises=(f"{__name__}:Doubler.double",),
        outputs={"float64": (Output("y"),)},
    )


MODULES = (module("first"), module("second"))


def test_a_function_that_was_compiled_before_still_counts_as_run():
    runner = ModuleRunner(1, EntryPoint.of(Ruled).as_json(), EntryPoint.of(f"{__name__}:MODULES").as_json())
    for name in ("first", "second"):
        answer = runner.run(name, {"x": np.arange(3.0)}, 3)
        assert answer["outputs"]["y"].tolist() == [0, 2, 4]
        assert {f"{__name__}:Doubler.double", f"{__name__}:twice"} <= set(answer["ran"])
    runner.coverage()
