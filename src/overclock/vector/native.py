"""Rust batches as `HostVector`s: the part that every environment of `overclock_native` shares.

A class of the extension keeps the state and writes into NumPy arrays that it owns; this shell adds spaces and turns
the extension's `ValueError`s into `UsageError`s. An environment's own `native.py` names its spaces and options.
"""

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from overclock.env.autoreset import Autoreset
from overclock.env.spaces import Space
from overclock.errors import MissingError, UsageError
from overclock.vector.host import HostStep


def extension() -> Any:
    """The module `overclock_native`, or an error that says how to get it."""
    try:
        return importlib.import_module("overclock_native")
    except ImportError as error:
        raise MissingError(
            f"Rust environments need the package overclock-native ({error}): run `make native` (or "
            "`pip install ./native`) in a checkout, with a Rust toolchain."
        ) from error


class NativeHostVector:
    """A batch of the extension as a `HostVector`; arrays it returns are reused by the next call.

    Beyond the protocol, `reset` and `step` take `draws` (the randomness of the episodes that start, instead of the
    lanes' streams) and `out` (arrays to write into, by name: obs, reward, terminated, truncated, final_obs); `step`
    takes `step_draws` (the randomness of the step itself) where an environment's steps are random.
    """

    num_players = 1

    def __init__(
        self,
        batch: str,
        num_envs: int,
        autoreset: Autoreset,
        seed: int | None,
        spaces: tuple[Space, Space],
        **options: Any,
    ) -> None:
        """`batch` names the extension's class, `spaces` are those of one observation and of one action."""
        cls = getattr(extension(), batch)
        entropy = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        with usage_errors():
            self._batch = cls(num_envs, autoreset, entropy, **options)
        self.num_envs, self.autoreset = int(num_envs), autoreset
        self.max_steps: int | None = options.get("max_steps")
        self.observation_space, self.action_space = spaces

    def reset(
        self,
        seeds: Sequence[int | None] | None = None,
        mask: np.ndarray | None = None,
        draws: np.ndarray | None = None,
        out: dict[str, np.ndarray] | None = None,
    ) -> np.ndarray:
        with usage_errors():
            return self._batch.reset(seeds, mask, draws, out)

    def step(
        self,
        actions: Any,
        out: dict[str, np.ndarray] | None = None,
        draws: np.ndarray | None = None,
        step_draws: np.ndarray | None = None,
    ) -> HostStep:
        with usage_errors():
            return HostStep(*self._batch.step(actions, out, draws, step_draws), info={})

    def play(self, steps: int) -> tuple[float, int]:
        """Take many steps with random actions: (sum of all rewards, episodes that ended).

        The actions are those of `VectorEnv.sample_actions`, from the lanes' own streams. Observations are written at
        every step, into the batch's own arrays; the interpreter is passed once.
        """
        with usage_errors():
            return self._batch.play(steps)

    def action_mask(self) -> np.ndarray | None:
        """As `HostVector.action_mask`: every action is always legal."""
        return None

    def get_state(self) -> dict[str, np.ndarray]:
        """As `HostVector.get_state`; the names are those of the JAX batch, whose reset store it does not have."""
        return self._batch.get_state()

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        with usage_errors():
            self._batch.set_state(state)

    def clone(self, source: int, target: int) -> None:
        """Make lane `target` what lane `source` is, random stream included."""
        with usage_errors():
            self._batch.clone(source, target)


@contextlib.contextmanager
def usage_errors() -> Iterator[None]:
    """The extension's `ValueError`s as `UsageError`s."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None
