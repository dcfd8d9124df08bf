"""An environment whose rules stand mostly in another package: a pile that takes nothing away and has its own goal."""

import dataclasses

from verify.mutable.rules import Pile


@dataclasses.dataclass(frozen=True)
class Heap(Pile):
    def observe(self, state, params):
        return (2 * state.height).astype("float32")
