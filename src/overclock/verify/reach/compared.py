"""Which lanes of a reference are compared at the moment, told to its process; what it took there goes into a ledger.

Only what is compared counts as taken: lanes that wait, and steps beyond a horizon, are not watched.
"""

from typing import Any

import numpy as np

from overclock.results import decode
from overclock.verify.reach.ledger import Ledger, Seen
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Subject

WATCH, SEEN = "watch", "seen"  # calls of a reference


class Compared:
    """Use it as a context manager around comparisons; nothing is watched outside of it.

    It does nothing without a ledger, and where the reference does not offer to be watched.
    """

    def __init__(self, reference: Subject, ledger: Ledger | None) -> None:
        offered = WATCH in reference.describe().get("calls", ())
        self._reference = reference if offered and isinstance(reference, ProcessSubject) else None
        self._ledger = ledger
        self._lanes: np.ndarray | None = None

    def __enter__(self) -> "Compared":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None and self._reference is not None and self._ledger is not None and self._lanes is not None:
            self._ledger.add(decode(Seen, self._reference.ask(SEEN)))

    def lanes(self, lanes: np.ndarray) -> None:
        """What the reference does next is compared in these lanes."""
        if self._reference is None or self._ledger is None:
            return
        if self._lanes is not None and np.array_equal(lanes, self._lanes):
            return
        self._reference.ask(WATCH, lanes=lanes)
        self._lanes = lanes.copy()
