"""Types of the Rust extension `overclock_native`."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

class Out(TypedDict, total=False):
    """Arrays of the caller to write into; a name left out means the batch's own array."""

    obs: NDArray[Any]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final_obs: NDArray[Any]

def rng_words(
    seed: int, counter: int, section: int, site: int, count: int = 1, half: int = 0
) -> NDArray[np.uint32]: ...

class VecCartPole:
    """A batch of CartPoles that writes into NumPy arrays it owns, or into the caller's."""

    def __init__(
        self,
        num_envs: int,
        autoreset: Literal["same_step", "next_step", "off"],
        seed: int,
        sutton_barto_reward: bool = False,
        max_steps: int | None = 500,
    ) -> None: ...
    @property
    def num_envs(self) -> int: ...
    @property
    def autoreset(self) -> Literal["same_step", "next_step", "off"]: ...
    def reset(
        self,
        seeds: Iterable[int | None] | None = None,
        mask: ArrayLike | None = None,
        draws: ArrayLike | None = None,
        out: Out | None = None,
    ) -> NDArray[np.float32]: ...
    def step(
        self, actions: ArrayLike, out: Out | None = None, draws: ArrayLike | None = None, step_draws: None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float32]]: ...
    def play(self, steps: int) -> tuple[float, int]: ...
    def get_state(self) -> dict[str, NDArray[Any]]: ...
    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None: ...
    def clone(self, source: int, target: int) -> None: ...

class VecPong:
    """A batch of Pongs that writes into NumPy arrays it owns, or into the caller's."""

    def __init__(
        self,
        num_envs: int,
        autoreset: Literal["same_step", "next_step", "off"],
        seed: int,
        frameskip: int = 1,
        continuous: bool = False,
        max_steps: int | None = None,
    ) -> None: ...
    @property
    def num_envs(self) -> int: ...
    @property
    def autoreset(self) -> Literal["same_step", "next_step", "off"]: ...
    def reset(
        self,
        seeds: Iterable[int | None] | None = None,
        mask: ArrayLike | None = None,
        draws: ArrayLike | None = None,
        out: Out | None = None,
    ) -> NDArray[np.float32]: ...
    def step(
        self,
        actions: ArrayLike,
        out: Out | None = None,
        draws: ArrayLike | None = None,
        step_draws: ArrayLike | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float32]]: ...
    def play(self, steps: int) -> tuple[float, int]: ...
    def get_state(self) -> dict[str, NDArray[Any]]: ...
    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None: ...
    def clone(self, source: int, target: int) -> None: ...
