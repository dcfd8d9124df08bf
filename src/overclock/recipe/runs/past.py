"""What a run's journal knows already, handed out in order: a resumed run repeats no work, only its steps.

The loop decides from results alone. Run again over the same results it takes the same way, so resuming is running the
loop from the start and answering from the journal as long as it has answers.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.runs.vocabulary import Event

# What decides the loop's way. Calls of models, ends and requests for help lie in between and decide nothing.
DECISIONS = (
    "phase started", "task sent", "task ended", "candidate frozen", "seeds drawn", "judged",
    "test added", "measured", "candidate chosen", "optimisation", "help given",
)  # fmt: skip
REFUSED = "refused"  # how a task ends that the model's side would not work on: nothing came of it


class Past:
    """The decisions of a journal, oldest first."""

    def __init__(self, events: Iterable[Event]) -> None:
        known = list(events)
        self._events = deque(_finished(event for event in known if event.kind in DECISIONS))
        self._starts = [(event.number, event.facts.get("rules")) for event in known if event.kind == "run started"]

    @property
    def over(self) -> bool:
        """Whether everything that is known was handed out."""
        return not self._events

    @property
    def rules(self) -> str | None:
        """What was judged by when the next event was written (judged_by.py)."""
        number = self._events[0].number if self._events else 0
        return next((rules for start, rules in reversed(self._starts) if start < number), None)

    def next(self, kind: str) -> dict[str, Any] | None:
        """The facts of the next event if it is of this kind; it stays where it is."""
        return self._events[0].facts if self._events and self._events[0].kind == kind else None

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
        return None if self.next(kind) is None else self._events.popleft().facts


def _finished(events: Iterable[Event]) -> Iterator[Event]:
    """Without tasks that were cut off or refused; these are sent again, once or many times, and count when they end.

    What candidates that are made side by side write in turn is put together, task by task. Each of these is frozen
    before its end is written: its folder would not outlive a kill.
    """
    sent: dict[str, Event] = {}
    frozen: dict[str, Event] = {}
    for event in events:
        task = str(event.facts.get("task"))
        if event.kind == "task sent":
            sent[task] = event
        elif event.kind == "candidate frozen" and task in sent:
            frozen[task] = event
        elif event.kind != "task ended":
            yield event
        elif event.facts["ended"] != REFUSED:
            yield from (found for found in (sent.pop(task, None), event, frozen.pop(task, None)) if found is not None)
