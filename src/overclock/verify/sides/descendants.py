"""Ends a worker together with everything it started, wherever that went.

A process group is not enough: a reference may start a server in a session of its own, and a daemon has another parent
as well. Every worker therefore carries a mark in its environment, which its descendants inherit. A descendant that was
started with another environment is found below its parent while that lives.
"""

import contextlib
import os
import signal
import time
import uuid

import psutil

DEAD = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)  # a zombie waits for its parent, who is not always us
ROUNDS = 100  # a process that hangs inside the kernel cannot be ended, and is not waited for
PAUSE_S = 0.01


def new_mark() -> dict[str, str]:
    """An environment variable that no other worker has, so that a worker's workers carry their own and its mark."""
    return {f"OVERCLOCK_WORKER_{uuid.uuid4().hex}": "1"}


def end_all(pid: int, mark: dict[str, str]) -> None:
    """Kill the process group of `pid`, all its descendants, and all processes that carry the mark."""
    below = _below(pid)
    end_group(pid)  # first: it must not start anew what it sees ending
    for process in below:
        _kill(process)
    for _ in range(ROUNDS):
        left = [process for process in marked(mark) if process.pid != pid]
        for process in left:  # again and again, since one of them may have forked meanwhile
            _kill(process)
        if not left and not any(map(_lives, below)):
            return
        time.sleep(PAUSE_S)


def end_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to the process group of `pid`, by default the one that kills it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def marked(mark: dict[str, str]) -> list[psutil.Process]:
    """The living processes that carry the mark."""
    # `environ` is None for a zombie and for processes of other users.
    everybody = psutil.process_iter(["environ"])
    return [process for process in everybody if mark.items() <= (process.info["environ"] or {}).items()]


def _below(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        process.kill()


def _lives(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() not in DEAD
    return False
