"""The journal of an MCP session: its verifications are tasks of a run, which `overclock status` and `report` read."""

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

from overclock.processor import processor
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.hygiene.program_hash import program_hash
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.judging.required_levels import levels_up_to
from overclock.recipe.judging.verdict import HYGIENE, Level, Verdict, verdict_of
from overclock.recipe.judging.verdict_history import purpose
from overclock.recipe.loop.loop import PHASES
from overclock.recipe.project.project import Project
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import ending
from overclock.recipe.runs.writing import write_candidate, write_verdict
from overclock.versions import versions

AGENT = "mcp session"
HOW = "Ask a person to look at the failure, then start `overclock mcp` with --run-id of this run."


class Record:
    """Writes what a session does, and counts what it has done; from one thread at a time."""

    def __init__(self, project: Project, run: Run, sandbox: str) -> None:
        self.project, self.journal = project, run.journal
        self._idle_since = time.monotonic()
        self._program_hashes: dict[str, str] = {}  # of candidates, by their hashes
        before = ending(self.journal.events())
        if before is not None and before.facts["outcome"] == "stuck":
            self.journal.append("help given", note="The session was started again.")
        self._rules = store_rules(self.journal, project, run.folder / "scenarios")
        self.journal.append("run started", **_about(project, sandbox), rules=self._rules)

    def verification(self, level: int, folder: Path, frozen: Frozen) -> int:
        """Record that a verification begins; returns its number in the run.

        The time since the last verdict counts as the session's own work; what that cost is not known here.
        """
        number, seconds = len(self.journal.events("task sent")) + 1, time.monotonic() - self._idle_since
        phases = self.journal.events("phase started")
        if not phases or phases[-1].facts["phase"] != level:
            self.journal.append("phase started", phase=level, name=PHASES[level], module=None)
        task = f"{number:03}-verify-level-{level}"
        asked = self.journal.store(f"A session asked over MCP to verify {folder} up to level {level}.".encode())
        self.journal.append(
            "task sent", task=task, purpose="verify", level=level, module=None, iteration=self.used(level) + 1,
            prompt=asked,
        )  # fmt: skip
        self.journal.append(
            "task ended", task=task, ended="finished", reason="The session handed in its candidate.",
            seconds=round(seconds, 2), usage=None, session=None, text=self.journal.store(b""),
        )  # fmt: skip
        self.candidate(frozen, task)
        return number

    def candidate(self, frozen: Frozen, task: str | None = None) -> None:
        """Record a frozen candidate; without a task, only if the journal does not know it."""
        known = {event.facts["candidate"] for event in self.journal.events("candidate frozen")}
        if task is None and frozen.hash in known:
            return
        write_candidate(self.journal, frozen, task)

    def seed(self, frozen: Frozen, level: Level, seed: int) -> None:
        """Record the seed that was drawn for a level."""
        self.journal.append("seeds drawn", candidate=frozen.hash, purpose=purpose(level), seed=seed)

    def verdict(self, frozen: Frozen, verdict: Verdict) -> None:
        """Record the verdict of a level."""
        write_verdict(self.journal, frozen.hash, verdict, rules=self._rules)
        self._idle_since = time.monotonic()

    def failed(self, frozen: Frozen, level: Level) -> Verdict | None:
        """How the same program failed a level before, by the same contract; hygiene reads the text itself."""
        said, files = program_hash(frozen), dict[str, dict[str, str]]()
        found: Verdict | None = None
        for event in self.journal.events():
            facts = event.facts
            if event.kind == "candidate frozen":
                files[facts["candidate"]] = facts["files"]
            elif event.kind == "judged" and facts["verdict"] == "fail" and facts["level"] == level != HYGIENE:
                by_these = facts.get("rules") == self._rules
                found = self._verdict(facts) if by_these and self._meant(facts["candidate"], files) == said else found
        return found

    def _meant(self, candidate: str, files: dict[str, dict[str, str]]) -> str:
        if candidate not in self._program_hashes:
            contents = {path: self.journal.blob(name) for path, name in files[candidate].items()}
            self._program_hashes[candidate] = program_hash(Frozen(candidate, contents))
        return self._program_hashes[candidate]

    def _verdict(self, facts: dict[str, Any]) -> Verdict:
        report = None if facts["report"] is None else json.loads(self.journal.blob(facts["report"]))
        return verdict_of(facts, report)

    def used(self, level: int) -> int:
        """The number of verifications of a level."""
        return sum(event.facts["level"] == level for event in self.journal.events("task sent"))

    @property
    def allowed(self) -> int:
        """The number of allowed verifications of a level, which grows each time that somebody has helped."""
        return self.project.limits.iterations * (1 + len(self.journal.events("help given")))

    def ask(self, level: int, sentence: str) -> None:
        """Record once that a person has to look."""
        if not self._asked():
            self.journal.append("help asked", level=level, sentence=sentence, how=HOW)

    def passed(self, candidate: str) -> list[Level]:
        """The levels that a candidate has passed by the present rules."""
        judged = [event.facts for event in self.journal.events("judged") if event.facts["candidate"] == candidate]
        newest = {facts["level"]: facts["verdict"] for facts in judged if facts.get("rules") == self._rules}
        return [level for level, verdict in newest.items() if verdict == "pass"]

    def end(self) -> None:
        """Record how the session ended: done if its last candidate passed every level of the project."""
        levels, frozen = self.project.judging.levels, self.journal.events("candidate frozen")
        passed = self.passed(frozen[-1].facts["candidate"]) if frozen else []
        if frozen and all(level in passed for level in levels_up_to(self.project, max(levels))):
            outcome, sentence = "done", f"The last candidate holds at levels {', '.join(map(str, levels))}."
        elif self._asked():
            outcome, sentence = "stuck", f"The session used up its verifications. {HOW}"
        else:
            count = len(self.journal.events("task sent"))
            outcome = "stopped"
            sentence = f"The session ended; verifications: {count}. Its last candidate does not hold at every level."
        self.journal.append("run ended", outcome=outcome, sentence=sentence)

    def _asked(self) -> bool:
        kinds = [event.kind for event in self.journal.events() if event.kind in ("help asked", "help given")]
        return kinds[-1:] == ["help asked"]


def _about(project: Project, sandbox: str) -> dict[str, Any]:
    return {
        "project": project.name,
        "reference": project.reference.source,
        "target": project.target,
        "agent": AGENT,
        "budget_dollars": None,  # the session pays for its own model, and nothing of that passes here
        "levels": list(project.judging.levels),
        "limits": dataclasses.asdict(project.limits),
        "versions": versions(),
        "processor": str(processor()),
        "candidate_sandbox": sandbox,
        "agent_sandbox": None,
    }
