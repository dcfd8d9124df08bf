"""The judge's own process for the MCP server: `python -m overclock.recipe.mcp.worker OPTIONS`.

A server must answer while candidates are judged, and must be able to stop that at any moment with nothing left behind:
SIGTERM, or the end of the pipe from the server, unwinds the judge like any exception, so its workers and folders go.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

from overclock.env.registry import load
from overclock.errors import OverclockError
from overclock.files import finite
from overclock.recipe.mcp.process import unpacked
from overclock.recipe.project.project import load_project
from overclock.results import encode
from overclock.verify.sides.wire import read_message, write_message

EVERY_S = 0.25  # progress is told no more often
TERMINATED = 128 + signal.SIGTERM


def serve(judge: str, project: str, scenarios: str, repros: str, sandbox: str) -> None:
    """Answer requests (wire.py) one after the other until the pipe closes; `judge` is the judge's entry point."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the judge prints is not an answer
    signal.signal(signal.SIGTERM, _leave)
    waiting: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, waiting), daemon=True).start()
    told = 0.0

    def progress(what: str, done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= EVERY_S:
            told = time.monotonic()
            write_message(replies, {"progress": [what, int(done), int(total)]})

    found: Any = None
    while True:
        request = waiting.get()
        try:
            if found is None:
                found = load(judge)(load_project(Path(project)), Path(scenarios), Path(repros), sandbox, progress)
            write_message(replies, {"ok": finite(_answer(found, **request))})
        except OverclockError as error:
            write_message(replies, {"error": str(error)})
        except Exception as error:
            write_message(replies, {"error": f"The judge itself failed: {type(error).__name__}: {error}."})


def _answer(judge: Any, candidate: dict[str, Any], **wanted: Any) -> dict[str, Any]:
    frozen = unpacked(candidate)
    if "batches" in wanted:
        return judge.speed(frozen, tuple(wanted["batches"]))
    return encode(judge.judge(frozen, wanted["level"], wanted["seed"], attempt=wanted["attempt"]))


def _receive(requests: BinaryIO, waiting: "queue.SimpleQueue[dict[str, Any]]") -> None:
    while (request := read_message(requests)) is not None:
        waiting.put(request)
    os.kill(os.getpid(), signal.SIGTERM)  # the server is gone, and with it whoever wanted an answer


def _leave(number: int, _: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; a second one would cut the tidying up
    raise SystemExit(TERMINATED)


if __name__ == "__main__":
    serve(**json.loads(sys.argv[1]))
