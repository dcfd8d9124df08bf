"""Events that are written by the loop and by MCP sessions alike."""

import json

from overclock.files import finite
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.verdict import Verdict
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.vocabulary import Event
from overclock.results import encode

COUNTED = (".py", ".rs")  # files whose lines are a candidate's


def write_candidate(journal: Journal, frozen: Frozen, task: str | None) -> None:
    """A frozen candidate with all its files; no task: nobody was asked for it."""
    lines = sum(content.count(b"\n") for path, content in frozen.files.items() if path.endswith(COUNTED))
    files = {path: journal.store(content) for path, content in frozen.files.items()}
    journal.append("candidate frozen", candidate=frozen.hash, files=files, task=task, lines=lines)


def write_verdict(
    journal: Journal, candidate: str, verdict: Verdict, module: str | None = None, rules: str | None = None
) -> Event:
    """What a level said about a candidate, or about one module of it; `rules` names what it judged by."""
    report = None
    if verdict.report is not None:
        report = journal.store(json.dumps(finite(encode(verdict.report)), sort_keys=True).encode())
    return journal.append(
        "judged", candidate=candidate, level=verdict.level, verdict=verdict.verdict, seconds=verdict.seconds,
        tests_passed=verdict.tests_passed, tests_total=verdict.tests_total, failure=encode(verdict.failure),
        report=report, module=module, rules=rules,
    )  # fmt: skip
