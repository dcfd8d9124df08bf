"""Where a run stands, read from its journal: what `overclock status` and `overclock watch` show."""

import dataclasses
import datetime
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from overclock.recipe.judging.verdict import Level
from overclock.recipe.runs.cost import Cost, spending
from overclock.recipe.runs.groups import Group, current, discarded, newest_group, under_way
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.vocabulary import Event

SCHEMA: Literal["overclock.status/1"] = "overclock.status/1"
WAITING = "waiting"  # the outcome of a run that goes on when somebody has worked
# After these a run that has ended goes on: somebody resumed it.
WORK = {"run started", "phase started", "task sent", "task ended", "candidate frozen", "judged", "help given"}


@dataclasses.dataclass(frozen=True)
class LevelTests:
    """The newest verdict of a level, with its tests where they were counted."""

    level: Level
    verdict: str
    passed: int | None
    total: int | None
    candidate: str


@dataclasses.dataclass(frozen=True)
class RunTime:
    """When a run was worked on, and the seconds that agent and judge took."""

    started: str | None
    last_event: str | None
    elapsed_s: float | None
    agent_s: float
    judge_s: float


@dataclasses.dataclass(frozen=True)
class RunStatus:
    """Where a run stands (overclock.status/1); None where nothing is known yet."""

    schema: Literal["overclock.status/1"]
    project: str | None
    reference: str | None
    target: str | None
    agent: str | None
    candidates: int | None  # made side by side
    levels: list[int] | None
    phase: int | None
    phase_name: str | None
    module: str | None
    level: Level | None
    iteration: int | None
    iterations_allowed: int | None
    side_by_side: Group | None
    candidate: str | None
    tests: list[LevelTests]
    cost: Cost
    budget_dollars: float | None
    time: RunTime
    outcome: str | None
    sentence: str | None
    working: bool
    waits_for: str | None


def status(journal: Journal) -> RunStatus:
    """The status of a run now."""
    working = journal.worked_on()  # asked first: if nobody works on it, the events read after that are all there are
    return status_of(journal.events(), working, time.time(), journal.path.parent)


def status_of(events: Sequence[Event], working: bool, now: float, run: Path | None = None) -> RunStatus:
    """The status after these events; `working` says whether a process goes on with the run, `run` is its folder."""
    started = last(events, "run started")
    phase, sent = last(events, "phase started"), last(events, "task sent")
    ended = ending(events)
    facts = started.facts if started else {}
    return RunStatus(
        SCHEMA,
        **{key: facts.get(key) for key in ("project", "reference", "target", "agent", "candidates", "levels")},
        phase=phase.facts["phase"] if phase else None,
        phase_name=phase.facts["name"] if phase else None,
        module=phase.facts["module"] if phase else None,
        level=_level(events),
        iteration=sent.facts["iteration"] if sent else None,
        iterations_allowed=facts.get("limits", {}).get("iterations"),
        side_by_side=newest_group(events),
        candidate=current(events),
        tests=tests(events),
        cost=spending(events).so_far(),
        budget_dollars=facts.get("budget_dollars"),
        time=_time(events, working and not ended, now),
        outcome=ended.facts["outcome"] if ended else None,
        sentence=_with_its_run(ended.facts["sentence"] if ended else None, run),
        working=working,
        waits_for=_with_its_run(waits_for(events, working), run),
    )


def last(events: Sequence[Event], *kinds: str) -> Event | None:
    """The newest event of some kinds."""
    return next((event for event in reversed(events) if event.kind in kinds), None)


def ending(events: Sequence[Event]) -> Event | None:
    """How the run ended; None if it did not, or if it went on afterwards."""
    found = last(events, "run ended", *WORK)
    return found if found is not None and found.kind == "run ended" else None


def tests(events: Sequence[Event]) -> list[LevelTests]:
    """The newest verdict of every level, lowest level first; those on candidates that were not kept do not count."""
    lost = discarded(events)
    judged = [event.facts for event in events if event.kind == "judged" and event.facts["candidate"] not in lost]
    newest = {facts["level"]: facts for facts in judged}
    return [
        LevelTests(level, facts["verdict"], facts["tests_passed"], facts["tests_total"], facts["candidate"])
        for level, facts in sorted(newest.items(), key=lambda pair: level_order(pair[0]))
    ]


def level_order(level: int | str) -> tuple[bool, int | str]:
    """Levels by number; "held-out" comes after them."""
    return isinstance(level, str), level


def waits_for(events: Sequence[Event], working: bool) -> str | None:
    """What has to happen next, in a sentence; None if nothing has to."""
    helped = last(events, "help asked", "help given", "task sent")
    if helped is not None and helped.kind == "help asked":
        return f"Help: {helped.facts['sentence']} {helped.facts['how']}"
    if (ended := ending(events)) is not None:
        return ended.facts["sentence"] if ended.facts["outcome"] == WAITING else None
    newest = last(events, *WORK, "seeds drawn")
    if newest is not None and newest.kind == "task ended" and newest.facts["ended"] == "waiting":
        return newest.facts["reason"]
    if not working:
        return "Nobody works on this run now; `overclock resume` goes on with it."
    return _next(events, newest)


def _with_its_run(sentence: str | None, run: Path | None) -> str | None:
    """The command in a sentence as it can be typed: what was written while the run worked does not name its folder."""
    if sentence is None or run is None:
        return sentence
    return sentence.replace("`overclock resume`", f"`overclock resume {shlex.quote(str(run))}`")


def _next(events: Sequence[Event], newest: Event | None) -> str:
    facts = newest.facts if newest else {}
    if tasks := under_way(events):
        started = last(events, "run started")
        agent = started.facts["agent"] if started else "agent"
        names = ", ".join(task["task"] for task in tasks)
        return f"The agent ({agent}), at task {names}: {tasks[0]['purpose']}."
    match newest.kind if newest else None:
        case "task ended":
            return "What the agent left is frozen."
        case "candidate frozen":
            return f"The verdict on candidate {short(facts['candidate'])}."
        case "seeds drawn":
            return f"The verifier, at {facts['purpose']} of candidate {short(facts['candidate'])}."
        case "judged" if facts["verdict"] == "pass":
            return "The next level."
        case "judged" | "help given":
            return "The next task."
        case _:
            return "The verifier, or the next task."


def short(candidate: str) -> str:
    """The first letters of a hash, for people."""
    return candidate[:10]


def _level(events: Sequence[Event]) -> Level | None:
    """The level that is worked on: that of the newest task or verdict of this phase."""
    newest = last(events, "phase started", "task sent", "judged")
    return None if newest is None else newest.facts.get("level")


def _time(events: Sequence[Event], going_on: bool, now: float) -> RunTime:
    first, final = (events[0].time, events[-1].time) if events else (None, None)
    until = now if going_on else final
    return RunTime(
        started=None if first is None else moment(first),
        last_event=None if final is None else moment(final),
        elapsed_s=None if first is None or until is None else max(0.0, until - first),
        agent_s=sum(event.facts["seconds"] for event in events if event.kind == "task ended"),
        judge_s=sum(event.facts["seconds"] for event in events if event.kind == "judged"),
    )


def moment(seconds: float) -> str:
    """A time of the journal as ISO 8601, in UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
