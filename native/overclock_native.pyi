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

class GameBoy:
    """One console, for looking closely."""

    def __init__(
        self,
        rom: bytes,
        boot: bytes | None = None,
        cgb: bool | None = None,
        sound: bool = False,
        compat: Literal["pyboy", "hardware"] = "pyboy",
    ) -> None: ...
    def tick(self, count: int = 1, render: bool = True) -> int: ...
    def press(self, name: str) -> None: ...
    def release(self, name: str) -> None: ...
    def button(self, name: str, delay: int = 1) -> None: ...
    def read(self, address: int, length: int = 1) -> bytes: ...
    def write(self, address: int, value: int) -> None: ...
    def read_bank(self, bank: int, address: int, length: int = 1) -> bytes: ...
    def registers(self) -> dict[str, int]: ...
    def set_registers(self, **values: int) -> None: ...
    def cycles(self) -> int: ...
    def screen(self) -> NDArray[np.uint8]: ...
    def hook(self, bank: int, address: int, stop: bool = False) -> None: ...
    def hook_count(self, bank: int, address: int) -> int: ...

class GameBoyState:
    """A console of a `VecGameBoy` as it was."""

    @property
    def cycles(self) -> int: ...

class GameBoyOut(TypedDict, total=False):
    """Arrays of the caller to write into; a name left out means the batch's own array."""

    obs: NDArray[np.uint8]
    ram: NDArray[np.uint8]

class VecGameBoy:
    """A batch of Game Boys that writes into NumPy arrays it owns, or into the caller's."""

    def __init__(
        self,
        rom: bytes,
        num_envs: int,
        frame_skip: int = 24,
        press_frames: int = 8,
        observation: Literal["rgb", "gray", "gray_2x2", "packed_2bit", "ram"] = "gray_2x2",
        ram: Iterable[int] = (),
        *,
        model: Literal["auto", "dmg", "cgb"] = "auto",
        compat: Literal["pyboy", "hardware"] = "pyboy",
        sound: bool = False,
        boot: bytes | None = None,
        boot_frames: int = 0,
        threads: int | None = None,
    ) -> None: ...
    @property
    def num_envs(self) -> int: ...
    @property
    def observation_shape(self) -> tuple[int, ...]: ...
    @property
    def frame_skip(self) -> int: ...
    @property
    def press_frames(self) -> int: ...
    @property
    def is_color(self) -> bool: ...
    def reset(
        self,
        mask: ArrayLike | None = None,
        addresses: Iterable[int] | None = None,
        values: ArrayLike | None = None,
        frames: int = 0,
        out: GameBoyOut | None = None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]: ...
    def step(
        self, buttons: ArrayLike, mask: ArrayLike | None = None, out: GameBoyOut | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]: ...
    def tick(
        self, frames: int = 1, mask: ArrayLike | None = None, out: GameBoyOut | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]: ...
    def read(self, addresses: Iterable[int]) -> NDArray[np.uint8]: ...
    def write(self, addresses: Iterable[int], values: ArrayLike, mask: ArrayLike | None = None) -> None: ...
    def screen(self, lane: int) -> NDArray[np.uint8]: ...
    def save_state(self, lane: int) -> GameBoyState: ...
    def load_state(self, lane: int, state: GameBoyState) -> None: ...
    def clone(self, source: int, target: int) -> None: ...
    def set_start(self, state: GameBoyState) -> None: ...
    def hook(self, bank: int, address: int) -> None: ...
    def hook_counts(self) -> NDArray[np.uint64]: ...
