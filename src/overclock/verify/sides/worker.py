"""The child process of a subject: `python -m overclock.verify.sides.worker ENTRY_POINT_JSON NUM_ENVS`."""

import dataclasses
import json
import os
import sys
import traceback

from overclock.entry_point import EntryPoint
from overclock.verify.sides.wire import read_message, write_message


def serve(entry_point: EntryPoint, num_envs: int) -> None:
    """Build the subject, then answer requests until the verifier closes the pipe."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever the subject prints goes to stderr, never between two messages
    subject = None
    while (request := read_message(requests)) is not None:
        try:
            if subject is None:
                subject = entry_point.call(num_envs)
            call = request.pop("call")
            answer = getattr(subject, call)(**request)
            write_message(replies, {"ok": dataclasses.asdict(answer) if dataclasses.is_dataclass(answer) else answer})  # pyright: ignore[reportArgumentType]
        except Exception as error:
            traceback.print_exc()
            write_message(replies, {"error": f"{type(error).__name__}: {error}"})


def arguments() -> tuple[EntryPoint, int]:
    """What to serve; the command line then tells a subject no more, which could behave by who it is asked by."""
    entry_point, num_envs = sys.argv[1:]
    del sys.argv[1:], sys.orig_argv[1:]
    return EntryPoint.from_json(json.loads(entry_point)), int(num_envs)


if __name__ == "__main__":
    serve(*arguments())
