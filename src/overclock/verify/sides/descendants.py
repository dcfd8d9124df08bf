"""Everything a worker started, wherever it went: so that nothing of it is left when the worker is ended.

A process group is not enough: a reference may start a server in a session of its own, and a daemon has another parent
as well. Every worker therefore carries a mark in its environment, which what it starts inherits; what was started with
another environment is found below its parent while that lives. Both are read from /proc, so this is for Linux;
elsewhere the process group has to do.
"""

import contextlib
import os
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
STATE, PARENT = 0, 1  # positions in `_stat`
DEAD = ("Z", "X")  # a zombie waits for its parent, who is not always us
ROUNDS = 100  # a process that hangs inside the kernel cannot be ended, and is not waited for
PAUSE_S = 0.01


def new_mark() -> dict[str, str]:
    """A variable that nothing else has; one of its own each, so that a worker's workers carry both."""
    return {f"OVERCLOCK_WORKER_{uuid.uuid4().hex}": "1"}


def end_all(pid: int, mark: dict[str, str]) -> None:
    """Kill the process group of `pid`, all that is below it, and all that carries the mark."""
    below = _below(pid)
    end_group(pid)  # first: it must not start anew what it sees ending
    for doomed in below:
        _kill(doomed)
    for _ in range(ROUNDS):
        left = [doomed for doomed in _marked(mark) if doomed != pid]
        for doomed in left:  # again and again, since one of them may have forked meanwhile
            _kill(doomed)
        if not left and not any(map(_lives, below)):
            return
        time.sleep(PAUSE_S)


def end_group(pid: int) -> None:
    """Kill the process group of `pid`."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _below(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for one in _everybody():
        if fields := _stat(one):
            children.setdefault(int(fields[PARENT]), []).append(one)
    found, waiting = list[int](), [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _lives(pid: int) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[STATE] not in DEAD


def _stat(pid: int) -> list[str]:
    """What /proc/PID/stat says behind the name, which may itself contain spaces and brackets; nothing of the gone."""
    try:
        return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _marked(mark: dict[str, str]) -> Iterator[int]:
    """The living that carry it; the environment of a dead one is empty."""
    wanted = {f"{name}={value}".encode() for name, value in mark.items()}
    for one in _everybody():
        with contextlib.suppress(OSError):  # it ended in the meantime, or is somebody else's
            if not wanted.isdisjoint((PROC / str(one) / "environ").read_bytes().split(b"\0")):
                yield one


def _everybody() -> list[int]:
    return [int(entry) for entry in os.listdir(PROC) if entry.isdigit()] if PROC.is_dir() else []
