"""Subjects with known faults, built inside worker processes by entry point."""

import dataclasses
import json
import os
import stat
import subprocess
import sys
import time
from typing import Any

import numpy as np

from overclock.verify.sides.wire import encode

SPOKEN = {
    "nonsense": (5).to_bytes(4, "little") + b"[1, 2",
    "huge": (1 << 31).to_bytes(4, "little"),
    "no answer": (2).to_bytes(4, "little") + b"{}",
}


def say(message: bytes) -> None:
    """Write past the worker, straight into its pipe to the verifier."""
    for descriptor in range(3, 16):
        try:
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.write(descriptor, message)
        except OSError:  # not open, or the end that is read from
            continue


def go_astray(how: str, pid_file: str) -> None:
    """Start a process that the worker's process group does not hold; its number is in a file then."""
    command = ["sleep", "600"]
    if how == "daemon, other environment":  # in a session of its own, and our child
        note(subprocess.Popen(command, env={"PATH": os.environ["PATH"]}, start_new_session=True).pid, pid_file)
        return
    child = os.fork()
    if child == 0:
        os.setsid()
        if (daemon := os.fork()) == 0:  # its parent ends at once, so it is nobody's child
            os.execvp(command[0], command)
        note(daemon, pid_file)
        os._exit(0)
    os.waitpid(child, 0)


def note(pid: int, pid_file: str) -> None:
    with open(pid_file, "w") as file:
        file.write(str(pid))


class CountingSubject:
    """A little world of its own: counts steps and ends after five; faults are switched on by options."""

    def __init__(self, num_envs: int, fault: str = "", pid_file: str = "") -> None:
        self.num_envs, self.fault, self.pid_file = num_envs, fault, pid_file
        self.count = np.zeros(num_envs, np.int32)

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 2}

    def reset(self, mask, seeds, draws=None):
        self.count = np.where(mask, 0, self.count)
        return self._shown()

    def step(self, actions, draws=None):
        self.count += 1
        if self.count.max() == 3:
            if self.fault == "crash":
                os._exit(7)
            if self.fault == "raise":
                raise ArithmeticError("the reference lost its way")
            if self.fault == "print":
                print("a careless line on stdout")  # noqa: T201
            if self.fault == "hang":
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                note(child.pid, self.pid_file)
                time.sleep(600)
            if self.fault.startswith("daemon"):
                go_astray(self.fault, self.pid_file)
                if self.fault == "daemon, crash":
                    os._exit(7)
                time.sleep(600)
            if self.fault in SPOKEN:
                say(SPOKEN[self.fault])
            if self.fault == "deaf":
                body = json.dumps({"ok": encode(dataclasses.asdict(self._shown()))}).encode()
                say(len(body).to_bytes(4, "little") + body)
                time.sleep(600)
            if self.fault == "trickle":
                say((1000).to_bytes(4, "little"))
                while True:
                    say(b" ")
                    time.sleep(0.2)
            if self.fault == "list":
                return [1, 2]
            if self.fault == "parts":
                return {"outputs": {"obs": 1.0}, "state": {}, "draws": {}}
        return self._shown()

    def set_state(self, state):
        self.count = state["steps"].copy()

    def _shown(self):
        from overclock.verify.sides.subject import Observed

        value = self.count.astype(np.float64)
        if self.fault == "nan" and self.count.max() >= 3:
            value = value * np.nan
        if self.fault == "shape" and self.count.max() >= 3:
            value = np.stack([value, value], axis=1)
        ended = self.count >= 5
        outputs = {"obs": value, "reward": value, "terminated": ended, "truncated": np.zeros_like(ended)}
        return Observed(outputs, {"steps": self.count.copy()}, {})
