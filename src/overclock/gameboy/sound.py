"""The sound of the last frame as samples, with the names that PyBoy 2.8.1 gives them."""

from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.gameboy.given import whole

SAMPLE_RATE = 48_000  # PyBoy's, where none is given
CLOCK = 1 << 22  # dots in a second: no sample lies between two of them
FRAME = 70_224  # dots


class Sound:
    """Samples of the last frame of a `tick` that asked for sound; there are none after one that did not."""

    raw_buffer_format = "b"

    def __init__(self, console: Any, sample_rate: int, emulated: bool) -> None:
        self._console = console
        self._emulated = emulated
        self._head = 0
        self.sample_rate = sample_rate
        self.raw_ndarray = np.zeros((-(-FRAME * sample_rate // CLOCK) + 1, 2), np.int8)

    @property
    def ndarray(self) -> np.ndarray:
        """int8[samples, 2], left and right; copy it to keep it, the next frame is written over it.

        The number of samples differs from frame to frame; a frame in which the LCD goes on or off is shorter.
        """
        if not self._emulated:
            raise UsageError("There is no sound: give sound_emulated=True to GameBoy.")
        return self.raw_ndarray[: self._head]

    @property
    def raw_buffer(self) -> memoryview:
        """Left and right in turn; those up to `raw_buffer_head` belong to the last frame."""
        return self.raw_ndarray.reshape(-1).data

    @property
    def raw_buffer_head(self) -> int:
        """How many numbers of `raw_buffer` belong to the last frame, two for each sample."""
        return 2 * self._head

    @property
    def raw_buffer_length(self) -> int:
        """Numbers that `raw_buffer` has room for."""
        return self.raw_ndarray.size

    def refresh(self) -> None:
        """Take over what the last frame gave."""
        if self._emulated:
            samples = self._console.samples()
            self._head = len(samples)
            self.raw_ndarray[: self._head] = samples


def checked_rate(sample_rate: Any) -> int:
    """A sample rate; refuses what cannot be one."""
    return whole("sound_sample_rate", sample_rate, 1, CLOCK)


def check_volume(volume: Any) -> None:
    """Refuse what cannot be a volume."""
    if not isinstance(volume, int | float | np.number) or not 0 <= volume <= 100:
        raise UsageError(f"sound_volume must be 0 to 100, got {volume!r}.")
