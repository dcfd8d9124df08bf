"""What a run's journal knows already, handed out in order: a resumed run repeats no work, only its steps.

The loop decides from results alone. Run again over the same results it takes the same way, so resuming is running the
loop from the start and answering from the journal as long as it has answers.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.run_vocabulary import Event

# What decides the loop's way. Calls of models, ends and requests for help lie in between and decide nothing.
DECISIONS = (
    "phase started", "task sent", "task ended", "candidate frozen", "seeds drawn", "judged",
    "test added", "measured", "optimisation", "help given",
)  # fmt: skip
REFUSED = "refused"  # how a task ends that the model's side would not work on: nothing came of it


class Past:
    """The decisions of a journal, oldest first."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = deque(_finished(event for event in events if event.kind in DECISIONS))

    @property
    def over(self) -> bool:
        """Whether everything that is known was handed out."""
        return not self._events

    def take(self, kind: str, **expected: Any) -> dict[str, Any] | None:
        """The facts of the next event if there is one; it must be of this kind and say what is expected."""
        if not self._events:
            return None
        event = self._events.popleft()
        wrong = [name for name, value in expected.items() if event.facts.get(name) != value]
        if event.kind != kind or wrong:
            raise UsageError(
                f"The journal does not fit this project any more: it has '{event.kind}' (event {event.number}) where "
                f"'{kind}' comes now; start a new run with `overclock translate`."
            )
        return event.facts

    def take_if(self, kind: str) -> dict[str, Any] | None:
        """The facts of the next event if it is of this kind; otherwise it stays where it is."""
        return self._events.popleft().facts if self._events and self._events[0].kind == kind else None


def _finished(events: Iterable[Event]) -> Iterator[Event]:
    """Without tasks that were cut off or refused; these are sent again, once or many times, and count when they end."""
    sent: Event | None = None
    for event in events:
        if event.kind == "task sent":
            sent = event
        elif event.kind != "task ended":
            yield event
        elif event.facts["ended"] != REFUSED:
            if sent is not None:
                yield sent
            yield event
