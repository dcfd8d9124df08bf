"""What a run has cost, counted from its journal: metered by the gateway, told by the agents, or not known at all.

Calls through the gateway are metered; one that was opened and never closed counts at its reservation, which is the most
it can have cost. What an agent says about itself counts only for tasks in which the gateway saw no call. Where neither
is known the answer is None, "not reported": never zero.
"""

import dataclasses
import math
from collections.abc import Collection, Iterable

from overclock.recipe.gateway.usage import Usage, total
from overclock.recipe.runs.vocabulary import Event
from overclock.results import absent

REFUSED = 402  # how the gateway answers a call that the budget does not allow
NOT_REPORTED = "not reported"


@dataclasses.dataclass(frozen=True)
class Cost:
    """What was spent, as reports show it; None where it is not known.

    `basis` says who counted: "metered", "self-reported", "partly metered", "shared" by tasks that were under way at the
    same time, or "not reported".
    """

    basis: str
    tokens: int | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    calls: int | None = None
    dollars: float | None = None
    metered: Usage | None = None
    self_reported: Usage | None = None
    calls_never_closed: int = 0
    tasks_not_reported: int = 0
    refused_calls: int | None = absent()  # of a whole run

    @property
    def nothing_used(self) -> bool:
        """Whether it is known that no model was asked: the built-in translator needs none."""
        open_ends = self.calls_never_closed or self.tasks_not_reported or self.refused_calls
        return not open_ends and self.calls == 0 and self.tokens == 0 and not self.dollars


class Spending:
    """Reads a journal event by event; `so_far()` says what was spent up to there, `of_task(id)` by one task."""

    def __init__(self) -> None:
        self._opened: dict[str, Usage] = {}  # what was reserved
        self._closed: dict[str, Usage] = {}
        self._refused = 0
        self._owner: dict[str, str | None] = {}  # call -> task, where exactly one was under way
        self._active: set[str] = set()
        self._metered: set[str] = set()  # tasks during which the gateway saw a call
        self._shared: set[str] = set()  # of these: tasks during which others were under way as well
        self._told: dict[str, list[Usage | None]] = {}

    def see(self, event: Event) -> None:
        """Count one more event of the journal."""
        facts = event.facts
        match event.kind:
            case "run started":
                self._active.clear()  # tasks that a kill cut off do not go on
            case "task sent":
                self._active.add(facts["task"])
            case "task ended":
                self._active.discard(facts["task"])
                usage = facts["usage"]
                self._told.setdefault(facts["task"], []).append(None if usage is None else Usage(**usage))
            case "call opened":
                # How a prompt and an answer share the tokens is not written; a limit counts their sum.
                tokens = facts.get("reserved_tokens", 0)
                self._opened[facts["call"]] = Usage(calls=1, input_tokens=tokens, dollars=facts["reserved_dollars"])
                self._belongs(facts["call"])
            case "call closed":
                if facts["call"] not in self._opened:
                    self._belongs(facts["call"])
                self._closed[facts["call"]] = Usage(**facts["usage"])
                self._refused += facts["status"] == REFUSED

    def so_far(self) -> Cost:
        """The cost of the run up to here."""
        return dataclasses.replace(self._cost(self._owner, self._told), refused_calls=self._refused)

    def of_task(self, task: str) -> Cost:
        """What one task cost; its `basis` is "shared" if other tasks were under way at the same time."""
        calls = [call for call, owner in self._owner.items() if owner == task]
        if task in self._shared:
            return Cost("shared")
        return self._cost(calls, [task] if task in self._told else [])

    def _belongs(self, call: str) -> None:
        self._owner[call] = next(iter(self._active)) if len(self._active) == 1 else None
        self._metered |= self._active
        self._shared |= self._active if len(self._active) > 1 else set()

    def _cost(self, calls: Collection[str], tasks: Iterable[str]) -> Cost:
        closed = [self._closed[call] for call in calls if call in self._closed]
        unclosed = [call for call in calls if call not in self._closed]
        reserved = [self._opened[call] for call in unclosed]
        told = [usage for task in tasks if task not in self._metered for usage in self._told[task]]
        known = [usage for usage in told if usage is not None]
        cost = _described(_sum(closed + reserved), _sum(known), len(unclosed), len(told) - len(known))
        if unclosed and not closed and not known:
            cost = dataclasses.replace(cost, tokens=None, input_tokens=None, cached_tokens=None, output_tokens=None)
        return cost


def spending(events: Iterable[Event]) -> Spending:
    """What a whole journal says."""
    found = Spending()
    for event in events:
        found.see(event)
    return found


def _sum(usages: list[Usage]) -> Usage | None:
    """The sum, the same in whatever order parallel calls were closed; None of nothing."""
    if not usages:
        return None
    amounts = [usage.dollars for usage in usages if usage.dollars is not None]
    return dataclasses.replace(total(usages), dollars=math.fsum(amounts) if len(amounts) == len(usages) else None)


def _described(metered: Usage | None, told: Usage | None, unclosed: int, unreported: int) -> Cost:
    both = _sum([usage for usage in (metered, told) if usage is not None])
    basis = (
        "partly metered" if metered and told else "metered" if metered else "self-reported" if told else NOT_REPORTED
    )
    return Cost(
        basis,
        tokens=None if both is None else both.input_tokens + both.output_tokens,
        input_tokens=None if both is None else both.input_tokens,
        cached_tokens=None if both is None else both.cached_tokens,
        output_tokens=None if both is None else both.output_tokens,
        calls=None if both is None else both.calls,
        dollars=None if both is None else both.dollars,
        metered=metered,
        self_reported=told,
        calls_never_closed=unclosed,
        tasks_not_reported=unreported,
    )
