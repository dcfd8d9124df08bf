"""The process of `call_apart`: `python -m overclock.verify.sides.apart_worker`, with a pickled request on stdin.

The answer goes into a file, because a reference may close every descriptor; and only this process writes it, because a
reference may fork and return twice. A thread watches how long one call of code outside Overclock takes.
"""

import contextlib
import faulthandler
import os
import pickle
import sys
import sysconfig
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from overclock.errors import OverclockError

ANSWER, BEAT = "answer", "beat"
Kind = Literal["value", "error", "bug", "left", "hung"]
BEAT_S = 0.2
# What reading or writing a pickle may raise: classes decide for themselves.
ERRORS = (pickle.PickleError, AttributeError, ImportError, TypeError, ValueError, EOFError, IndexError)
OURS = str(Path(__file__).parents[2]) + os.sep
STANDARD = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))
PACKAGES = ("site-packages", "dist-packages")


def main() -> None:
    """Read the request, call the function, write the answer, end."""
    request = pickle.load(sys.stdin.buffer)
    sys.path[:] = request["path"]
    text = sys.stdin.buffer.read()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    faulthandler.enable()
    end_forks_that_return()
    process, folder = os.getpid(), Path(request["folder"])
    watch = Watch(folder, request["patience"], os.getppid(), threading.get_ident())
    threading.Thread(target=watch.run, daemon=True).start()
    answer = _called(text)
    if os.getpid() == process:
        write_answer(folder, *answer)
    os._exit(0)  # without what a reference has asked to be done at the end of the process


def _called(text: bytes) -> tuple[Kind, Any]:
    try:
        function, arguments, keywords = pickle.loads(text)
        return "value", function(*arguments, **keywords)
    except OverclockError as error:
        return "error", error
    except Exception as error:
        return "bug", (f"{type(error).__name__}: {error}".partition("\n")[0], traceback.format_exc())
    except BaseException as error:  # SystemExit, KeyboardInterrupt
        return "left", f"{type(error).__name__}{f' ({error})' if str(error) else ''}"


def write_answer(folder: Path, kind: Kind, value: Any) -> None:
    """Write the answer whole: it is there under its name or not at all."""
    try:
        text = pickle.dumps((kind, value))
        if kind == "error":
            pickle.loads(text)  # an error may refuse its own arguments
    except ERRORS as error:
        if isinstance(value, OverclockError):
            plain = OverclockError(str(value))
            plain.exit_code = value.exit_code
            text = pickle.dumps((kind, plain))
        else:
            said = f"the result cannot be passed on ({type(error).__name__}: {error})"
            text = pickle.dumps(("bug", (said, traceback.format_exc())))
    unfinished = folder / f"{ANSWER}.unfinished"
    unfinished.write_bytes(text)
    unfinished.replace(folder / ANSWER)


class Watch:
    """Tells the caller that this process lives, and ends it where a call outside Overclock does not come back."""

    def __init__(self, folder: Path, patience: float, parent: int, thread: int) -> None:
        self._folder, self._patience, self._parent, self._thread = folder, patience, parent, thread

    def run(self) -> None:
        """Watch until the process ends."""
        call: FrameType | None = None
        since, beats = time.monotonic(), 0
        while os.getppid() == self._parent:
            frame = sys._current_frames().get(self._thread)
            found, now = _outside(frame), time.monotonic()
            if found is not call:
                call, since = found, now
            if call is not None and now - since > self._patience:
                write_answer(self._folder, "hung", (self._patience, _place(frame)))
                os._exit(1)
            beats += 1
            with contextlib.suppress(OSError):
                (self._folder / BEAT).write_text(str(beats))
            time.sleep(BEAT_S)
        os._exit(1)  # nobody waits for the answer any more


def _outside(frame: FrameType | None) -> FrameType | None:
    """The outermost call of code that is neither Overclock's nor Python's own, below one of Overclock."""
    found = None
    while frame is not None:
        if _is_foreign(frame):
            found = frame
        frame = frame.f_back
    return found


def _place(frame: FrameType | None) -> str:
    """The innermost line of such code, in words."""
    while frame is not None and not _is_foreign(frame):
        frame = frame.f_back
    if frame is None:
        return "outside of Python"
    code = frame.f_code
    return f"{Path(code.co_filename).name}, line {frame.f_lineno}, {code.co_name}"


def is_foreign(file: str) -> bool:
    """Whether a file of code belongs neither to Overclock nor to Python itself."""
    if file.startswith((OURS, "<frozen")):
        return False
    return not file.startswith(STANDARD) or any(part in file for part in PACKAGES)


def _is_foreign(frame: FrameType) -> bool:
    return is_foreign(frame.f_code.co_filename)


def end_forks_that_return() -> None:
    """From now on, a process that code outside Overclock forks off ends where it would return to Overclock.

    Otherwise two processes would go on with the same work, and write to the same files and pipes.
    """
    os.register_at_fork(after_in_child=lambda: sys.setprofile(_end_at_return))


def _end_at_return(frame: FrameType, event: str, argument: Any) -> None:
    caller = frame.f_back
    returns = event == "return" and caller is not None and caller.f_code.co_filename.startswith(OURS)
    if returns and not frame.f_code.co_filename.startswith(OURS):
        os._exit(0)


if __name__ == "__main__":
    main()
