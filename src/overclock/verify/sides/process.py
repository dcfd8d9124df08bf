"""A subject in a process of its own: it may crash, hang or print, and the verifier goes on with a clear sentence."""

import contextlib
import dataclasses
import io
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from typing import Any, NoReturn

import numpy as np

from overclock.errors import OverclockError
from overclock.verify.exhaustive.cells import Cells
from overclock.verify.sides.descendants import end_all, end_group, new_mark
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec
from overclock.verify.sides.wire import LENGTH, decode, write_message

STDERR_LINES_SHOWN = 3
STDERR_BYTES_READ = 1 << 16
CHUNK_BYTES = 1 << 20
MOST_BYTES = 1 << 30  # of one answer: a side that sends more is broken, or wants to break us
PARTS, CELLS = ({field.name for field in dataclasses.fields(shown)} for shown in (Observed, Cells))
# -P: a file of the current folder must not take the place of a side's own module of that name.
WORKER = (sys.executable, "-P", "-m", "overclock.verify.sides.worker")


class CouldNotVerifyError(OverclockError):
    """No verdict is possible: a side crashed, hung, or broke the protocol; `side` says which, where it is known.

    `raised` is the error of Python that it answered with, as "kind: message".
    """

    exit_code = 4

    def __init__(self, message: str, side: str | None = None, raised: str | None = None) -> None:
        super().__init__(message)
        self.side, self.raised = side, raised


class ProcessSubject:
    """Speaks to a worker process. Use it as a context manager, so that the whole process tree ends with it."""

    def __init__(self, spec: SubjectSpec, num_envs: int, name: str, timeout: float = 120.0) -> None:
        self.num_envs, self.name, self.timeout = num_envs, name, timeout
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self._closed = False
        argv, environment = _command(spec, num_envs)
        # A launcher ends what it started when its group is killed, and could not if all of it were killed at once.
        self._mark = new_mark() if spec.launcher is None else None
        try:
            self._process = subprocess.Popen(
                argv,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env={**environment, **(self._mark or {})},
                start_new_session=True,  # a process group of its own, which can be ended as one
            )
        except OSError as error:
            self._stderr.close()
            raise CouldNotVerifyError(f"could not verify: {name}: it could not be started ({error}).", name) from error
        try:
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)  # a side that stops reading must not stop us
            self.description = self._call("describe")
        except BaseException:  # nobody has this object yet, so nobody else could end the process
            self.close()
            raise

    def describe(self) -> dict[str, Any]:
        return self.description

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._observed("reset", mask=mask, seeds=seeds, draws=draws)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._observed("step", actions=actions, draws=draws)

    def set_state(self, state: Arrays) -> None:
        self._call("set_state", state=state)

    def cells(self, values: np.ndarray, actions: np.ndarray | None) -> Cells:
        """A reset or a step with given numbers in place of drawn ones (see cells.py), where the subject offers it."""
        answer = self.ask("cells", values=values, actions=actions)
        parts: Any = answer if isinstance(answer, dict) and answer.keys() == CELLS else dict.fromkeys(CELLS)
        limits, only_compared = parts["limits"], parts["only_compared"]
        if not (_rows(limits, self.num_envs, 2, np.float64) and _rows(only_compared, self.num_envs, 1, np.bool_)):
            self._fail("`cells` did not answer with limits of every lane")
        return Cells(self._as_observed("cells", parts["observed"]), limits, only_compared)

    def ask(self, call: str, **arguments: Any) -> Any:
        """One of the further calls a subject may offer; it lists them in its description under `calls`."""
        if call not in self.description.get("calls", ()):
            raise CouldNotVerifyError(f"could not verify: {self.name} does not offer `{call}`.")
        return self._call(call, **arguments)

    def close(self) -> None:
        """End the process and everything it started; once, since its number may belong to another one afterwards."""
        if self._closed:
            return
        self._closed = True
        if self._mark is None:
            end_group(self._process.pid)
        else:
            end_all(self._process.pid, self._mark)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            with contextlib.suppress(OSError):
                stream.close()  # pyright: ignore[reportOptionalMemberAccess]

    def __enter__(self) -> "ProcessSubject":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _observed(self, call: str, **arguments: Any) -> Observed:
        """An answer that must show named arrays."""
        return self._as_observed(call, self._call(call, **arguments))

    def _as_observed(self, call: str, answer: Any) -> Observed:
        parts = answer.values() if isinstance(answer, dict) and answer.keys() == PARTS else [None]
        for part in parts:
            if not isinstance(part, dict) or not all(isinstance(value, np.ndarray) for value in part.values()):
                self._fail(f"`{call}` did not answer with named arrays for {', '.join(sorted(PARTS))}")
        return Observed(**answer)

    def _call(self, call: str, **arguments: Any) -> Any:
        deadline = time.monotonic() + self.timeout
        message = io.BytesIO()
        write_message(message, {"call": call, **arguments})
        self._write(message.getbuffer(), call, deadline)
        (length,) = LENGTH.unpack(self._read(LENGTH.size, call, deadline))
        if length > MOST_BYTES:
            self._fail(f"`{call}` announced an answer of {length:,} bytes, more than the {MOST_BYTES:,} that are read")
        try:
            reply = decode(json.loads(self._read(length, call, deadline)))
            raised, answer = (reply["error"], None) if "error" in reply else (None, reply["ok"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._fail(f"`{call}` gave an answer that cannot be read ({type(error).__name__}: {error})")
        if raised is not None:
            self._fail(f"`{call}` raised {raised}", raised)
        return answer

    def _write(self, message: memoryview, call: str, deadline: float) -> None:
        """All of a request, giving up at the deadline or when the process ends."""
        assert self._process.stdin is not None
        sent = 0
        try:
            descriptor = self._process.stdin.fileno()
            while sent < len(message):
                _, ready, _ = select.select([], [descriptor], [], max(0.0, deadline - time.monotonic()))
                if not ready:
                    self._fail(f"`{call}` was not read within {self.timeout:g} s; it was stopped")
                sent += os.write(descriptor, message[sent : sent + CHUNK_BYTES])
        except (OSError, ValueError):  # a ValueError: another thread has closed it
            self._fail(f"its process ended before `{call}`")

    def _read(self, count: int, call: str, deadline: float) -> bytes:
        """Exactly `count` bytes of the reply, giving up at the deadline or when the process ends."""
        assert self._process.stdout is not None
        parts = bytearray()
        try:
            descriptor = self._process.stdout.fileno()
            while len(parts) < count:
                ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
                if not ready:
                    self._fail(f"`{call}` gave no answer within {self.timeout:g} s; it was stopped")
                chunk = os.read(descriptor, min(count - len(parts), CHUNK_BYTES))
                if not chunk:
                    self._fail(f"its process ended during `{call}`")
                parts += chunk
        except (OSError, ValueError):  # as above
            self._fail(f"its process ended during `{call}`")
        return bytes(parts)

    def _fail(self, what: str, raised: str | None = None) -> NoReturn:
        lines: list[str] = []
        with contextlib.suppress(ValueError):  # another thread has closed it
            self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - STDERR_BYTES_READ))
            lines = self._stderr.read().decode(errors="replace").strip().splitlines()[-STDERR_LINES_SHOWN:]
        self.close()
        trail = f" Its last words: {' | '.join(lines)}" if lines else ""
        raise CouldNotVerifyError(f"could not verify: {self.name}: {what}.{trail}", self.name, raised)


def _rows(array: Any, lanes: int, dimensions: int, dtype: type) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == dimensions and len(array) == lanes and array.dtype == dtype


def _command(spec: SubjectSpec, num_envs: int) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of a worker process."""
    argv = [*WORKER, json.dumps(spec.subject.as_json()), str(num_envs)]
    if spec.launcher is None:
        return argv, {**os.environ, **dict(spec.environment)}
    return spec.launcher.call(argv, dict(spec.environment), spec.files)
