"""The process in which mutants live: it exchanges the environment's source and plays what the reference did.

One process serves many mutants, because starting JAX takes longer than examining one. Every mutant is a fresh set of
modules and classes; nothing that the one before it defined is left where code looks for it. What a mutant raises is
an answer like any other; one that hangs or takes the process down is dealt with from outside.
"""

import dataclasses
import importlib
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.errors import UsageError
from overclock.verify.contract import Precision, Twin
from overclock.verify.interaction.metamorphic_rules import ENVIRONMENT_RULES
from overclock.verify.interaction.playback import play
from overclock.verify.mutation.recording import Recording, joined, play_episodes
from overclock.verify.property.module import Module
from overclock.verify.property.runner import run_batch
from overclock.verify.sides.patched import load_changed
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec

FAST_COMPILE = "--xla_backend_optimization_level=0"  # every mutant is compiled and hardly run


def worker_spec(twin: Twin, sources: list[str], recording: str, precision: Precision, flags: str = "") -> SubjectSpec:
    """The spec of a worker; `recording` is the file with a pickled `Recording`."""
    modules = None if twin.modules is None else EntryPoint.of(twin.modules).as_json()
    spec = twin.performance_in(precision).wrapped_by(
        MutationWorker, sources=sources, modules=modules, recording=recording
    )
    spec = dataclasses.replace(spec, files=(*spec.files, recording))
    return spec.with_environment(XLA_FLAGS=f"{flags} {FAST_COMPILE}".strip())


class MutationWorker:
    """A performance side whose source can be exchanged; it is also that side's subject, for checks step by step."""

    def __init__(
        self,
        num_envs: int,
        subject: dict[str, Any],
        sources: list[str],
        modules: dict[str, Any] | None,
        recording: str,
    ) -> None:
        self.num_envs, self._sources = num_envs, sources
        self._entry_point = EntryPoint.from_json(subject)
        with open(recording, "rb") as file:
            self._recording: Recording = pickle.load(file)
        known = () if modules is None else EntryPoint.from_json(modules).load()
        self._modules: dict[str, Module] = {module.name: module for module in known}
        self._build()
        if not hasattr(self._subject, "rules"):
            raise UsageError(f"{self._entry_point} is not written in Python, so no mistakes can be planted in it.")

    def describe(self) -> dict[str, Any]:
        return {**self._subject.describe(), "calls": ["load", "module", "scenarios", "episodes", "checks"]}

    def load(self, module: str, source: str) -> dict[str, Any]:
        """Become a mutant: `module` has another source, everything else is as it was."""

        def change() -> None:
            self._forget()
            changed = load_changed(module, source)
            package, _, name = module.rpartition(".")
            if package:
                setattr(sys.modules[package], name, changed)  # for `from package import name`
            self._build()

        return _answer(change)

    def module(self, name: str) -> dict[str, Any]:
        """Level 1: the outputs of one module for all its cases."""
        cases = self._recording.cases[name]
        env, params = self._subject.rules
        performance = self._modules[name].performance
        return _answer(lambda: run_batch(performance, env, params, cases.inputs, len(cases)))

    def scenarios(self, forced: bool) -> dict[str, Any]:
        """Level 2: what is seen in all scenarios, moment by moment."""
        recording = self._recording
        return _answer(
            lambda: {
                str(moment): _plain(seen)
                for moment, seen in enumerate(play(self._subject, recording.scenarios, recording.playback, forced))
            }
        )

    def episodes(self, name: str, forced: bool) -> dict[str, Any]:
        """Level 3: what is seen in all episodes, resets and steps apart."""
        events = self._recording.episodes[name]

        def run() -> dict[str, Any]:
            shown = play_episodes(self._subject, events, forced)
            resets = [seen for seen, event in zip(shown, events, strict=True) if event.reset is not None]
            steps = [seen for seen, event in zip(shown, events, strict=True) if event.reset is None]
            return {"resets": _plain(joined(resets)), "steps": _plain(joined(steps))}

        return _answer(run)

    def checks(self, strays: dict[str, Any]) -> dict[str, Any]:
        """Level 2: the checks of the environment against itself."""
        return _answer(lambda: [self._subject.metamorphic(name, strays) for name in ENVIRONMENT_RULES])

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._subject.reset(mask, seeds, draws)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._subject.step(actions, draws)

    def set_state(self, state: Arrays) -> None:
        self._subject.set_state(state)

    def _build(self) -> None:
        self._subject: Any = self._entry_point.call(self.num_envs)

    def _forget(self) -> None:
        """Take the environment's modules out of the places where imports find them."""
        for module in self._sources:
            sys.modules.pop(module, None)
            package, _, name = module.rpartition(".")
            if package and hasattr(sys.modules.get(package), name):
                delattr(sys.modules[package], name)
        importlib.invalidate_caches()


def _answer(run: Callable[[], Any]) -> dict[str, Any]:
    """What `run` returns, or what it raises."""
    try:
        return {"value": run(), "raised": None}
    except Exception as error:
        return {"value": None, "raised": f"{type(error).__name__}: {error}".partition("\n")[0]}


def _plain(seen: Observed) -> dict[str, Any]:
    return {"outputs": seen.outputs, "state": seen.state, "draws": {}}
