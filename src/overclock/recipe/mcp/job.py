"""One job of an MCP session: its kind, its progress, and how it ended."""

import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator
from typing import Any, Literal

from overclock.errors import OverclockError
from overclock.recipe.judging.verdict import Verdict

State = Literal["running", "done", "error"]


@dataclasses.dataclass
class Job:
    """Written by the thread that works on it, read by all others; `ended` is set last."""

    id: str
    kind: Literal["verify", "bench"]
    candidate: str
    folder: str
    level: int | None = None
    state: State = "running"
    verdicts: list[Verdict] = dataclasses.field(default_factory=list)
    sps: dict[str, float] | None = None
    error: str | None = None
    now: dict[str, str | int] = dataclasses.field(default_factory=dict)  # the newest progress: what, done, total
    ended: threading.Event = dataclasses.field(default_factory=threading.Event)
    began: float = dataclasses.field(default_factory=time.monotonic)
    seconds: float | None = None

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """A context for the work: sets state, error, seconds and `ended`, also when the work raises."""
        try:
            yield
            self.state = "done"
        except OverclockError as error:
            self.state, self.error = "error", str(error)
        except Exception as error:
            self.state, self.error = "error", f"The server failed: {type(error).__name__}: {error}."
        finally:
            self.seconds = time.monotonic() - self.began
            self.ended.set()

    def progress(self, what: str, done: int, total: int) -> None:
        """Note how far the job is (a `Progress`)."""
        self.now = {"what": what, "done": done, "total": total}

    @property
    def verdict(self) -> str | None:
        """The verdict of the last judged level, after which a job that failed has stopped; None if not yet known."""
        if self.state != "done":
            return self.error and "could not verify"
        return self.verdicts[-1].verdict if self.verdicts else None

    def describe(self) -> dict[str, Any]:
        """The answer of the tool `poll`."""
        last = self.verdicts[-1] if self.verdicts else None
        seconds = time.monotonic() - self.began if self.seconds is None else self.seconds
        return {
            "job": self.id,
            "kind": self.kind,
            "state": self.state,
            "level": self.level,
            "candidate": self.candidate,
            "folder": self.folder,
            "seconds": round(seconds, 1),
            "now": self.now if self.state == "running" else None,
            "verdict": self.verdict,
            "levels": [
                {"level": v.level, "verdict": v.verdict, "tests_passed": v.tests_passed, "tests_total": v.tests_total}
                for v in list(self.verdicts)
            ],
            "sentence": self.error or (last.failure.sentence if last is not None and last.failure else None),
            "steps_per_second": self.sps,
        }
