"""A subject in a process of its own: it may crash, hang or print, and the verifier goes on with a clear sentence."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from overclock.errors import OverclockError
from overclock.verify.subject import Arrays, Observed, SubjectSpec
from overclock.verify.wire import LENGTH, decode, write_message

STDERR_LINES_SHOWN = 3
WORKER = (sys.executable, "-m", "overclock.verify.worker")


class CouldNotVerifyError(OverclockError):
    """No verdict is possible: a side crashed, hung, or broke the protocol."""

    exit_code = 4


class ProcessSubject:
    """Speaks to a worker process. Use it as a context manager, so that the whole process tree ends with it."""

    def __init__(self, spec: SubjectSpec, num_envs: int, name: str, timeout: float = 120.0) -> None:
        self.num_envs, self.name, self.timeout = num_envs, name, timeout
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._process = subprocess.Popen(
            [*WORKER, spec.entry_point, str(num_envs), json.dumps(dict(spec.options))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, **dict(spec.environment)},
            start_new_session=True,  # so that a timeout can end everything it started
        )
        self.description = self._call("describe")

    def describe(self) -> dict[str, Any]:
        """As `Subject.describe`."""
        return self.description

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`."""
        return Observed(**self._call("reset", mask=mask, seeds=seeds, draws=draws))

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`."""
        return Observed(**self._call("step", actions=actions, draws=draws))

    def set_state(self, state: Arrays) -> None:
        """As `Subject.set_state`."""
        self._call("set_state", state=state)

    def ask(self, call: str, **arguments: Any) -> Any:
        """One of the further calls a subject may offer; it lists them in its description under `calls`."""
        if call not in self.description.get("calls", ()):
            raise CouldNotVerifyError(f"could not verify: {self.name} does not offer `{call}`.")
        return self._call(call, **arguments)

    def close(self) -> None:
        """End the process and everything it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            with contextlib.suppress(OSError):
                stream.close()  # pyright: ignore[reportOptionalMemberAccess]

    def __enter__(self) -> "ProcessSubject":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, call: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        try:
            write_message(self._process.stdin, {"call": call, **arguments})  # pyright: ignore[reportArgumentType]
        except (BrokenPipeError, OSError):
            self._fail(f"its process ended before `{call}`")
        (length,) = LENGTH.unpack(self._read(LENGTH.size, call))
        reply = decode(json.loads(self._read(length, call)))
        if "error" in reply:
            self._fail(f"`{call}` raised {reply['error']}")
        return reply["ok"]

    def _read(self, count: int, call: str) -> bytes:
        """Exactly `count` bytes of the reply, giving up after the timeout or when the process ends."""
        assert self._process.stdout is not None
        descriptor, parts = self._process.stdout.fileno(), bytearray()
        while len(parts) < count:
            ready, _, _ = select.select([descriptor], [], [], self.timeout)
            if not ready:
                self._fail(f"`{call}` gave no answer within {self.timeout:g} s; it was stopped")
            chunk = os.read(descriptor, count - len(parts))
            if not chunk:
                self._fail(f"its process ended during `{call}`")
            parts += chunk
        return bytes(parts)

    def _fail(self, what: str) -> None:
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()[-STDERR_LINES_SHOWN:]
        self.close()
        trail = f" Its last words: {' | '.join(lines)}" if lines else ""
        raise CouldNotVerifyError(f"could not verify: {self.name}: {what}.{trail}")
