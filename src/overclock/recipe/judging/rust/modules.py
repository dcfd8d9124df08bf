"""The performance side of level 1 for Rust candidates: the functions of the contract, asked for one at a time.

Answers the calls of `verify.module_runner.ModuleRunner`. What each module does is fixed here by its name, because a
module's own `performance` is written in JAX; the modules' names, inputs and outputs are those of `contract_modules`.
"""

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.recipe.contract.distributions import known_draws
from overclock.recipe.contract.file import ContractFile, load_contract
from overclock.recipe.contract.rules import LATER, NO_LIMIT, SEED
from overclock.recipe.contract.sample_statistics import SampleStatistics
from overclock.recipe.judging.rust.library import Library, load_library, named, rows
from overclock.verify.sides.subject import Arrays, SubjectSpec

SPACES = ("observation_space", "action_space")


def runner(spec: SubjectSpec, modules: EntryPoint | str) -> SubjectSpec:
    """The worker of level 1 for the spec of a RustSubject, as `verify.property.runner.runner` makes it."""
    return spec.wrapped_by(RustModuleRunner, modules=EntryPoint.of(modules).as_json())


class RustModuleRunner:
    """Runs one function of a Rust candidate at a time. It gets inputs only, never expected outputs."""

    def __init__(self, num_envs: int, subject: dict[str, Any], modules: dict[str, Any]) -> None:
        """`subject` has the options of a RustSubject; `modules` are known here by their names."""
        options = subject["arguments"]
        self._library = load_library(options["folder"], options["contract"], options["root"])
        self._modules = {**MODULES, **_luck(load_contract(Path(options["contract"])))}

    def describe(self) -> dict[str, Any]:
        return {"calls": ["exported", "sources", "run", "coverage"]}

    def exported(self) -> list[str]:
        """The functions of the trait that this contract needs. A candidate's other functions cannot be watched."""
        return list(dict.fromkeys(_called(name) for module in self._modules.values() for name in module.functions))

    def sources(self) -> dict[str, Any]:
        """No Python files are behind it."""
        return {"files": {}, "entered": []}

    def run(self, name: str, inputs: Arrays, count: int) -> dict[str, Any]:
        """The outputs of one module for all its cases, and which functions ran to compute them."""
        module = self._modules[name]
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


def _reset(library: Library, inputs: Arrays, count: int) -> Arrays:
    return named(library.init(rows(inputs, library.reset_dtype, count, "the draw")))


def _transition(library: Library, inputs: Arrays, count: int) -> Arrays:
    draws = rows(inputs, library.step_dtype, count, "the draw")
    after, reward, terminated = library.transition(_states(library, inputs, count), inputs["action"], draws)
    return {**named(after), "reward": reward, "terminated": terminated}


def _observe(library: Library, inputs: Arrays, count: int) -> Arrays:
    return {"obs": library.observe(_states(library, inputs, count))}


def _time_limit(library: Library, inputs: Arrays, count: int) -> Arrays:
    """Truncation as the subject computes it: the candidate only states the limit."""
    limit = np.int32(NO_LIMIT if library.max_steps is None else library.max_steps)
    steps = np.asarray(inputs["steps"], np.int32) + np.int32(1)
    truncated = np.zeros(count, np.bool_) if library.max_steps is None else steps >= limit
    limits = np.full(count, limit)
    return {"max_steps": limits, "default_max_steps": limits, "steps": steps, "truncated": truncated}


def _luck(contract: ContractFile) -> "dict[str, RustModule]":
    """The candidate's own draws, for resets and for steps."""
    found: dict[str, RustModule] = {}
    kinds = (("draw", contract.reset_draws, _reset_draw), ("draw_step", contract.step_draws, _step_draw))
    for name, draws, draw in kinds:
        function = ("draw_reset",) if name == "draw" else ("draw_step",)
        if draws:
            found[name] = RustModule(function, functools.partial(draw, False))
            found[f"{name}_later"] = RustModule(function, functools.partial(draw, True))
        if known := known_draws(draws):
            found[f"{name}_known"] = RustModule(function, functools.partial(_known, draw, SampleStatistics(known)))
    return found


def _reset_draw(later: bool, library: Library, inputs: Arrays, count: int) -> Arrays:
    return named(library.draw_reset(_streams(library, inputs["seed" if "seed" in inputs else SEED], later)))


def _step_draw(later: bool, library: Library, inputs: Arrays, count: int) -> Arrays:
    states = _states(library, inputs, count)
    return named(library.draw_step(_streams(library, inputs[SEED], later), states))


def _known(
    draw: Callable[..., Arrays], facts: SampleStatistics, library: Library, inputs: Arrays, count: int
) -> Arrays:
    """Statistics of very many events, by seed and by event; for steps, in the states of the case in turn."""
    told = []
    for case in range(count):
        states = {name: values[case] for name, values in inputs.items() if name != LATER}
        each = -(-facts.events // max(len(values) for values in states.values())) if states else 1
        events = {name: np.repeat(values, each, axis=0)[: facts.events] for name, values in states.items()}
        events[SEED] = np.arange(facts.events, dtype=np.uint32)
        told.append(facts.of(np, draw(bool(inputs[LATER][case]), library, events, facts.events)))
    return {name: np.stack([one[name] for one in told]) for name in told[0]}


def _streams(library: Library, numbers: np.ndarray, later: bool) -> np.ndarray:
    """The streams with these numbers, or these events of one stream."""
    if not later:
        return library.streams(numbers)
    keys = library.streams(np.zeros(len(numbers), np.int64))
    keys[:, 2] = numbers
    return keys


def _states(library: Library, inputs: Arrays, count: int) -> np.ndarray:
    return rows(inputs, library.state_dtype, count, "the state field")


def _called(function: str) -> str:
    """The name of a type as Rust writes it."""
    return f"candidate:Env::{function}"


@dataclasses.dataclass(frozen=True)
class RustModule:
    """The functions of the trait that a module runs, and how."""

    functions: tuple[str, ...]
    outputs: Callable[[Library, Arrays, int], Arrays]


MODULES = {
    "spaces": RustModule(SPACES, _spaces),
    "reset": RustModule(("init",), _reset),
    "transition": RustModule(("transition",), _transition),
    "observe": RustModule(("observe",), _observe),
    "time_limit": RustModule((), _time_limit),
}
