"""What the translator says about what it cannot translate: always which construct, at which line of which file."""

import dataclasses
from typing import Any

from overclock.errors import OverclockError


@dataclasses.dataclass(frozen=True)
class Place:
    """A line of the reference."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class UnsupportedError(OverclockError):
    """A construct outside the translator's scope. Where it was raised deep inside, `locate` adds the place later."""

    exit_code = 1

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason)
        self.reason, self.place = reason, place
        self.share: tuple[int, int] | None = None  # statements that were translated before, and all there are

    def locate(self, place: Place) -> None:
        """Note where it happened; the innermost place that was noted stays."""
        self.place = self.place or place

    def __str__(self) -> str:
        if self.place is None:
            return self.reason
        shown = f" ({self.place.text.strip()})" if self.place.text else ""
        done = "" if self.share is None else "; {} of {} statements on the way were translated".format(*self.share)
        return f"{self.place}: {self.reason}{shown}{done}"


class AlwaysRaisesError(UnsupportedError):
    """A statement that raises whatever the values are: where a value decides whether it runs, it is never reached."""


class StartAnewError(Exception):
    """Something was found out that changes what was translated before: the translation starts again."""


class NeedsStateError(StartAnewError):
    """Something taken for a constant is changed: `path` must be part of the state."""

    def __init__(self, path: tuple[Any, ...]) -> None:
        super().__init__(path)
        self.path = path


class NeedsPlainDrawError(StartAnewError):
    """A draw is made with different arguments by different callers: it must be recorded as what they have in common."""

    def __init__(self, site: tuple[str, int, int]) -> None:
        super().__init__(site)
        self.site = site
