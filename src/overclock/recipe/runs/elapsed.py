"""How long a run was worked on: the time between its events, without the time between its sessions."""

import time
from collections.abc import Sequence

from overclock.recipe.runs.vocabulary import Event


def worked_seconds(events: Sequence[Event], under_way: bool = True) -> float:
    """Seconds from each start of a run to the last event before the next one; `under_way`: to now for the last."""
    total, began, before = 0.0, None, 0.0
    for event in events:
        if event.kind == "run started":
            total += 0.0 if began is None else before - began
            began = event.time
        before = event.time
    if began is not None:
        total += max(0.0, (time.time() if under_way else before) - began)
    return total


def seconds_left(limit: float | None, events: Sequence[Event]) -> float | None:
    """What is left of a limit of working time, at least 0; None where there is no limit."""
    return None if limit is None else max(0.0, limit - worked_seconds(events))
