"""The reference of level 1: a twin's own reference, playing as usual while its functions are recorded.

Its code coverage is measured at the same time. It knows nothing of the performance side and does not import JAX.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.results import encode
from overclock.verify.property.calls import Call, Recorder
from overclock.verify.property.code_coverage import CodeCoverage
from overclock.verify.property.module import Module, collect
from overclock.verify.property.targets import find
from overclock.verify.property.variations import compared, counted
from overclock.verify.reach.compared import SEEN, WATCH
from overclock.verify.reach.comparisons import comparisons, constants_of
from overclock.verify.reach.ledger import Seen
from overclock.verify.reach.watcher import Watcher
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec

Apply = Callable[[Any, Arrays], None]


def recorded(spec: SubjectSpec, modules: EntryPoint | str, seed: int) -> SubjectSpec:
    """The spec of a reference, with the functions of its modules recorded."""
    return spec.wrapped_by(RecordedReference, modules=EntryPoint.of(modules).as_json(), seed=seed)


class RecordedReference:
    """A reference that plays as usual while its functions are recorded and its code coverage is measured."""

    def __init__(self, num_envs: int, subject: dict[str, Any], modules: dict[str, Any], seed: int) -> None:
        self.num_envs = num_envs
        self._modules: tuple[Module, ...] = EntryPoint.from_json(modules).load()
        targets = [target for module in self._modules for target in module.reference]
        depths: dict[str, int] = {}
        attributes: dict[str, set[str] | None] = {}
        for module in self._modules:
            for function in _functions(module):
                depths[function] = max(module.depth, depths.get(function, 0))
                known = attributes.setdefault(function, set())
                attributes[function] = (
                    None if known is None or module.attributes is None else known | {*module.attributes}
                )
        self._recorder = Recorder(targets, seed, depths, attributes=attributes)
        self._boundary: dict[tuple[Callable[[], Arrays], Apply], tuple[Arrays, list[list[Call]]]] = {}
        self._sound: dict[tuple[Callable[[], Arrays], Apply], list[Arrays]] = {}  # inputs whose calls raised nothing
        self._coverage = CodeCoverage({name.partition(":")[0] for name in self._recorder.functions})
        self._coverage.start()
        self._recorder.start()  # before the subject exists: its constructor is a function of the reference too
        self._subject = EntryPoint.from_json(subject).call(num_envs)

    def describe(self) -> dict[str, Any]:
        known = self._subject.describe()
        watched = [SEEN] if WATCH in known.get("calls", ()) else []
        return {**known, "calls": ["cases", "coverage", *watched]}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._subject.reset(mask, seeds, draws)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._subject.step(actions, draws)

    def cases(self, name: str) -> dict[str, Any]:
        """Run a module's boundary inputs, and give all its cases (`Cases` as a dict)."""
        (module,) = (module for module in self._modules if module.name == name)
        functions = _functions(module)
        samples = [self._recorder.samples[function] for function in functions]
        boundary = [call for call in self._boundary_calls(module, functions) if call.function in functions]
        kept = [call for sample in samples for call in sample.kept()]
        total = sum(sample.calls for sample in samples) + len(boundary)
        return dataclasses.asdict(collect(module, kept, boundary, total))

    def coverage(self) -> dict[str, Any]:
        """What ran of the recorded functions since the start (`Coverage`); ends the measurement."""
        return encode(self._coverage.report(self._recorder.functions))

    def seen(self) -> Seen:
        """Which branches the boundary inputs take, run once more; not while coverage is measured.

        Of recorded play not every call is compared, so it does not count.
        """
        watcher = Watcher(self._subject)
        for key, inputs in self._sound.items():
            compared = {
                name
                for module in self._modules
                if (module.boundary, module.apply) == key
                for name in _functions(module)
            }
            _, apply = key

            def around(name: str, compared: set[str] = compared) -> contextlib.AbstractContextManager[Any]:
                rules = name in compared and watcher.covers(name.partition(":")[0])
                return watcher if rules and not watcher.watching else contextlib.nullcontext()

            with self._recorder.instead(around):
                for values in inputs:
                    apply(self._subject.instances[0], values)
        return watcher.seen()

    def _boundary_calls(self, module: Module, functions: list[str]) -> list[Call]:
        """Every call made by a module's boundary inputs, and by their variations."""
        if module.boundary is None or module.apply is None:
            return []
        inputs, calls = self._unvaried(module.boundary, module.apply)
        found = [call for made in calls for call in made]
        for name in module.counters:
            changes = [_changes(module, name, [call for call in made if call.function in functions]) for made in calls]
            found += itertools.chain(*self._applied((module.boundary, module.apply), counted(inputs, name, changes)))
        if module.compared:
            varied = compared(inputs, module.compared, (*self._constants(), *module.constants))
            found += itertools.chain(*self._applied((module.boundary, module.apply), varied))
        return found

    def _unvaried(self, boundary: Callable[[], Arrays], apply: Apply) -> tuple[Arrays, list[list[Call]]]:
        """Boundary inputs and the calls of each; modules that share them run them once."""
        if (boundary, apply) not in self._boundary:
            inputs = boundary()
            self._boundary[boundary, apply] = inputs, self._applied((boundary, apply), inputs)
        return self._boundary[boundary, apply]

    def _applied(self, key: tuple[Callable[[], Arrays], Apply], inputs: Arrays) -> list[list[Call]]:
        instance, found, sound = self._subject.instances[0], [], self._sound.setdefault(key, [])
        for case in range(len(next(iter(inputs.values())))):
            values = {name: values[case] for name, values in inputs.items()}
            with self._recorder.every_call() as calls:
                key[1](instance, values)
            found.append(calls)
            if all(call.error is None for call in calls):
                sound.append(values)
        return found

    def _constants(self) -> tuple[float, ...]:
        """What the source of the reference compares with."""
        rules = getattr(self._subject.instances[0], "unwrapped", self._subject.instances[0])
        return constants_of(comparisons([type(rules)], rules))


def _changes(module: Module, name: str, calls: Sequence[Call]) -> bool:
    """Whether a counter is not the same before and after one of these calls, as the module's cases show it."""
    cases = [module.case(call) for call in calls if call.error is None]
    return any(
        case is not None and name in case.inputs and name in case.expected and case.inputs[name] != case.expected[name]
        for case in cases
    )


def _functions(module: Module) -> list[str]:
    return [place.name for target in module.reference for place in find(target)]
