"""Our batch as a verify Subject: every step's outputs, and the memory and cycles of the consoles.

Bugs are planted in the modules behind the batch, so none of them may be imported here.
"""

import numpy as np

from overclock.gameboy.console import AREAS
from overclock.verify.sides.native_subject import NativeSubject
from overclock.verify.sides.subject import Arrays

SHOWN = ("vram", "wram", "oam", "io", "hram", "ie")
PLACES = {name: range(AREAS[name][0], sum(AREAS[name])) for name in SHOWN}


class GameBoySubject(NativeSubject):
    """Our batch, without automatic resets."""

    def _state(self) -> Arrays:
        batch, own = self._batch.batch, self._batch.get_state()
        memory = {name: batch.read(places) for name, places in PLACES.items()}
        cycles = np.array([batch.save_state(lane).cycles for lane in range(self.num_envs)], np.int64)
        readings = self._batch.loaded.readings
        values = readings.values(batch.read(readings.addresses))
        named = {name: values[:, column] for column, name in enumerate(readings.names)}
        return {**memory, **named, "cycles": cycles, "steps": own["lanes.steps"]}

    def set_state(self, state: Arrays) -> None:
        """Nothing: a console holds more than PyBoy shows of its own, so it cannot be put into PyBoy's state.

        Steps are therefore judged one by one only up to the first difference; an exact contract ends there anyway.
        """
