"""A real terminal as the screen of `overclock play`: single key presses, full-window frames, and a clean way out."""

import contextlib
import os
import re
import select
import signal
import sys
import time
from types import FrameType
from typing import Any, Self

from overclock.errors import MissingError, UsageError

ENTER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[2J"  # alternate screen, no cursor, cleared
LEAVE_SCREEN = "\x1b[0m\x1b[?25h\x1b[?1049l"
BEGIN_FRAME, END_FRAME = "\x1b[?2026h", "\x1b[?2026l"  # draw all at once; terminals that cannot, ignore it

ESCAPE = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]")
UNFINISHED_ESCAPE = re.compile(r"\x1b(?:[\[O][0-9;]*)?$")
ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}  # by the last letter of their escape sequence
NAMES = {" ": "space", "\n": "enter", "\r": "enter"}


class KeyReader:
    """From the bytes a terminal sends to names of keys; an escape sequence cut in two is put together again."""

    def __init__(self) -> None:
        self.pending = ""

    def feed(self, data: bytes) -> list[str]:
        """The keys completed by these bytes."""
        text = self.pending + data.decode("utf-8", "replace")
        cut = UNFINISHED_ESCAPE.search(text)
        text, self.pending = (text[: cut.start()], cut.group()) if cut else (text, "")
        keys = []
        while text:
            sequence = ESCAPE.match(text)
            word = sequence.group() if sequence else text[0]
            text = text[len(word) :]
            keys.append(ARROWS.get(word[-1], word) if sequence else NAMES.get(word, word.lower()))
        return keys


class Terminal:
    """The terminal of this process; use it with `with`, which restores it whatever happens inside."""

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("`overclock play` needs a terminal; to write a file instead, use `overclock record`.")
        try:
            import termios
        except ImportError as error:
            raise MissingError("`overclock play` needs a Unix terminal: Linux, macOS, or WSL on Windows.") from error
        self.termios = termios
        self.reader = KeyReader()
        self.shown: list[str] = []
        self.shown_size = (0, 0)

    def __enter__(self) -> Self:
        termios = self.termios
        self.fd = sys.stdin.fileno()
        self.before = termios.tcgetattr(self.fd)
        self.handlers: dict[int, Any] = {}
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.handlers[number] = signal.signal(number, _leave)
        single = termios.tcgetattr(self.fd)
        single[3] &= ~(termios.ICANON | termios.ECHO)
        single[6][termios.VSUSP] = b"\0"  # stopped by Ctrl-Z, the window would be left unusable
        termios.tcsetattr(self.fd, termios.TCSAFLUSH, single)
        self._write(ENTER_SCREEN)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # the window may be gone already
            self._write(LEAVE_SCREEN)
            self.termios.tcsetattr(self.fd, self.termios.TCSAFLUSH, self.before)
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def size(self) -> tuple[int, int]:
        """Columns and rows of the window now."""
        size = os.get_terminal_size(sys.stdout.fileno())
        return size.columns, size.lines

    def keys(self, deadline: float) -> list[str]:
        """The keys pressed until `time.monotonic()` reaches the deadline; a closed input means quit."""
        pressed: list[str] = []
        while True:
            wait = max(0.0, deadline - time.monotonic())
            if not select.select([self.fd], [], [], wait)[0]:
                return pressed
            try:
                data = os.read(self.fd, 1024)
            except OSError:
                data = b""
            if not data:
                return [*pressed, "q"]
            pressed += self.reader.feed(data)

    def show(self, lines: list[str]) -> None:
        """Draw the lines that differ from what is shown; in a window of one size, a line keeps its width."""
        changes = []
        if self.size() != self.shown_size:
            self.shown, self.shown_size = [], self.size()
            changes.append("\x1b[2J")
        old = self.shown + [""] * (len(lines) - len(self.shown))
        padded = lines + [""] * (len(old) - len(lines))
        changes += [
            f"\x1b[{row};1H{new}" for row, (new, was) in enumerate(zip(padded, old, strict=True), 1) if new != was
        ]
        self.shown = lines
        if changes:
            self._write(BEGIN_FRAME + "".join(changes) + END_FRAME)

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _leave(number: int, _: FrameType | None) -> None:
    """A terminating signal unwinds the program, so that the terminal is restored on the way out."""
    raise SystemExit(128 + number)
