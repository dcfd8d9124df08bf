"""The performance side of level 1 for Rust batches: their border's calls, one at a time.

Answers the calls of `module_runner.ModuleRunner`. A module's `performance(side, None, inputs)` gets a `NativeSubject`
with a lane for every case and the inputs of all of them. Functions inside the compiled code cannot be called or
watched; they run as parts of these.
"""

from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.results import encode
from overclock.verify.property.module import Module
from overclock.verify.property.result import Coverage, Share
from overclock.verify.sides.subject import Arrays

CALLS = ("describe", "reset", "step", "observe")


class NativeModuleRunner:
    """A Rust batch asked for one call at a time. It sees inputs only, never what is expected of it."""

    def __init__(self, num_envs: int, subject: dict[str, Any], modules: dict[str, Any]) -> None:
        """`subject` has the options of a `NativeSubject`."""
        self._subject = EntryPoint.from_json(subject)
        self._batch = dict(self._subject.arguments)["batch"]
        self._modules: dict[str, Module] = {module.name: module for module in EntryPoint.from_json(modules).load()}

    def describe(self) -> dict[str, Any]:
        return {"calls": ["exported", "sources", "run", "coverage"]}

    def exported(self) -> list[str]:
        """What there is to call."""
        return [called(self._batch, call) for call in CALLS]

    def sources(self) -> dict[str, Any]:
        """No Python files are behind it."""
        return {"files": {}, "entered": []}

    def run(self, name: str, inputs: Arrays, count: int) -> dict[str, Any]:
        """The outputs of one module for all its cases, and what was called to compute them."""
        side = _Watched(self._subject.call(count))
        outputs = self._modules[name].performance(side, None, inputs)
        ran = sorted(called(self._batch, call) for call in side.used & set(CALLS))
        return {"outputs": {name: np.asarray(values) for name, values in outputs.items()}, "ran": ran}

    def coverage(self) -> dict[str, Any]:
        """Nothing: compiled code does not tell which of its lines ran."""
        nothing = Share(0, 0, None)
        return encode(
            Coverage(
                lines=nothing, branches=nothing, missing_lines=[], missing_branches=[], functions=[],
                unmeasured=["the Rust batch, which is compiled"],
            )
        )  # fmt: skip


def called(batch: str, call: str) -> str:
    """A call of a batch's border, as modules name what they exercise."""
    return f"{batch}.{call}"


class _Watched:
    """A subject that knows which of its calls were used."""

    def __init__(self, subject: Any) -> None:
        self._subject, self.used = subject, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.used.add(name)
        return getattr(self._subject, name)
