"""Calls a function that runs a reference, in a process of its own: the reference may end, crash, hang or print there.

`call_apart(function, ...)` gives what the function returns, or raises what it raises. Whatever else a reference does to
its process becomes one sentence. The function, its arguments and its result are pickled; the code is the user's own.
"""

import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from overclock.errors import OverclockError
from overclock.verify.sides.apart_worker import ANSWER, BEAT, ERRORS, Kind, is_foreign
from overclock.verify.sides.descendants import end_all, new_mark

Result = TypeVar("Result")

PATIENCE_S = 120.0  # for one call of a reference; as for a side under comparison
LONGEST_S = 3600.0  # for everything together
POLL_S = 0.05
STDERR_BYTES_READ = 1 << 16
CRASHED_AT = re.compile(r'^  File "(.+)", line (\d+) in (.+)$', re.MULTILINE)  # as faulthandler prints it
CURRENT = "Current thread"
# -P: a file of the current folder must not take the place of a module that the worker needs.
WORKER = (sys.executable, "-P", "-m", "overclock.verify.sides.apart_worker")


class ReferenceEndedError(OverclockError):
    """A reference ended, crashed or stopped answering, instead of returning or raising."""

    exit_code = 4


def call_apart(
    function: Callable[..., Result], *arguments: Any, of: str, patience: float = PATIENCE_S, **keywords: Any
) -> Result:
    """What the function returns in a process of its own; `of` begins sentences about it ("The reference 'x.py'").

    Raises the errors of the function, and ReferenceEndedError where the process ends without a result or where one
    call of code outside Overclock takes longer than `patience` seconds. Nothing that was started there is left.
    """
    with tempfile.TemporaryDirectory(prefix="overclock-apart-", ignore_cleanup_errors=True) as place:
        folder, mark = Path(place), new_mark()
        (folder / "tmp").mkdir()
        request = {"path": sys.path, "folder": place, "patience": patience}
        with (folder / "stderr").open("w+b") as stderr:
            process = subprocess.Popen(
                WORKER,
                stdin=subprocess.PIPE,
                stdout=stderr,  # what a reference prints must not mix with what a command prints
                stderr=stderr,
                env={**os.environ, **mark, "TMPDIR": str(folder / "tmp")},
                start_new_session=True,
            )
            try:
                assert process.stdin is not None
                try:
                    with process.stdin as stream:
                        pickle.dump(request, stream)
                        stream.write(pickle.dumps((function, arguments, keywords)))
                except BrokenPipeError:
                    pass  # it has ended, and its exit code says how
                hung = _wait(process, folder, patience)
            finally:
                end_all(process.pid, mark)
                process.wait()
        return _result(folder, process.returncode, of, patience if hung else None)


def _wait(process: "subprocess.Popen[bytes]", folder: Path, patience: float) -> bool:
    """Wait for the end; True if the process gave no sign of life for too long."""
    started = heard = time.monotonic()
    before = b""
    while True:
        try:
            process.wait(POLL_S)
            return False
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        beat = (folder / BEAT).read_bytes() if (folder / BEAT).exists() else b""
        if beat != before:
            before, heard = beat, now
        if now - heard > patience or now - started > LONGEST_S:
            return True


def _result(folder: Path, code: int, of: str, hung: float | None) -> Any:
    kind, answer = _answer(folder)
    match kind:
        case "value":
            return answer
        case "error":
            raise answer
        case "bug":  # of ours, or a reference's error that no sentence of ours is about
            said, trail = answer
            unexpected = RuntimeError(said)
            unexpected.add_note(trail)
            raise unexpected
        case "left":
            raise ReferenceEndedError(f"{of} raised {answer}; it must return, so take that out of it.")
        case "hung":
            seconds, where = answer
            raise ReferenceEndedError(
                f"{of} did not come back within {seconds:g} s ({where}), so it was stopped; let it "
                "return sooner, or give it more time with --timeout."
            )
    if hung is not None:
        raise ReferenceEndedError(
            f"{of} gave no sign of life for {hung:g} s, so it was stopped; let it return sooner, or "
            "give it more time with --timeout."
        )
    if code < 0:
        raise ReferenceEndedError(
            f"{of} crashed ({signal.strsignal(-code) or f'signal {-code}'}{_crashed_at(folder)}); "
            "repair what it calls there."
        )
    raise ReferenceEndedError(
        f"{of} ended its own process with exit code {code}; it must return, so take what ends "
        "it (os._exit, say) out of it."
    )


def _answer(folder: Path) -> tuple[Kind | None, Any]:
    try:
        return pickle.loads((folder / ANSWER).read_bytes())
    except (OSError, *ERRORS):
        return None, None


def _crashed_at(folder: Path) -> str:
    """Where the innermost line outside Overclock was when the process crashed, if Python could say so."""
    try:
        said = (folder / "stderr").read_bytes()[-STDERR_BYTES_READ:].decode(errors="replace")
    except OSError:
        return ""
    for file, line, name in CRASHED_AT.findall(said.rpartition(CURRENT)[2]):
        if is_foreign(file):
            return f" in {Path(file).name}, line {line}, {name}"
    return ""
