"""The tables of a run's report, shared by its page, its Markdown file and the terminal."""

from typing import Any

from overclock.recipe.judging.verdict import FunctionsLevel, kept_level
from overclock.recipe.runs.cost import Cost
from overclock.recipe.runs.iterations import Caught
from overclock.recipe.runs.report import RunReport
from overclock.recipe.runs.status import short
from overclock.recipe.runs.words import amount, counted, dollars_words, level_words, tokens_words
from overclock.report.table import Kind, Table, tolerance_text
from overclock.report.walk import seen_text
from overclock.verify.tolerance import Tolerance as Allowed


def iterations_table(report: RunReport) -> Table:
    """A row per task; tokens and dollars only where a model was asked."""
    asked = not report.cost.nothing_used
    rows = [
        [
            row.task or "-", row.purpose, row.module or "-", row.ended or "-",
            "-" if row.candidate is None else short(row.candidate),
            "-" if row.level_judged is None else level_words(row.level_judged), row.verdict or "-",
            _tests(row.tests_passed, row.tests_total),
            *([_tokens(row.cost), _dollars(row.cost)] if asked else []),
            row.failure.sentence if row.failure else "",
        ]
        for row in report.iterations
    ]  # fmt: skip
    columns: dict[str, Kind] = {
        "task": "text", "purpose": "text", "module": "text", "agent": "text", "candidate": "text", "judged at": "text",
        "verdict": "verdict", "tests": "number", **_used(asked), "failure": "words",
    }  # fmt: skip
    return Table(columns, rows)


def _used(asked: bool) -> dict[str, Kind]:
    return {"tokens": "number", "dollars": "number"} if asked else {}


def choices_table(report: RunReport) -> Table:
    """Which of several candidates was kept each time."""
    rows = [[one.task, f"{one.number} of {one.of}", short(one.candidate), one.why] for one in report.choices]
    return Table({"task": "text", "kept": "text", "candidate": "text", "why": "words"}, rows)


def caught_table(report: RunReport) -> Table:
    """A row per failure that a level found."""
    rows = [
        [
            level_words(entry.level), entry.sentence, entry.module or "-", entry.field or "-",
            "-" if entry.step is None else str(entry.step), entry.task or "-", _repair(entry),
        ]
        for entry in report.caught
    ]  # fmt: skip
    columns: dict[str, Kind] = {
        "level": "text", "what it caught": "words", "module": "text", "field": "text", "step": "number",
        "made by": "text", "repaired by": "text",
    }  # fmt: skip
    return Table(columns, rows)


def final_table(report: RunReport) -> Table:
    """The verdicts on the final candidate, with what the verifier saw."""
    entries = [] if report.final is None else report.final.levels
    seen = {entry.level: seen_words(entry.report) for entry in report.volatile.verification}
    rows = [[level_words(e.level), e.verdict, _tests(e.passed, e.total), seen[e.level]] for e in entries]
    return Table({"level": "text", "verdict": "verdict", "tests": "number", "what was seen": "words"}, rows)


def tolerances_table(report: RunReport) -> Table:
    """How far the two sides may be apart; what is not listed must be equal."""
    rows = [
        [
            row.precision,
            row.of,
            tolerance_text(Allowed(row.per_step, row.per_step_relative, row.whole)),
            tolerance_text(Allowed(row.free_running, row.free_running_relative, row.whole)),
            row.reason,
        ]
        for row in (report.judged_by.tolerances if report.judged_by else ())
    ]
    columns: dict[str, Kind] = {
        "precision": "text", "of": "text", "per step": "number", "free running": "number", "why": "words",
    }  # fmt: skip
    return Table(columns, rows)


def rooms_table(report: RunReport) -> Table:
    """How many items lists have room for, and why."""
    rows = [
        [room.list, f"{room.items:,}", "follows" if room.follows else "assumed", room.why]
        for room in (report.judged_by.rooms if report.judged_by else ())
    ]
    return Table({"list": "code", "room for": "number", "bound": "text", "why": "words"}, rows)


def phases_table(report: RunReport) -> Table:
    """A row per phase that was started."""
    rows = [
        [str(p.phase), p.name, p.module or "-", str(p.tasks), str(p.candidates), p.verdict or "-"]
        for p in report.phases
    ]
    columns: dict[str, Kind] = {
        "phase": "text", "name": "text", "module": "text", "tasks": "number", "candidates": "number",
        "last verdict": "verdict",
    }  # fmt: skip
    return Table(columns, rows)


def added_table(report: RunReport) -> Table:
    """The tests that failures left behind."""
    rows = [[level_words(test["level"]), test["name"], test["why"]] for test in report.tests_added]
    return Table({"level": "text", "test": "code", "why": "words"}, rows)


def throughput_table(report: RunReport) -> Table:
    """Steps per second of every candidate that was measured."""
    rows = [
        [short(entry["candidate"]), entry["device"], f"{int(batch):,}", f"{sps:,.0f}"]
        for entry in report.volatile.throughput
        for batch, sps in entry["sps"].items()
    ]
    columns: dict[str, Kind] = {"candidate": "text", "device": "text", "batch": "number", "steps per second": "number"}
    return Table(columns, rows)


def _tests(passed: int | None, total: int | None) -> str:
    return "-" if passed is None or total is None else f"{passed:,} / {total:,}"


def seen_words(report: Any) -> str:
    """What a level saw, from its report as the journal keeps it; hygiene and held-out episodes leave none."""
    found = kept_level(report)
    if found is None:
        return ""
    if isinstance(found, FunctionsLevel):  # of a module that others build on, before there is an environment
        return f"{counted(len(found.modules), 'function')} of one module"
    return seen_text(found)


def _repair(entry: Caught) -> str:
    found = entry.repaired_by
    if found is None:
        return "not kept" if entry.kept is False else "nobody yet"
    return found.task or short(found.candidate or "")


def _tokens(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    return tokens_words(cost) if cost.tokens is None else f"{cost.tokens:,}"


def _dollars(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    return dollars_words(cost) if cost.dollars is None else amount(cost.dollars)
