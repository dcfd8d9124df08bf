"""The closed loop: an agent translates, the judge judges, failures go back, until all holds or somebody must help.

Phases: modules (level 1), integration (2), whole episodes (3, and held-out ones), transfer (4), optimisation. A
candidate must hold at every level up to the one a phase is about; a repair is judged from the bottom again. Every step
is an event of the run's journal (steps.py), so that a killed run goes on without paying twice.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from overclock.recipe.agents.base import Agent, Endpoint
from overclock.recipe.briefing import Briefing
from overclock.recipe.project import ModulePlan, Project
from overclock.recipe.run import Run
from overclock.recipe.steps import Judging, Steps, Stop
from overclock.recipe.verdict import HELD_OUT, HYGIENE, Level, Verdict
from overclock.versions import versions

PHASES = {1: "modules", 2: "integration", 3: "rollout", 4: "transfer", 5: "optimisation"}
IDLE = 3  # repairs in a row that change nothing, before a person is asked
GAIN = 1.05  # what is kept must be faster by more than two measurements of one program differ
BY_HAND = "Change the candidate, a prompt or the contract by hand, then `overclock resume`."
MORE_SEEDS = "Training says neither yes nor no; raise judging.seeds in overclock.toml, then `overclock resume`."


@dataclasses.dataclass(frozen=True)
class Options:
    """What a run may leave out, for comparisons between ways of working."""

    repair: bool = True
    optimise: bool = True


class Loop:
    """One run of one project. `go` works until it ends, and can be called again on a journal that has not."""

    def __init__(
        self,
        project: Project,
        run: Run,
        agent: Agent,
        judge: Judging,
        briefing: Briefing,
        endpoint: Endpoint | None = None,
        options: Options = Options(),
        submitted: bool = False,
        remembered: Mapping[str, object] = MappingProxyType({}),
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """`remembered`: further facts for the journal that a resumed run needs; `submitted` as in `Steps`."""
        self.project, self.run, self.briefing, self.options, self.say = project, run, briefing, options, say
        self._remembered = remembered
        self.steps = Steps(project, run, agent, judge, briefing, endpoint, submitted, say)
        self._repairs = 0
        self._idle = 0
        self._tries: dict[Level, int] = {}
        self._tried: list[str] = []

    def go(self) -> str:
        """Work; returns the outcome: done, stuck, waiting, out of budget or stopped."""
        self.run.journal.append("run started", **self._about())
        try:
            self._translate()
            if self.options.optimise and 3 in self.project.judging.levels:
                self._optimise()
            self.steps.lay_out()
            outcome, sentence = "done", f"{self.project.name} holds at {_levels(self.project.judging.levels)}."
        except Stop as stop:
            outcome, sentence = stop.outcome, stop.sentence
        self.run.journal.append("run ended", outcome=outcome, sentence=sentence)
        self.say(sentence)
        return outcome

    def _about(self) -> dict[str, object]:
        project = self.project
        return {
            "project": project.name,
            "reference": project.reference.source,
            "target": project.target,
            "agent": self.steps.agent.name,
            "budget_dollars": project.limits.dollars,
            "levels": list(project.judging.levels),
            "limits": dataclasses.asdict(project.limits),
            "versions": versions(),
            "sandbox": self.briefing.sandbox,
            "options": dataclasses.asdict(self.options),
            **self._remembered,
        }

    # ---- phases ----

    def _translate(self) -> None:
        levels = self.project.judging.levels
        first = tuple(level for level in levels if level == 1)
        *earlier, last = self.project.modules
        for module in earlier:
            self._phase(1, module)
            self._translate_module(module)
            self._until((HYGIENE, *first), module, module.name)
        self._phase(1, last)
        self._translate_module(last)
        self._until((HYGIENE, *first), last)
        for level in (2, 3, 4):
            if level in levels:
                self._phase(level, None)
                below = [one for one in levels if one <= level]
                self._until((HYGIENE, *below, *((HELD_OUT,) if level >= 3 else ())), None)

    def _phase(self, number: int, module: ModulePlan | None) -> None:
        name = None if module is None else module.name
        self.steps.tell("phase started", ("phase", "module"), phase=number, name=PHASES[number], module=name)
        self.say(f"phase {number}: {PHASES[number]}" + (f", {name}" if name else ""))

    def _translate_module(self, module: ModulePlan) -> None:
        """The first translation of a module."""
        number = self.project.modules.index(module)
        self.steps.task(
            f"translate-{module.name}", "translate", 1, module, number,
            lambda task: self.briefing.translate(task, module),
        )  # fmt: skip

    def _until(self, levels: Sequence[Level], module: ModulePlan | None, part: str | None = None) -> None:
        """Repair until the candidate holds at all these levels; `part`: only what was translated so far."""
        while (verdict := self._first_failure(levels, part)) is not None:
            assert verdict.failure is not None
            level, sentence = verdict.level, verdict.failure["sentence"]
            self.say(f"level {level}: {sentence}")
            if not self.options.repair:
                raise Stop("stuck", f"Level {level} failed, and this run repairs nothing: {sentence}")
            if how := self._stuck(verdict):
                tries = self._tries.get(level, 0)
                self.steps.ask(level, f"Level {level} still fails after {tries} repairs: {sentence}", how)
                self._tries, self._idle = {}, 0
                continue
            before = self.steps.candidate.hash
            self._repair(verdict, module)
            self._idle = 0 if self.steps.candidate.hash != before else self._idle + 1

    def _stuck(self, verdict: Verdict) -> str | None:
        """How a person can help, where the agent cannot go on alone."""
        if verdict.verdict == "inconclusive":
            return MORE_SEEDS
        if self._idle >= IDLE:
            return f"The agent changed nothing {IDLE} times in a row. {BY_HAND}"
        return BY_HAND if self._tries.get(verdict.level, 0) >= self.project.limits.iterations else None

    def _repair(self, verdict: Verdict, module: ModulePlan | None) -> None:
        assert verdict.failure is not None
        level, failure, tried = verdict.level, verdict.failure, tuple(self._tried)
        tries = self._tries[level] = self._tries.get(level, 0) + 1
        self._tried.append(f"level {level}: {failure['sentence']}")
        number, shown = self._repairs, level if isinstance(level, int) else 3
        self._repairs += 1
        self.steps.task(
            f"repair-{number + 1}-level-{level}", "repair", shown, module, number,
            lambda task: self.briefing.repair(task, failure, shown, (tries, self.project.limits.iterations), tried),
        )  # fmt: skip

    def _first_failure(self, levels: Sequence[Level], part: str | None = None) -> Verdict | None:
        for level in levels:
            verdict = self.steps.judge(level, part)
            if not verdict.passed:
                return verdict
        return None

    # ---- faster ----

    def _optimise(self) -> None:
        """Phase 5: keep what is faster and still holds."""
        self._phase(5, None)
        attempts, kept = list[str](), list[str]()
        slow, before = self.steps.candidate, self.steps.speed()
        best = before
        for number in range(self.project.limits.optimisations if before else 0):
            last = self.steps.candidate
            self.steps.task(
                f"optimise-{number + 1}", "optimise", 3, None, number,
                lambda task, best=best: self.briefing.optimise(task, best, attempts),
            )  # fmt: skip
            if self.steps.candidate.hash == last.hash:
                break  # nothing was worth another change
            after, why = self._faster(best)
            if after:
                kept.append(self.steps.candidate.hash)
            attempts.append(f"{'kept' if after else 'taken back'}: {why}")
            self._decide(self.steps.candidate.hash, bool(after), best, after, why)
            best = after or best
            if not after:
                self.steps.go_back(last)
        if kept and 4 in self.project.judging.levels and not (verdict := self.steps.judge(4)).passed:
            for candidate in kept:
                self._decide(candidate, False, before, {}, (verdict.failure or {})["sentence"])
            self.steps.go_back(slow)

    def _faster(self, best: dict[str, float]) -> tuple[dict[str, float], str]:
        """The speed of a change that holds and is faster, and what came of it; no speed where it is not."""
        levels = (HYGIENE, *(level for level in self.project.judging.levels if level <= 3), HELD_OUT)
        failed = self._first_failure(levels)
        if failed is not None:
            return {}, (failed.failure or {})["sentence"]
        after = self.steps.speed()
        if not after:
            return {}, "it could not be timed"
        gain = geomean(after) / geomean(best)
        return after if gain > GAIN else {}, f"{gain:.2f} times as fast"

    def _decide(self, candidate: str, kept: bool, before: dict[str, float], after: dict[str, float], why: str) -> None:
        self.steps.tell("optimisation", ("candidate", "kept"), candidate=candidate, kept=kept, before=before,
                        after=after, why=why)  # fmt: skip


def geomean(sps: dict[str, float]) -> float:
    """One number for the speed at all batches."""
    return math.prod(value ** (1.0 / len(sps)) for value in sps.values())


def _levels(levels: Sequence[int]) -> str:
    return f"level {levels[0]}" if len(levels) == 1 else f"levels {', '.join(map(str, levels))}"
