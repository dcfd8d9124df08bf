"""Runs the judge in a process of its own (mcp/worker.py), which starts when needed and can be stopped any time."""

import base64
import contextlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from overclock.progress import Progress
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.verdict import Level, Verdict
from overclock.results import decode
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.wire import read_message, write_message

JUDGE = "overclock.recipe.judging.judge:Judge"
WORKER = (sys.executable, "-P", "-m", "overclock.recipe.mcp.worker")
GRACE_S = 1.5  # to tidy up in; clients end a server that stays longer than 2 s after its stdin has closed


class JudgeProcess:
    """Judges one thing at a time. `stop` may be called from any thread and ends whatever is under way."""

    def __init__(self, project: Path, scenarios: Path, repros: Path, sandbox: str, judge: str = JUDGE) -> None:
        places = {"project": project, "scenarios": scenarios, "repros": repros}
        self._options = {"judge": judge, "sandbox": sandbox, **{k: str(v.resolve()) for k, v in places.items()}}
        self._process: subprocess.Popen[bytes] | None = None
        self._starting, self._stopped = threading.Lock(), False

    def judge(self, frozen: Frozen, level: Level, seed: int, attempt: int, progress: Progress) -> Verdict:
        """Judge one level of one candidate."""
        wanted = {"candidate": packed(frozen), "level": level, "seed": seed, "attempt": attempt}
        return decode(Verdict, self._ask(wanted, progress))

    def bench(self, frozen: Frozen, batches: tuple[int, ...], progress: Progress) -> dict[str, float]:
        """Steps per second by batch."""
        return self._ask({"candidate": packed(frozen), "batches": list(batches)}, progress)

    def stop(self) -> None:
        """End the process and all it has started."""
        with self._starting:
            self._stopped = True
            process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # pyright: ignore[reportOptionalMemberAccess]

    def _ask(self, request: dict[str, Any], progress: Progress) -> Any:
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_message(process.stdin, request)  # pyright: ignore[reportArgumentType]
            while (reply := read_message(process.stdout)) is not None:  # pyright: ignore[reportArgumentType]
                if "progress" in reply:
                    progress(*reply["progress"])
                elif "error" in reply:
                    raise CouldNotVerifyError(reply["error"])
                else:
                    return reply["ok"]
        except (OSError, ValueError):  # its pipe broke, or was closed by another thread
            pass
        with self._starting:
            if self._process is process:
                self._process = None  # the next request starts another one
        raise CouldNotVerifyError("The judge was stopped." if self._stopped else "The judge's process ended.")

    def _started(self) -> "subprocess.Popen[bytes]":
        with self._starting:
            if self._stopped:
                raise CouldNotVerifyError("The judge was stopped.")
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [*WORKER, json.dumps(self._options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            return self._process


def packed(frozen: Frozen) -> dict[str, Any]:
    """A frozen candidate as JSON values for a request."""
    return {"hash": frozen.hash, "files": {p: base64.b64encode(c).decode() for p, c in frozen.files.items()}}


def unpacked(candidate: dict[str, Any]) -> Frozen:
    """The frozen candidate of a request that `packed` made."""
    return Frozen(candidate["hash"], {p: base64.b64decode(text) for p, text in candidate["files"].items()})
