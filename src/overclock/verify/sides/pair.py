"""Both sides of a twin in their processes, kept from one comparison to the next: starting one takes seconds.

An episode begins with a reset, whatever was played before it, so comparisons can share a process as episodes do.
"""

import contextlib
from collections.abc import Iterator

from overclock.verify.contract import Precision, Twin
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

REFERENCE, PERFORMANCE = "the reference", "the performance side"


class Sides:
    """The reference and, per precision, the performance side. Use it as a context manager."""

    def __init__(self, twin: Twin, timeout: float) -> None:
        self._twin, self._timeout = twin, timeout
        self._kept: dict[str, ProcessSubject] = {}  # at most one of a kind, so that memory does not add up

    def __enter__(self) -> "Sides":
        return self

    def __exit__(self, *_: object) -> None:
        for side in self._kept.values():
            side.close()

    @contextlib.contextmanager
    def pair(self, precision: Precision, lanes: int, traced: bool) -> Iterator[tuple[ProcessSubject, ProcessSubject]]:
        """Both sides with so many lanes. A reference that will be `traced` starts anew: it forgets no branch."""
        with contextlib.ExitStack() as once:
            if traced:
                reference = ProcessSubject(self._twin.reference, lanes, REFERENCE, self._timeout)
                once.callback(reference.close)
            else:
                reference = self._side(REFERENCE, self._twin.reference, lanes, REFERENCE)
            yield reference, self._side(precision, self._twin.performance_in(precision), lanes, PERFORMANCE)

    def reference(self, lanes: int) -> ProcessSubject:
        """Another process of the reference, as a context manager: for what no comparison shall be disturbed by."""
        return ProcessSubject(self._twin.reference, lanes, REFERENCE, self._timeout)

    def _side(self, kind: str, spec: SubjectSpec, lanes: int, name: str) -> ProcessSubject:
        running = self._kept.get(kind)
        if running is None or running.num_envs != lanes:
            if running is not None:
                running.close()
            self._kept[kind] = ProcessSubject(spec, lanes, name, self._timeout)
        return self._kept[kind]
