"""The performance side of level 1 for Rust candidates: the functions of the contract, asked for one at a time.

Answers the calls of `verify.module_runner.ModuleRunner`. What each module does is fixed here by its name, because a
module's own `performance` is written in JAX; the modules' names, inputs and outputs are those of `contract_modules`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recipe.rust.library import Library, load_library, named, rows
from overclock.recipe.rust.subject import RUNNER
from overclock.verify.subject import Arrays, SubjectSpec

SPACES = ("observation_space", "action_space")


def runner(spec: SubjectSpec, modules: str) -> SubjectSpec:
    """As `verify.module_runner.runner`, for the spec of a RustSubject."""
    options = (("subject", [spec.entry_point, dict(spec.options)]), ("modules", modules))
    return dataclasses.replace(spec, entry_point=RUNNER, options=options)


class RustModuleRunner:
    """A Rust candidate asked for one function at a time. It sees inputs only, never what is expected of it."""

    def __init__(self, num_envs: int, subject: tuple[str, dict[str, Any]], modules: str) -> None:
        """`subject` has the options of a RustSubject; `modules` are known here by their names."""
        options = subject[1]
        self._library = load_library(options["folder"], options["contract"], options["root"])

    def describe(self) -> dict[str, Any]:
        """The calls it offers."""
        return {"calls": ["exported", "sources", "run", "coverage"]}

    def exported(self) -> list[str]:
        """The functions of the trait that this contract needs. A candidate's other functions cannot be watched."""
        modules = [name for name in MODULES if name != "draw" or self._library.reset_dtype.names]
        return list(dict.fromkeys(_called(function) for name in modules for function in MODULES[name].functions))

    def sources(self) -> dict[str, Any]:
        """No Python files are behind it."""
        return {"files": {}, "entered": []}

    def run(self, name: str, inputs: Arrays, count: int) -> dict[str, Any]:
        """The outputs of one module for all its cases, and which functions ran to compute them."""
        module = MODULES[name]
        outputs = module.outputs(self._library, inputs, count)
        return {"outputs": outputs, "ran": sorted(map(_called, module.functions))}

    def coverage(self) -> dict[str, Any]:
        """Nothing: compiled code does not tell which of its lines ran."""
        share = {"covered": 0, "total": 0, "percent": None}
        missing = {"missing_lines": [], "missing_branches": [], "functions": []}
        return {"lines": share, "branches": share, **missing, "unmeasured": ["the Rust candidate, which is compiled"]}


def _spaces(library: Library, inputs: Arrays, count: int) -> Arrays:
    """Bounds and sizes of both spaces, zero where one has none."""
    outputs: Arrays = {}
    for name, space in (("obs", library.observations), ("action", library.actions)):
        bounds = (space.low, space.high) if space.kind == "box" else (np.int64(0), np.int64(0))
        for part, value in zip(("low", "high", "n"), (*bounds, np.int64(space.n)), strict=True):
            outputs[f"{name}_{part}"] = np.repeat(np.asarray(value)[None], count, axis=0)
    return outputs


def _draw(library: Library, inputs: Arrays, count: int) -> Arrays:
    return named(library.draw_reset(library.streams(inputs["seed"])))


def _reset(library: Library, inputs: Arrays, count: int) -> Arrays:
    return named(library.init(rows(inputs, library.reset_dtype, count, "the draw")))


def _transition(library: Library, inputs: Arrays, count: int) -> Arrays:
    draws = rows(inputs, library.step_dtype, count, "the draw")
    after, reward, terminated = library.transition(_states(library, inputs, count), inputs["action"], draws)
    return {**named(after), "reward": reward, "terminated": terminated}


def _observe(library: Library, inputs: Arrays, count: int) -> Arrays:
    return {"obs": library.observe(_states(library, inputs, count))}


def _states(library: Library, inputs: Arrays, count: int) -> np.ndarray:
    return rows(inputs, library.state_dtype, count, "the state field")


def _called(function: str) -> str:
    """As a Rust programmer knows it."""
    return f"candidate:Env::{function}"


@dataclasses.dataclass(frozen=True)
class RustModule:
    """The functions of the trait that a module runs, and how."""

    functions: tuple[str, ...]
    outputs: Callable[[Library, Arrays, int], Arrays]


MODULES = {
    "spaces": RustModule(SPACES, _spaces),
    "draw": RustModule(("draw_reset",), _draw),
    "reset": RustModule(("init",), _reset),
    "transition": RustModule(("transition",), _transition),
    "observe": RustModule(("observe",), _observe),
}
