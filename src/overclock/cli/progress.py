"""How far long work is, on stderr: bars on a terminal, and in a log or a pipe one plain line per finished piece."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any, Self

from overclock.cli import output


class ProgressDisplay:
    """Hears `(what is going on, how much of it is done, all of it)` from whatever works; use it with `with`.

    Without `bars` it says nothing on a terminal, where something else is shown.
    """

    def __init__(self, bars: bool = True) -> None:
        self._on_a_terminal = _Bars if bars else _Nothing

    def __enter__(self) -> Self:
        self._shown = self._on_a_terminal() if output.console().is_interactive else _Lines()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._shown.close(finished=kind is None)

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show how far a piece of work is."""
        self._shown.update(name, done, total)

    def say(self, sentence: str) -> None:
        """Print what was found or begins now; pieces that come after it are other ones, whatever their names."""
        self._shown.close_pieces()
        output.say(sentence)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """While something is printed on stdout: no bars, which would run through it."""
        self._shown.close(finished=True)
        yield
        self._shown.resume()


class _Bars:
    """A bar per piece, gone when all is done."""

    def __init__(self) -> None:
        import rich.progress

        self._bars = rich.progress.Progress(console=output.console(), transient=True)
        self._tasks: dict[str, Any] = {}
        self._bars.start()

    def update(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total)
        self._bars.update(self._tasks[name], completed=done)

    def close_pieces(self) -> None:
        for task in self._tasks.values():
            self._bars.remove_task(task)
        self._tasks.clear()

    def close(self, finished: bool) -> None:
        self._bars.stop()

    def resume(self) -> None:
        self.close_pieces()
        self._bars.start()


class _Nothing:
    def update(self, name: str, done: int, total: int) -> None: ...

    def close_pieces(self) -> None: ...

    def close(self, finished: bool) -> None: ...

    def resume(self) -> None: ...


class _Lines:
    """A line when a piece is over. That is when another begins: not every piece knows which of its steps is the last.

    Pieces may take turns; each is told once.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._current: str | None = None
        self._told: set[str] = set()

    def update(self, name: str, done: int, total: int) -> None:
        if name != self._current:
            self._tell()
            self._current = name

    def close_pieces(self) -> None:
        self._tell()
        self._current = None
        self._told.clear()

    def close(self, finished: bool) -> None:
        if finished:
            self._tell()

    def resume(self) -> None:
        self.close_pieces()

    def _tell(self) -> None:
        if self._current is not None and self._current not in self._told:
            self._told.add(self._current)
            print(f"{time.monotonic() - self._began:6.0f} s  {self._current}", file=sys.stderr, flush=True)
