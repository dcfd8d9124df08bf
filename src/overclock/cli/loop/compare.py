"""`overclock compare`: one project by several agents, or in several ways."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

import tyro

from overclock.cli import output
from overclock.cli.arguments import ProjectFolder
from overclock.cli.loop.options import RunCommand
from overclock.errors import UsageError
from overclock.results import encode

if TYPE_CHECKING:
    from overclock.recipe.studies.compare import ComparedRun, Comparison


@dataclasses.dataclass(kw_only=True)
class Compare(RunCommand):
    """Run the same project by several agents, or with parts of the recipe switched off, and compare what came of it.

    Ways: full, l3-only (whole episodes only), no-l2 (without scenarios), no-repair (the first failure ends it). Every
    combination is a run of its own with its own budget. What a run calls done is then judged by all levels of the
    project. Rows by scripts and recordings are labelled: they say nothing about a model. Exit code 0: every run was
    carried out, whatever its outcome; 1: one could not start.

    Examples:
      overclock compare my_cartpole --agents claude,codex
      overclock compare my_cartpole --agents claude --ways full,l3-only,no-l2,no-repair --json
    """

    project: ProjectFolder
    """A folder with overclock.toml."""
    agents: str = ""
    """Agents by name, with commas between them; by default the project's own."""
    by: Annotated[str, tyro.conf.arg(name="ways")] = "full"
    """Ways of working, with commas between them."""
    json: bool = False
    """Print one JSON object (schema overclock.compare/1) instead of a table."""

    def run(self) -> int:
        """Run them all and print."""
        from overclock.recipe.project.project import load_project
        from overclock.recipe.studies.compare import compare

        agents, by = _words("--agents", self.agents), _words("--ways", self.by)
        report = compare(load_project(self.project), agents, by, self.run_options())
        if self.json:
            output.emit(encode(report))
        else:
            show(report)
        return 1 if any(row.outcome == "not run" for row in report.rows) else 0


def show(report: "Comparison") -> None:
    """The report as a table for people."""
    columns = ["agent", "way", "outcome", "all levels", "tasks", "repairs", "tests", "caught", "tokens", "cost", "time"]
    output.table(columns, [_cells(row) for row in report.rows], title=f"{report.project}: {report.reference}")
    for row in report.rows:
        if row.outcome != "done":
            print(f"{row.agent}, {row.way}: {row.sentence}")
        elif row.all_levels is not None and row.all_levels.verdict != "pass":
            print(f"{row.agent}, {row.way}, judged by all levels: {row.all_levels.sentence}")
    if not report.models:
        print("No model did any of this work, so no figure here is one of a model.")
    print(f"kept in {report.file}")


def _cells(row: "ComparedRun") -> list[str]:
    from overclock.recipe.runs.words import amount, seconds_words

    agent = row.agent if row.model else f"{row.agent} ({row.by})"
    if row.cost is None or row.caught_by_level is None:  # it did not run
        return [agent, row.way, "not run", *[""] * 8]
    checked, cost = row.all_levels, row.cost
    return [
        agent,
        row.way,
        row.outcome or "",
        "" if checked is None else checked.verdict + (f" ({checked.level})" if checked.level else ""),
        str(row.tasks),
        str(row.repairs),
        f"{row.tests_passed} / {row.tests_total}",
        ", ".join(f"level {level}: {count}" for level, count in row.caught_by_level.items()) or "nothing",
        "not reported" if cost.tokens is None else f"{cost.tokens:,}",
        "not reported" if cost.dollars is None else amount(cost.dollars),
        seconds_words(row.elapsed_s or 0.0),
    ]


def _words(option: str, text: str) -> list[str]:
    """What stands between commas; nothing between them is a slip of the hand, not a wish for what is the default."""
    words = [word.strip() for word in text.split(",")]
    if text and not all(words):
        raise UsageError(f"{option} takes names with commas between them, got '{text}'.")
    return words if text else []
