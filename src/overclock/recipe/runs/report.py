"""`run_report(run)`: what a run did, computed from its journal alone (schema overclock.run/1).

Everything that may differ when the same run is replayed elsewhere (dates, durations, speeds, versions, paths, the
verifier's own dated reports) stands under the one key "volatile"; the rest is the same, byte for byte.
"""

import contextlib
import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Literal

from overclock.recipe.judging.judged_by import JudgedBy, described
from overclock.recipe.judging.verdict import Level
from overclock.recipe.runs.cost import Cost, Spending, spending
from overclock.recipe.runs.groups import Choice, choices, discarded
from overclock.recipe.runs.iterations import Caught, Iteration, Judgement, caught, iterations
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import ending, last, level_order, moment, tests
from overclock.recipe.runs.vocabulary import Event, Facts
from overclock.results import absent

SCHEMA: Literal["overclock.run/1"] = "overclock.run/1"
UNSANDBOXED = {"none", "UNSANDBOXED"}  # the sandbox that holds nothing back, by its name and by its title


@dataclasses.dataclass
class Phase:
    """A phase with what was done in it; what a kill or a refusal made happen again counts once."""

    phase: int
    name: str
    module: str | None
    tasks: int = 0
    candidates: int = 0
    verdict: str | None = None


@dataclasses.dataclass(frozen=True)
class Sandboxes:
    """The sandboxes of candidates and agent, and a warning where there was none."""

    candidate: str | None
    agent: str | None
    warning: str | None


@dataclasses.dataclass(frozen=True)
class CurvePoint:
    """Tests passing after a verdict, and the tokens used until then."""

    tokens: int | None
    candidate: str
    passed: int
    total: int
    levels: dict[str, int]


@dataclasses.dataclass(frozen=True)
class FinalCandidate:
    """The candidate that a run stands by, with the newest verdict of every level."""

    candidate: str
    lines: int
    files: dict[str, str]
    levels: list[Judgement]


@dataclasses.dataclass(frozen=True)
class LevelReport:
    """The verifier's own report on the final candidate at one level: its name, its content where it is JSON."""

    level: Level
    seconds: float
    blob: str | None
    report: Any


@dataclasses.dataclass(frozen=True)
class Volatile:
    """What may differ when the same run is replayed elsewhere."""

    run: str
    folder: str
    project: str | None
    versions: dict[str, Any] | None
    started: str | None
    ended: str | None
    elapsed_s: float | None
    agent_s: float
    judge_s: float
    tasks_sent: list[Facts]
    tasks_ended: list[Facts]
    throughput: list[Facts]
    optimisations: list[Facts]
    help_asked: list[Facts]
    verification: list[LevelReport]
    processor: str | None = absent()


@dataclasses.dataclass(frozen=True)
class RunReport:
    """The report of a run (overclock.run/1); lists of facts are what events of the journal say."""

    schema: Literal["overclock.run/1"]
    project: str | None
    reference: str | None
    target: str | None
    candidates: int | None  # made side by side
    levels: list[int] | None
    limits: dict[str, Any] | None
    agent: str | None
    budget_dollars: float | None
    sandbox: Sandboxes
    outcome: str | None
    sentence: str | None
    phases: list[Phase]
    iterations: list[Iteration]
    choices: list[Choice]
    caught: list[Caught]
    caught_by_level: dict[str, int]
    cost: Cost
    curve: list[CurvePoint]
    tests_added: list[Facts]
    seeds: list[Facts]
    help_asked: list[Facts]
    help_given: list[Facts]
    optimisations: list[Facts]
    final: FinalCandidate | None
    judged_by: JudgedBy | None
    volatile: Volatile


def run_report(run: Run) -> RunReport:
    """The report of a run, finished or not."""
    journal, events = run.journal, run.journal.events()
    started, ended = last(events, "run started"), ending(events)
    facts = started.facts if started else {}
    spent = spending(events)
    rows = iterations(journal, events, spent)
    failures = caught(rows)
    by_level = Counter(failure.level for failure in failures)
    chosen = final_candidate(events)
    return RunReport(
        SCHEMA,
        project=PurePath(facts["project"]).name if facts else None,
        **{key: facts.get(key) for key in ("reference", "target", "candidates", "levels", "limits")},
        agent=_agent(facts),
        budget_dollars=facts.get("budget_dollars"),
        sandbox=_sandbox(events),
        outcome=ended.facts["outcome"] if ended else None,
        sentence=ended.facts["sentence"] if ended else None,
        phases=_phases(events),
        iterations=rows,
        choices=choices(events),
        caught=failures,
        caught_by_level={str(level): by_level[level] for level in sorted(by_level, key=level_order)},
        cost=spent.so_far(),
        curve=curve(events),
        tests_added=_facts(events, "test added", "level", "name", "why", "file"),
        seeds=_facts(events, "seeds drawn", "candidate", "purpose", "seed"),
        help_asked=_facts(events, "help asked", "level", "sentence"),
        help_given=_facts(events, "help given", "note"),
        optimisations=_facts(events, "optimisation", "candidate", "kept"),
        final=_final(events, chosen),
        judged_by=_judged_by(journal, events, chosen),
        volatile=_volatile(run, events, facts, chosen),
    )


def _agent(facts: Facts) -> str | None:
    """Who worked; where no model was asked, because an earlier run's answers were repeated, that as well."""
    answers = facts.get("recorded")
    return f"{facts['agent']}, answered from the run {PurePath(answers).name}" if answers else facts.get("agent")


def curve(events: Sequence[Event]) -> list[CurvePoint]:
    """Tests passing against tokens: a point per verdict on what was kept, each level with its newest count."""
    points, spent, verdicts, lost = [], Spending(), [], discarded(events)
    for event in events:
        spent.see(event)
        if event.kind != "judged" or event.facts["tests_passed"] is None or event.facts["candidate"] in lost:
            continue
        verdicts.append(event)
        newest = tests(verdicts)
        passed = {str(test.level): test.passed or 0 for test in newest}
        total = sum(test.total or 0 for test in newest)
        points.append(CurvePoint(spent.so_far().tokens, event.facts["candidate"], sum(passed.values()), total, passed))
    return points


def final_candidate(events: Sequence[Event]) -> str | None:
    """The candidate that the run stands by: the last optimisation that was kept; or else, of those not rejected and
    not made beside a better one, the one that passed most levels, and the newest of equals."""
    decisions = {event.facts["candidate"]: event.facts["kept"] for event in events if event.kind == "optimisation"}
    if kept := [candidate for candidate, good in decisions.items() if good]:
        return kept[-1]
    passed: dict[str, set[int | str]] = {}
    for event in events:
        if event.kind == "candidate frozen":
            levels = passed.pop(event.facts["candidate"], set())
            passed[event.facts["candidate"]] = levels  # frozen again: the newest now
        elif event.kind == "judged" and event.facts["candidate"] in passed:
            verdicts = passed[event.facts["candidate"]]
            (verdicts.add if event.facts["verdict"] == "pass" else verdicts.discard)(event.facts["level"])
    rejected = decisions.keys() | discarded(events)
    standing = [candidate for candidate in passed if candidate not in rejected]
    return max(reversed(standing), key=lambda candidate: len(passed[candidate]), default=None)


def _final(events: Sequence[Event], chosen: str | None) -> FinalCandidate | None:
    if chosen is None:
        return None
    frozen = next(e for e in reversed(events) if e.kind == "candidate frozen" and e.facts["candidate"] == chosen)
    levels = [Judgement.of(facts) for facts in _final_verdicts(events, chosen)]
    return FinalCandidate(chosen, frozen.facts["lines"], frozen.facts["files"], levels)


def _final_verdicts(events: Sequence[Event], chosen: str | None) -> list[Facts]:
    newest = {e.facts["level"]: e.facts for e in events if e.kind == "judged" and e.facts["candidate"] == chosen}
    return [newest[level] for level in sorted(newest, key=level_order)]


def _judged_by(journal: Journal, events: Sequence[Event], chosen: str | None) -> JudgedBy | None:
    """What the newest verdict on the final candidate was given by."""
    judged = [e.facts for e in events if e.kind == "judged" and e.facts["candidate"] == chosen]
    return described(journal, judged[-1].get("rules")) if judged else None


def _phases(events: Sequence[Event]) -> list[Phase]:
    phases: list[Phase] = []
    counted: set[tuple[str, str]] = set()
    for event in events:
        if event.kind == "phase started":
            phases.append(Phase(event.facts["phase"], event.facts["name"], event.facts["module"]))
        elif phases and event.kind in ("task sent", "candidate frozen"):
            once = (event.kind, event.facts["task"] or f"by hand, event {event.number}")
            if once not in counted:
                phases[-1].tasks += event.kind == "task sent"
                phases[-1].candidates += event.kind == "candidate frozen"
            counted.add(once)
        elif phases and event.kind == "judged":
            phases[-1].verdict = event.facts["verdict"]
    return phases


def _sandbox(events: Sequence[Event]) -> Sandboxes:
    """Every sandbox that was used, for a run may be resumed on another machine; one without is enough for a warning.

    An agent that starts no program (a person, a model that is asked by us) has none.
    """
    starts = [event.facts for event in events if event.kind == "run started"]
    found = {who: [facts.get(f"{who}_sandbox") for facts in starts] for who in ("candidate", "agent")}
    used = {who: list(dict.fromkeys(name for name in names if name is not None)) for who, names in found.items()}
    loose = [who for who, names in used.items() if not UNSANDBOXED.isdisjoint(names)]
    return Sandboxes(**{who: ", ".join(names) or None for who, names in used.items()}, warning=_warning(loose))


def _warning(loose: Sequence[str]) -> str | None:
    if not loose:
        return None
    who = " and ".join({"candidate": "the candidates", "agent": "the agent"}[one] for one in loose)
    return (
        f"UNSANDBOXED: {who} ran with nothing between them and this machine. The verdicts hold only if nobody meant to "
        "deceive the judge."
    )


def _facts(events: Sequence[Event], kind: str, *keys: str) -> list[Facts]:
    return [{key: event.facts[key] for key in keys} for event in events if event.kind == kind]


def _volatile(run: Run, events: Sequence[Event], facts: Facts, chosen: str | None) -> Volatile:
    seconds = {"agent": "task ended", "judge": "judged"}
    return Volatile(
        run=run.id,
        folder=str(run.folder),
        project=facts.get("project"),
        versions=facts.get("versions"),
        started=moment(events[0].time) if events else None,
        ended=moment(events[-1].time) if events else None,
        elapsed_s=events[-1].time - events[0].time if events else None,
        **{f"{who}_s": sum(e.facts["seconds"] for e in events if e.kind == kind) for who, kind in seconds.items()},
        tasks_sent=_facts(events, "task sent", "task", "prompt"),
        tasks_ended=_facts(events, "task ended", "task", "reason", "seconds", "session", "text"),
        throughput=_facts(events, "measured", "candidate", "sps", "device"),
        optimisations=_facts(events, "optimisation", "candidate", "kept", "before", "after", "why"),
        help_asked=_facts(events, "help asked", "sentence", "how"),
        verification=[_level_report(run.journal, verdict) for verdict in _final_verdicts(events, chosen)],
        processor=facts.get("processor"),
    )


def _level_report(journal: Journal, verdict: Facts) -> LevelReport:
    name, content = verdict["report"], None
    if name is not None:
        with contextlib.suppress(ValueError):
            content = json.loads(journal.blob(name))
    return LevelReport(verdict["level"], verdict["seconds"], name, content)
