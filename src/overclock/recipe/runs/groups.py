"""Candidates that were made side by side: which of them a run went on with, read from its journal."""

import dataclasses
from collections.abc import Sequence

from overclock.recipe.runs.vocabulary import REFUSED, Event, Facts


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which of how many candidates for one task was kept, and why."""

    task: str
    candidate: str
    number: int
    why: str
    of: int


@dataclasses.dataclass(frozen=True)
class Group:
    """A task for several candidates: how many are made, how many have ended, the number of the one that was kept."""

    task: str
    candidates: int
    ended: int
    kept: int | None


def current(events: Sequence[Event]) -> str | None:
    """The candidate that the run stands at: the newest that was made alone, by hand, or chosen among several."""
    several = _tasks(events)
    for event in reversed(events):
        alone = event.kind == "candidate frozen" and event.facts["task"] not in several
        if alone or event.kind == "candidate chosen":
            return event.facts["candidate"]
    return None


def discarded(events: Sequence[Event]) -> set[str]:
    """Candidates that were made beside a better one, and that the run never stood at."""
    several, stood, lost = _tasks(events), set[str](), set[str]()
    for event in events:
        if event.kind == "candidate chosen":
            stood.add(event.facts["candidate"])
            lost.update(event.facts["candidates"])
        elif event.kind == "candidate frozen" and event.facts["task"] not in several:
            stood.add(event.facts["candidate"])
    return lost - stood


def choices(events: Sequence[Event]) -> list[Choice]:
    """Every choice between candidates, oldest first."""
    chosen = [event.facts for event in events if event.kind == "candidate chosen"]
    return [
        Choice(facts["task"], facts["candidate"], facts["number"], facts["why"], len(facts["candidates"]))
        for facts in chosen
    ]


def kept(events: Sequence[Event]) -> dict[str, bool]:
    """Of every task that was one of several, once that is decided: whether the run went on with what it left."""
    return {
        f"{choice.task}.{number}": number == choice.number
        for choice in choices(events)
        for number in range(1, choice.of + 1)
    }


def newest_group(events: Sequence[Event]) -> Group | None:
    """How far the newest task is, if it asks for several candidates."""
    sent = next((event.facts for event in reversed(events) if event.kind == "task sent"), {})
    group = sent.get("group")
    if group is None:
        return None
    members = _tasks(events)
    ends = [event.facts for event in events if event.kind == "task ended" and event.facts["ended"] != REFUSED]
    ended = {facts["task"] for facts in ends if members.get(facts["task"]) == group}
    number = next((one.number for one in choices(events) if one.task == group), None)
    return Group(group, sent["candidates"], len(ended), number)


def under_way(events: Sequence[Event]) -> list[Facts]:
    """The facts of the tasks that somebody works on, if anybody works on the run at all."""
    sent: dict[str, Facts] = {}
    for event in events:
        if event.kind == "run started":
            sent.clear()  # tasks that a kill cut off do not go on
        elif event.kind == "task sent":
            sent[event.facts["task"]] = event.facts
        elif event.kind == "task ended":
            sent.pop(event.facts["task"], None)
    return list(sent.values())


def _tasks(events: Sequence[Event]) -> dict[str, str]:
    """Every task that was one of several, and what they were asked for together."""
    sent = [event.facts for event in events if event.kind == "task sent"]
    return {facts["task"]: facts["group"] for facts in sent if "group" in facts}
