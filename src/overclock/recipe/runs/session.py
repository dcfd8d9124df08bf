"""One process's work on a run's journal: events are read back as far as they go, and written from there on.

The loop decides from results alone. Run again over the same results it takes the same way, so resuming is running the
loop from the start and answering from the journal as long as it has answers. An event is written when its work is
finished, so a kill repeats at most the step under way.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.vocabulary import REFUSED, Event, Facts
from overclock.recipe.runs.work_tree import frozen_tree
from overclock.recipe.runs.writing import write_candidate

# What decides the loop's way. Calls of models, ends and requests for help lie in between and decide nothing.
DECISIONS = (
    "phase started", "task sent", "task ended", "candidate frozen", "seeds drawn", "judged",
    "test added", "measured", "candidate chosen", "optimisation", "help given",
)  # fmt: skip


class JournalSession:
    """The decisions that the journal holds, oldest first, and how to add to them."""

    def __init__(self, run: Run) -> None:
        self.run, self.journal = run, run.journal
        events = run.journal.events()
        self._events = deque(_finished(event for event in events if event.kind in DECISIONS))
        self._starts = [(event.number, event.facts.get("rules")) for event in events if event.kind == "run started"]

    @property
    def replaying(self) -> bool:
        """Whether the next step is one that the journal knows."""
        return bool(self._events)

    @property
    def rules(self) -> str | None:
        """The name of the rules that candidates were judged by when the next event was written (judged_by.py)."""
        number = self._events[0].number if self._events else 0
        return next((rules for start, rules in reversed(self._starts) if start < number), None)

    def peek(self, kind: str) -> Facts | None:
        """The facts of the next event if it is of this kind; it stays where it is."""
        return self._events[0].facts if self._events and self._events[0].kind == kind else None

    def take(self, kind: str, **expected: Any) -> Facts | None:
        """The facts of the next event, None where there is none; UsageError if it does not say what is expected."""
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

    def take_if(self, kind: str) -> Facts | None:
        """The facts of the next event if it is of this kind; otherwise it stays where it is."""
        return None if self.peek(kind) is None else self._events.popleft().facts

    def record(self, kind: str, checked: tuple[str, ...] = (), **facts: Any) -> Facts:
        """The facts of the next event, which must say the same of what is `checked`; or write it now."""
        recorded = self.take(kind, **{name: facts[name] for name in checked})
        return recorded if recorded is not None else self.journal.append(kind, **facts).facts

    def freeze(self, task: str | None) -> Frozen:
        """The candidate that a task left in the agent's folder; no task: a person changed it."""
        recorded = self.take("candidate frozen", task=task)
        if recorded is not None:
            return self.frozen(recorded)
        frozen = frozen_tree(self.run.candidate)
        write_candidate(self.journal, frozen, task)
        return frozen

    def frozen(self, facts: Facts) -> Frozen:
        """The candidate of an event 'candidate frozen'."""
        return Frozen(facts["candidate"], {path: self.journal.blob(name) for path, name in facts["files"].items()})


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
