"""Runs an agent's program: its output goes to files of limited size, and no process of it survives the call.

A coding agent starts shells, servers and language servers of its own, some in sessions of their own. All of them carry
a mark in their environment, as the workers of the verifier do (verify/sides/descendants.py), so they are found again.
"""

import contextlib
import dataclasses
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

from overclock.verify.sides.descendants import ROUNDS, end_group, marked, new_mark

CHUNK = 1 << 16
POLL_SECONDS = 0.05  # how soon an end without a closed pipe, or a stop from another thread, is noticed
GRACE_SECONDS = 3.0  # between asking to end and ending
STOPPED_GRACE_SECONDS = 1.0  # the same where somebody waits who has interrupted the run
PIPE_LEFT = 4 << 20  # bytes read after the end: more than two pipes hold


@dataclasses.dataclass(frozen=True)
class Ran:
    """How a program ended; `exit_code` is None where it had to be stopped."""

    exit_code: int | None
    stopped: str  # "" or why it was stopped: "timeout", "stop"
    seconds: float
    cut: bool  # some output was thrown away


def run_program(
    argv: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    *,
    stdin: Path,
    stdout: Path,
    stderr: Path,
    wall_seconds: float,
    output_limit: int,
    stop: threading.Event | None = None,
    grace_seconds: float = GRACE_SECONDS,
) -> Ran:
    """Run `argv` in `folder` with a file as its input, until it ends, its time is up or `stop` is set.

    Output beyond `output_limit` bytes per file is read and thrown away, so that a talkative program neither blocks nor
    fills the disk. OSError where the program cannot be started.
    """
    mark = new_mark()
    started = time.monotonic()
    with stdin.open("rb") as prompt, stdout.open("wb") as out, stderr.open("wb") as err:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**environment, **mark},
            stdin=prompt,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a process group of its own, which can be ended as one
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            with _Capture({process.stdout: out, process.stderr: err}, output_limit) as capture:
                stopped = _watch(process, capture, started + wall_seconds, stop)
                grace = min(grace_seconds, STOPPED_GRACE_SECONDS) if stopped == "stop" else grace_seconds
                _end_all(process, mark, grace if stopped else 0.0)
                capture.drain()
                return Ran(None if stopped else process.returncode, stopped, time.monotonic() - started, capture.cut)
        finally:
            _end_all(process, mark, 0.0)
            process.stdout.close()
            process.stderr.close()


def _watch(process: subprocess.Popen[bytes], capture: "_Capture", deadline: float, stop: threading.Event | None) -> str:
    while process.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return "timeout"
        if stop is not None and stop.is_set():
            return "stop"
        capture.read(min(left, POLL_SECONDS))
    return ""


class _Capture:
    """Copies pipes into files, up to a limit each."""

    def __init__(self, targets: Mapping[IO[bytes], IO[bytes]], limit: int) -> None:
        self.cut = False
        self._room = dict.fromkeys(targets, limit)
        self._targets = targets
        self._selector = selectors.DefaultSelector()
        for pipe in targets:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ)

    def __enter__(self) -> "_Capture":
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def read(self, timeout: float) -> int:
        """Copy what is there, waiting for something up to `timeout` seconds; returns how many bytes there were."""
        if not self._selector.get_map():  # both pipes closed: nothing to wait for but the end
            time.sleep(timeout)
            return 0
        total = 0
        for key, _ in self._selector.select(timeout):
            pipe: IO[bytes] = key.fileobj  # pyright: ignore[reportAssignmentType]
            content = os.read(key.fd, CHUNK)
            if not content:
                self._selector.unregister(pipe)
            kept = content[: self._room[pipe]]
            self._room[pipe] -= len(kept)
            self.cut = self.cut or len(kept) < len(content)
            self._targets[pipe].write(kept)
            total += len(content)
        return total

    def drain(self) -> None:
        """Read what ended processes left in the pipes; at most PIPE_LEFT, because a survivor might go on writing."""
        left = PIPE_LEFT
        while left > 0 and self._selector.get_map() and (count := self.read(0.0)):
            left -= count


def _end_all(process: subprocess.Popen[bytes], mark: dict[str, str], grace_seconds: float) -> None:
    """Ask the program and everything it started to end (SIGTERM), then kill what is left."""
    if grace_seconds > 0:
        _signal_all(process, mark, signal.SIGTERM)
        deadline = time.monotonic() + grace_seconds
        while time.monotonic() < deadline and (process.poll() is None or marked(mark)):
            time.sleep(POLL_SECONDS)
    for _ in range(ROUNDS):
        _signal_all(process, mark, signal.SIGKILL)
        process.wait()
        if not marked(mark):  # one of them may have forked while the others were being ended
            return
        time.sleep(POLL_SECONDS)


def _signal_all(process: subprocess.Popen[bytes], mark: dict[str, str], number: signal.Signals) -> None:
    end_group(process.pid, number)
    for found in marked(mark):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            found.send_signal(number)
