"""`Subject`: the one shape that everything under comparison has, a Gymnasium env as well as our JAX code.

All values are `dict[str, ndarray]` with the batch as leading axis, so any language can implement it; subjects
usually run in a process of their own (`process.py`) that speaks the small protocol of `wire.py`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from overclock.entry_point import EntryPoint

Arrays = dict[str, np.ndarray]
# As texts, because importing them starts JAX.
MODULE_RUNNER = "overclock.verify.property.runner:ModuleRunner"
TRAINER = "overclock.verify.transfer.training:PerformanceTrainer"


@dataclasses.dataclass
class Observed:
    """What a subject shows after a reset or a step of all its lanes."""

    outputs: Arrays  # obs, action_mask where there is one, and after a step reward, terminated, truncated
    state: Arrays  # every state field it can name
    draws: Arrays  # the randomness it just used (a reference) or was given (a performance side)


class Subject(Protocol):
    """A batch of environments that can be driven in lock-step with another one."""

    num_envs: int

    def describe(self) -> dict[str, Any]:
        """The action space: `{"kind": "discrete", "n": n}` or `{"kind": "box", "low": ..., "high": ...}` (arrays).

        Games of several players add `"players": P`. `"calls"` lists the further calls a subject offers: `trace` and
        `branches` (a reference that can tell which branches of its code ran), `metamorphic` (checks of itself), `cells`
        (one that can be told what is drawn, see cells.py).
        """
        ...

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """Start a new episode in the lanes of `mask`: from seeds, or from given randomness where it can."""
        ...

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """Step every lane once, without any automatic reset."""
        ...

    def set_state(self, state: Arrays) -> None:
        """Put every lane into a given state (a capability; a subject without it raises NotImplementedError)."""
        ...


@dataclasses.dataclass(frozen=True)
class SubjectSpec:
    """How to build a subject in its own process: its class or a function, options, environment variables.

    Everything that is loaded by name is an `EntryPoint` or its text 'package.module:name'. The entry point is called
    with the number of lanes and the options, which must be plain values.

    A launcher decides how the process starts, inside a sandbox for example. It is a function
    `(argv, environment, files, **arguments) -> (argv, environment)`: it gets the worker's command line, the
    variables of `environment` alone, and the files that the worker must be able to read, and returns the command
    line and the whole environment to start it with. The command must pass stdin, stdout and stderr through, and
    killing its process group must end whatever it started. Where a module of a performance side lies in a folder
    among `files`, level 1 wants all Python functions of that folder to be run.
    """

    entry_point: EntryPoint | str
    options: tuple[tuple[str, Any], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    launcher: EntryPoint | None = None
    files: tuple[str, ...] = ()
    kernels: bool = False  # it takes the option `backend`, "c" or "cuda" for its rules as a fused kernel
    module_runner: EntryPoint | str = MODULE_RUNNER  # the worker of level 1, which calls single functions of it
    trainer: EntryPoint | str = TRAINER  # the worker of level 4, which trains on it

    @classmethod
    def of(cls, entry_point: EntryPoint | str | Callable[..., Any], /, **options: Any) -> "SubjectSpec":
        """The spec of a class or a function (or of its text) and its options."""
        return cls(EntryPoint.of(entry_point), tuple(options.items()))

    @property
    def subject(self) -> EntryPoint:
        """The entry point with the options as its arguments: `subject.call(lanes)` builds the subject here."""
        return EntryPoint.of(self.entry_point, **dict(self.options))

    def wrapped_by(self, worker: EntryPoint | str | Callable[..., Any], /, **options: Any) -> "SubjectSpec":
        """The spec of a worker that builds this subject in its own process: its option `subject` is the JSON form."""
        return self.with_worker(worker, subject=self.subject.as_json(), **options)

    def with_worker(self, worker: EntryPoint | str | Callable[..., Any], /, **options: Any) -> "SubjectSpec":
        """Another entry point with its own options, in the environment and behind the launcher of this one."""
        return dataclasses.replace(self, entry_point=EntryPoint.of(worker), options=tuple(options.items()))

    def as_json(self) -> dict[str, Any]:
        """As reports show it: entry points as texts."""
        launcher, options = (None, ()) if self.launcher is None else (str(self.launcher), self.launcher.arguments)
        texts = {name: str(getattr(self, name)) for name in ("entry_point", "module_runner", "trainer")}
        return {**vars(self), **texts, "launcher": launcher, "launcher_options": options}

    def with_environment(self, **variables: str) -> "SubjectSpec":
        """The same subject with further environment variables."""
        return dataclasses.replace(self, environment=(*self.environment, *variables.items()))
