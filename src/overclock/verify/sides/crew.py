"""Several worker processes at once, each driven by a thread; when one fails or Ctrl-C comes, all of them end."""

import concurrent.futures
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

T = TypeVar("T")


class Crew:
    """Subjects under way. A thread that waits for a process cannot be stopped, but its process can."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._working: set[ProcessSubject] = set()
        self._failure: BaseException | None = None  # the first one; what the others say is only that they were ended

    @contextlib.contextmanager
    def subject(self, spec: SubjectSpec, lanes: int, name: str) -> Iterator[ProcessSubject]:
        """A subject that ends with the block, or earlier if another task fails."""
        with ProcessSubject(spec, lanes, name, self._timeout) as subject:
            self._working.add(subject)
            try:
                if self._failure is not None:  # it started while the others were being stopped
                    raise concurrent.futures.CancelledError
                yield subject
            finally:
                self._working.discard(subject)

    def together(self, tasks: Sequence[Callable[[], T]], threads: int) -> list[T]:
        """The results of all tasks, at most `threads` of them at a time; the first error ends the rest."""
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            runs = [pool.submit(task) for task in tasks]
            try:
                for run in concurrent.futures.as_completed(runs):
                    run.result()
            except BaseException as error:
                self._failure = self._failure or error
                for run in runs:
                    run.cancel()
                for subject in list(self._working):
                    subject.close()
                raise self._failure from None
            return [run.result() for run in runs]
