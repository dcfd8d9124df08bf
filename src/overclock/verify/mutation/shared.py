"""Mutants of rules that several environments share, such as a physics engine: what this environment runs of them.

An environment's class may extend one of another package. Those modules are mutated as well, but not what only other
environments run: whatever a mutant changes there, this environment stays the same. What is run is measured: the
environment is built, reset and stepped with the lines of these modules watched, JAX's tracing included.
"""

import ast
import contextlib
import inspect
import sys
import types
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.verify.contract import Twin
from overclock.verify.property.code_coverage import modules_behind
from overclock.verify.rollout.actions import uniform
from overclock.verify.sides.patched import source_of
from overclock.verify.sides.process import ProcessSubject

CONTRACT = "overclock.env"  # the base classes of every environment, whose own tests are elsewhere


def shared_modules(cls: type) -> list[str]:
    """The modules behind the base classes of an environment that belong to other packages."""
    own = _package(cls)
    bases = [
        base
        for base in cls.__mro__
        if issubclass(base, _environment()) and _package(base) not in (own, CONTRACT) and own
    ]
    return sorted({module.__name__ for base in bases for module in modules_behind(base)})


def lines_run(twin: Twin, modules: Collection[str], timeout: float) -> dict[str, set[int]]:
    """The lines of these modules that the environment runs; a module of which no function runs is left out."""
    if not modules:
        return {}
    spec = twin.performance_in(twin.strictest).wrapped_by(LinesRun, modules=sorted(modules))
    with ProcessSubject(spec, 1, "the environment with its lines watched", timeout) as watched:
        found = watched.ask("lines")
    return {module: _whole_statements(source_of(module)[0], set(lines)) for module, lines in found.items()}


class LinesRun:
    """A subject that is built, reset and stepped once, with the lines of some modules watched."""

    def __init__(self, num_envs: int, subject: dict[str, Any], modules: Sequence[str]) -> None:
        self.num_envs = num_envs
        self._files = {source_of(module)[1]: module for module in modules}
        self._lines: dict[str, set[int]] = {module: set() for module in modules}
        self._entered: set[str] = set()
        with self._watching():
            inner: Any = EntryPoint.from_json(subject).call(num_envs)
            self._description = inner.describe()
            seen = inner.reset(np.ones(num_envs, np.bool_), np.arange(num_envs))
            inner.step(uniform(self._description)(np.random.default_rng(0), seen))

    def describe(self) -> dict[str, Any]:
        return {**self._description, "calls": ["lines"]}

    def lines(self) -> dict[str, list[int]]:
        """By module: the lines that ran, where a function did."""
        return {module: sorted(self._lines[module]) for module in sorted(self._entered)}

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: types.FrameType, event: str, _: Any) -> Any:
        module = self._files.get(frame.f_code.co_filename)
        if module is None:
            return None
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function, and not the body of a class or a module
            self._entered.add(module)
        lines = self._lines[module]

        def ran(frame: types.FrameType, event: str, _: Any) -> Any:
            lines.add(frame.f_lineno)
            return ran

        return ran


def _whole_statements(source: str, lines: set[int]) -> set[int]:
    """The lines of every statement of which a line ran; of a compound one the lines of its head."""
    found = set(lines)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            span = set(range(node.lineno, max(node.lineno, last) + 1))
            found |= span if span & lines else set()
    return found


def _package(cls: type) -> str:
    return cls.__module__.rpartition(".")[0]


def _environment() -> type:
    from overclock.env import Environment

    return Environment
