"""The reference of level 1: a twin's own reference, playing as usual while its functions are recorded.

Its code coverage is measured at the same time. It knows nothing of the performance side and does not import JAX.
"""

import contextlib
import dataclasses
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.results import encode
from overclock.verify.property.calls import Call, Recorder
from overclock.verify.property.code_coverage import CodeCoverage
from overclock.verify.property.module import Module, collect
from overclock.verify.property.targets import find
from overclock.verify.reach.compared import SEEN, WATCH
from overclock.verify.reach.ledger import Seen
from overclock.verify.reach.watcher import Watcher
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec


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
        self._boundary: dict[Any, list[Call]] = {}
        self._sound: dict[Any, list[Arrays]] = {}  # boundary inputs whose calls raised nothing
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
        boundary = [call for call in self._boundary_calls(module) if call.function in functions]
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
            compared = {name for module in self._modules if _key(module) == key for name in _functions(module)}
            _, apply = key

            def around(name: str, compared: set[str] = compared) -> contextlib.AbstractContextManager[Any]:
                rules = name in compared and watcher.covers(name.partition(":")[0])
                return watcher if rules and not watcher.watching else contextlib.nullcontext()

            with self._recorder.instead(around):
                for values in inputs:
                    apply(self._subject.instances[0], values)
        return watcher.seen()

    def _boundary_calls(self, module: Module) -> list[Call]:
        """Every call made by a module's boundary inputs; modules that share them run them once."""
        if module.boundary is None or module.apply is None:
            return []
        key = _key(module)
        if key not in self._boundary:
            instance, inputs, sound = self._subject.instances[0], module.boundary(), list[Arrays]()
            with self._recorder.every_call() as calls:
                for case in range(len(next(iter(inputs.values())))):
                    before, values = len(calls), {name: values[case] for name, values in inputs.items()}
                    module.apply(instance, values)
                    if all(call.error is None for call in calls[before:]):
                        sound.append(values)
            self._sound[key] = sound
            self._boundary[key] = calls
        return self._boundary[key]


def _key(module: Module) -> Any:
    """Equal for modules that share their boundary inputs."""
    return module.boundary, module.apply


def _functions(module: Module) -> list[str]:
    return [place.name for target in module.reference for place in find(target)]
