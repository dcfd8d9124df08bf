"""`Subject`: the one shape that everything under comparison has, a Gymnasium env as well as our JAX code.

All values are `dict[str, ndarray]` with the batch as leading axis, so any language can implement it; subjects
usually run in a process of their own (`process.py`) that speaks the small protocol of `wire.py`.
"""

import dataclasses
from typing import Any, Protocol

import numpy as np

Arrays = dict[str, np.ndarray]


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
    """How to build a subject in its own process: an entry point 'package.module:function', options, environment.

    A launcher decides how that process starts, inside a sandbox say. It is the entry point of a function
    `(argv, environment, files, **launcher_options) -> (argv, environment)`: it gets the worker's command line, the
    variables of `environment` alone, and the files that the worker must be able to read, and returns the command
    line and the whole environment to start it with. The command must pass stdin, stdout and stderr through, and
    killing its process group must end whatever it started. Where a module of a performance side lies in a folder
    among `files`, level 1 wants all Python functions of that folder to be run.
    """

    entry_point: str
    options: tuple[tuple[str, Any], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    launcher: str | None = None
    launcher_options: tuple[tuple[str, Any], ...] = ()
    files: tuple[str, ...] = ()
    kernels: bool = False  # it takes the option `backend`, "c" or "cuda" for its rules as a fused kernel
    module_runner: str = "overclock.verify.property.runner:ModuleRunner"  # asks it for single functions, at level 1
    trainer: str = "overclock.verify.transfer.training:PerformanceTrainer"  # trains on it, at level 4

    def with_environment(self, **variables: str) -> "SubjectSpec":
        """The same subject with further environment variables."""
        return dataclasses.replace(self, environment=(*self.environment, *variables.items()))
