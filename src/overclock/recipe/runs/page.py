"""A run's report as three files that say the same: report.html, report.md, report.json."""

import json
from pathlib import Path

from overclock.errors import MissingError
from overclock.files import finite, write_whole
from overclock.recipe.judging.verdict import kept_level
from overclock.recipe.runs.curve import curve_picture
from overclock.recipe.runs.iterations import Iteration
from overclock.recipe.runs.report import RunReport, Volatile
from overclock.recipe.runs.status import short
from overclock.recipe.runs.tables import (
    added_table,
    caught_table,
    choices_table,
    final_table,
    iterations_table,
    phases_table,
    rooms_table,
    throughput_table,
    tolerances_table,
)  # fmt: skip
from overclock.recipe.runs.words import (
    agent_words,
    counted,
    dollars_words,
    level_words,
    sandbox_words,
    seconds_words,
    tokens_words,
)  # fmt: skip
from overclock.report.table import tone
from overclock.results import encode
from overclock.verify.rollout.result import RolloutLevel

DIFF_LINES = 300  # of one diff on the page; report.json has all of it

FINAL = "The final candidate"


def write_run_report(folder: Path, report: RunReport) -> Path:
    """Write the three files into a run's folder and return the page; all are built before the first is written."""
    numbers = json.dumps(finite(encode(report)), indent=2, allow_nan=False) + "\n"
    files = {"report.md": markdown(report), "report.json": numbers, "report.html": html(report)}
    for name, text in files.items():
        write_whole(folder / name, text.encode())
    return folder / "report.html"


def html(report: RunReport) -> str:
    """The page: everything inline, nothing fetched. Its style and small pieces are those of the verification page."""
    try:
        import jinja2
    except ImportError as error:
        raise MissingError("The page needs jinja2; install it with `pip install 'overclock[report]'`.") from error
    loader = jinja2.ChoiceLoader(
        [jinja2.PackageLoader("overclock.recipe.runs"), jinja2.PackageLoader("overclock.report")]
    )
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["tone"] = tone
    environment.filters["short"] = short
    return environment.get_template("run.html").render(
        report=report, outcome=report.outcome or "not ended", tone=_outcome_tone(report), sentences=summary(report),
        iterations=iterations_table(report), choices=choices_table(report), caught=caught_table(report),
        curve=None if report.cost.nothing_used else curve_picture(report.curve), final=final_table(report),
        about_walk=about_walk(report), tolerances=tolerances_table(report), rooms=rooms_table(report),
        phases=phases_table(report),
        added=added_table(report), throughput=throughput_table(report), facts=_facts(report),
        changes=[_change(row) for row in _changed(report)],
    )  # fmt: skip


def markdown(report: RunReport) -> str:
    """The same facts for a pull request."""
    parts = [f"# {report.project}: {report.outcome or 'not ended'}\n", " ".join(summary(report)) + "\n"]
    if report.sandbox.warning:
        parts.append(f"**{report.sandbox.warning}**\n")
    sections = {
        "Iterations": iterations_table(report),
        "Made side by side": choices_table(report),
        "What each level caught": caught_table(report),
        FINAL: final_table(report),
        "Tolerances": tolerances_table(report),
        "Room of lists": rooms_table(report),
        "Tests added": added_table(report),
        "Throughput": throughput_table(report),
    }
    for title, table in sections.items():
        parts += [f"## {title}\n", table.markdown()] if table.rows else []
        if title == FINAL and (notes := about_walk(report)):
            parts.append(f"{notes}\n")
    return "\n".join(parts)


def summary(report: RunReport) -> list[str]:
    """The whole run in a few sentences."""
    sentences = [report.sentence or "The run has not ended."]
    tasks = sum(row.task is not None for row in report.iterations)
    levels = ", ".join(f"{level_words(_level(k))} caught {n}" for k, n in report.caught_by_level.items())
    sentences.append(f"{counted(tasks, 'task')}; {levels or 'no level caught anything'}.")
    if not report.cost.nothing_used:
        sentences.append(f"Tokens: {tokens_words(report.cost)}; cost: {_cost(report)}.")
    held = sandbox_words(report.sandbox)
    sentences.append("; ".join(f"{who}'s sandbox: {text}" for who, text in held.items()) + ".")
    return sentences


def about_walk(report: RunReport) -> str:
    """What holds of level 3's walk over every state, where there was one; the final table says what it saw."""
    found = [kept_level(entry.report) for entry in report.volatile.verification if entry.level == 3]
    walk = found[0].exhaustive if found and isinstance(found[0], RolloutLevel) else None
    notes = [] if walk is None else walk.notes
    return f"About the walk over every state: {'; '.join(notes)}." if notes else ""


def _facts(report: RunReport) -> list[tuple[str, str]]:
    volatile = report.volatile
    pairs = [
        ("reference", report.reference),
        ("target", report.target),
        ("agent", agent_words(report)),
        *((f"{who}'s sandbox", text) for who, text in sandbox_words(report.sandbox).items()),
        ("tokens", tokens_words(report.cost)),
        ("cost", _cost(report)),
        ("time", None if volatile.elapsed_s is None else _time(volatile)),
        ("started", volatile.started),
        ("versions", ", ".join(f"{name} {version}" for name, version in (volatile.versions or {}).items())),
        ("processor", volatile.processor),
    ]
    return [(name, str(text)) for name, text in pairs if text]


def _time(volatile: Volatile) -> str:
    parts = f"agent {seconds_words(volatile.agent_s)}, verifier {seconds_words(volatile.judge_s)}"
    return f"{seconds_words(volatile.elapsed_s or 0.0)} ({parts})"


def _changed(report: RunReport) -> list[Iteration]:
    return [row for row in report.iterations if row.diff is not None]


def _change(row: Iteration) -> dict[str, object]:
    """A diff with the kind of each line; a long one is cut."""
    kinds = {"+": "ins", "-": "del", "@": "note"}
    lines = (row.diff or "").split("\n")[:-1]
    shown = [("head" if _is_head(line) else kinds.get(line[:1], ""), line) for line in lines[:DIFF_LINES]]
    plus = sum(line.startswith("+") and not _is_head(line) for line in lines)
    minus = sum(line.startswith("-") and not _is_head(line) for line in lines)
    return {"row": row, "lines": shown, "more": len(lines) - len(shown), "plus": plus, "minus": minus}


def _is_head(line: str) -> bool:
    return line.startswith(("--- ", "+++ "))


def _outcome_tone(report: RunReport) -> str:
    return {"done": "good", None: "open"}.get(report.outcome, "bad")


def _cost(report: RunReport) -> str:
    return dollars_words(report.cost, report.budget_dollars)


def _level(key: str) -> int | str:
    return int(key) if key.isdigit() else key
