"""The performance side of level 1: a twin's own environment, asked for one function at a time."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.backends import Backend
from overclock.entry_point import EntryPoint
from overclock.errors import UsageError
from overclock.results import encode
from overclock.vector.fused import UnsupportedError, lane_map
from overclock.verify.property.code_coverage import CodeCoverage, FunctionsRun, exported_functions, modules_behind
from overclock.verify.property.module import Module, Performance
from overclock.verify.property.targets import find
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.subject import Arrays, SubjectSpec


def runner(spec: SubjectSpec, modules: EntryPoint | str) -> SubjectSpec:
    """The spec of a performance side that runs its modules one by one."""
    return spec.wrapped_by(spec.module_runner, modules=EntryPoint.of(modules).as_json())


class ModuleRunner:
    """A performance side asked for one function at a time. It sees inputs only, never what is expected of it."""

    def __init__(self, num_envs: int, subject: dict[str, Any], modules: dict[str, Any]) -> None:
        entry_point = EntryPoint.from_json(subject)
        inner = entry_point.call(num_envs)
        if not hasattr(inner, "rules"):
            raise UsageError(f"{entry_point} has no functions that could be run one by one (it has no `rules`).")
        self._env, self._params = inner.rules
        self._backend: Backend = (inner.backend if isinstance(inner, JaxSubject) else None) or "xla"
        self._modules: dict[str, Module] = {module.name: module for module in EntryPoint.from_json(modules).load()}
        sources = modules_behind(type(self._env))
        self._files = {module.__name__: str(module.__file__) for module in sources}
        self._entered = list(getattr(inner, "entered", ()))  # what had to run before anything could be asked
        self._exported = [place for place in exported_functions(sources) if place.name not in self._entered]
        declared = [place for module in self._modules.values() for name in module.exercises for place in find(name)]
        self._functions = FunctionsRun([*self._exported, *declared], self._files)
        self._coverage = CodeCoverage({module.__name__ for module in sources})
        self._coverage.start()

    def describe(self) -> dict[str, Any]:
        return {"calls": ["exported", "sources", "run", "coverage"]}

    def exported(self) -> list[str]:
        """The public functions of the modules in which the environment is written."""
        return [place.name for place in self._exported]

    def sources(self) -> dict[str, Any]:
        """Where these modules were read from, for a look that is not its own (exported.py); functions run already."""
        return {"files": self._files, "entered": self._entered}

    def run(self, name: str, inputs: Arrays, count: int) -> dict[str, Any]:
        """The outputs of one module for all its cases, and which functions ran to compute them.

        `by_xla` says why a module is no kernel where one was asked for: a sample of 100,000 draws has no room in it.
        """
        module, by_xla = self._modules[name].performance, None
        jax.clear_caches()  # a function compiled for another module would not run again, and would not be seen
        with self._functions.watching() as ran:
            try:
                outputs = run_batch(module, self._env, self._params, inputs, count, self._backend)
            except UnsupportedError as error:
                by_xla, outputs = error.reason, run_batch(module, self._env, self._params, inputs, count)
        return {"outputs": outputs, "ran": sorted(ran), "by_xla": by_xla}

    def coverage(self) -> dict[str, Any]:
        """What ran of all functions so far (`Coverage`); ends the measurement."""
        return encode(self._coverage.report())


def run_batch(
    performance: Performance, env: Any, params: Any, inputs: Arrays, count: int, backend: Backend = "xla"
) -> Arrays:
    """A module's outputs for `count` cases at once; float64 inputs become float32 where x64 is off."""

    def one(_: Any, values: dict[str, Any]) -> dict[str, Any]:
        return {name: jnp.asarray(value) for name, value in performance(env, params, values).items()}

    # The index gives the batch its size where a module has no inputs.
    arrays = {name: jnp.asarray(value) for name, value in inputs.items()}
    outputs = jax.jit(functools.partial(lane_map, one, backend=backend))(jnp.arange(count), arrays)
    return {name: np.asarray(value) for name, value in outputs.items()}
