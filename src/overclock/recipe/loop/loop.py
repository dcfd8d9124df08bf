"""The closed loop: an agent translates, the judge judges, failures go back, until all holds or somebody must help.

Phases: modules (level 1), integration (2), whole episodes (3, and held-out ones), transfer (4), optimisation. A
candidate must hold at every level up to the one a phase is about; a repair is judged from the bottom again. Every step
is an event of the run's journal (steps.py), so that a killed run goes on without paying twice.
"""

import dataclasses
from collections.abc import Sequence

from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.hygiene.meaning import meaning
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.judging.required_levels import levels_to_rank_by, levels_up_to
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HYGIENE, Level, Verdict
from overclock.recipe.loop.parts import Parts, Stop
from overclock.recipe.loop.steps import Steps
from overclock.recipe.loop.tasks import Call
from overclock.recipe.project.project import ModulePlan
from overclock.recipe.runs.words import level_words
from overclock.versions import versions

PHASES = {1: "modules", 2: "integration", 3: "rollout", 4: "transfer", 5: "optimisation"}
IDLE = 3  # repairs in a row that change nothing, before a person is asked
BY_HAND = "Change the candidate, a prompt or the contract by hand, then `overclock resume`."
MORE_SEEDS = "Training says neither yes nor no; raise judging.seeds in overclock.toml, then `overclock resume`."


class Loop:
    """One run of one project. `go` works until it ends, and can be called again on a journal that has not."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.steps = parts, Steps(parts)
        self._repairs = 0
        self._idle = 0
        self._tries: dict[Level, int] = {}
        self._tried: list[str] = []

    def go(self) -> str:
        """Work; returns the outcome: done, stuck, waiting, out of budget or stopped."""
        journal = self.parts.run.journal
        journal.append("run started", **self._about())
        try:
            self._translate()
            if self.parts.options.optimise and 3 in self.parts.project.judging.levels:
                self._optimise()
            # Costs nothing but where verdicts are older than what is judged by now.
            self._until(max(self.parts.project.judging.levels), None)
            self.steps.lay_out()
            project = self.parts.project
            outcome, sentence = "done", f"{project.name} holds at {_levels(project.judging.levels)}."
        except Stop as stop:
            outcome, sentence = stop.outcome, stop.sentence
        journal.append("run ended", outcome=outcome, sentence=sentence)
        return outcome

    def say(self, sentence: str) -> None:
        """What goes on, for whoever watches; not once more what a journal tells."""
        if not self.steps.replaying:
            self.parts.say(sentence)

    def _about(self) -> dict[str, object]:
        project = self.parts.project
        return {
            "project": project.name,
            "reference": project.reference.source,
            "target": project.target,
            "agent": self.parts.agent,
            "candidates": len(self.parts.agents),
            "budget_dollars": project.limits.dollars,
            "levels": list(project.judging.levels),
            "limits": dataclasses.asdict(project.limits),
            "versions": versions(),
            "options": dataclasses.asdict(self.parts.options),
            "rules": store_rules(self.parts.run.journal, project, self.parts.briefing.scenarios),
            **self.parts.remembered,
        }

    # ---- phases ----

    def _translate(self) -> None:
        *earlier, last = self.parts.project.modules
        for module in earlier:
            self._phase(1, module)
            self._translate_module(module, module.name)
            self._until(1, module, module.name)
        self._phase(1, last)
        self._translate_module(last)
        self._until(1, last)
        for level in (2, 3, 4):
            if level in self.parts.project.judging.levels:
                self._phase(level, None)
                self._until(level, None)

    def _phase(self, number: int, module: ModulePlan | None) -> None:
        name = None if module is None else module.name
        self.say(f"phase {number}: {PHASES[number]}" + (f", {name}" if name else ""))
        self.steps.tell("phase started", ("phase", "module"), phase=number, name=PHASES[number], module=name)

    def _translate_module(self, module: ModulePlan, part: str | None = None) -> None:
        """The first translation of a module."""
        self.steps.task(Call(
            f"translate-{module.name}", "translate", 1, module, self.parts.project.modules.index(module),
            lambda task: self.parts.briefing.translate(task, module), self._ranked_by(1, part), part,
        ))  # fmt: skip

    def _until(self, up_to: int, module: ModulePlan | None, part: str | None = None) -> None:
        """Repair until the candidate holds up to this level; `part`: only what was translated so far."""
        while (verdict := self._first_failure(up_to, part)) is not None:
            assert verdict.failure is not None
            level, sentence = verdict.level, verdict.failure.sentence
            if not self.parts.options.repair:
                raise Stop("stuck", f"Level {level} failed, and this run repairs nothing: {sentence}")
            if how := self._stuck(verdict):
                tries = self._tries.get(level, 0)
                self.steps.ask(level, f"Level {level} still fails after {tries} repairs: {sentence}", how)
                self._tries, self._idle = {}, 0
                continue
            before = self.steps.candidate
            self._repair(verdict, module, self._ranked_by(up_to, part), part)
            changed = _changed(before, self.steps.candidate, level)
            self._idle = 0 if changed else self._idle + 1

    def _ranked_by(self, up_to: int, part: str | None = None) -> list[Level]:
        """What decides between candidates that are made side by side (phase 0 has references, which have no levels)."""
        project = self.parts.project
        return levels_up_to(project, up_to) if part or not up_to else levels_to_rank_by(project, up_to)

    def _stuck(self, verdict: Verdict) -> str | None:
        """How a person can help, where the agent cannot go on alone."""
        if verdict.verdict == "inconclusive":
            return MORE_SEEDS
        if self._idle >= IDLE:
            return f"The agent changed nothing {IDLE} times in a row. {BY_HAND}"
        return BY_HAND if self._tries.get(verdict.level, 0) >= self.parts.project.limits.iterations else None

    def _repair(
        self, verdict: Verdict, module: ModulePlan | None, ranked_by: Sequence[Level], part: str | None
    ) -> None:
        assert verdict.failure is not None
        level, failure, tried = verdict.level, verdict.failure, tuple(self._tried)
        tries = self._tries[level] = self._tries.get(level, 0) + 1
        self._tried.append(f"level {level}: {failure.sentence}")
        number, shown = self._repairs, level if isinstance(level, int) else 3
        self._repairs += 1
        counted = (tries, self.parts.project.limits.iterations)
        self.steps.task(Call(
            f"repair-{number + 1}-level-{level}", "repair", shown, module, number,
            lambda task: self.parts.briefing.repair(task, failure, shown, counted, tried), ranked_by, part,
        ))  # fmt: skip

    def _first_failure(self, up_to: int, part: str | None = None) -> Verdict | None:
        for level in levels_up_to(self.parts.project, up_to):
            known = self.steps.replaying
            verdict = self.steps.judge(level, part)
            if not verdict.passed:
                if not known and verdict.failure is not None:
                    self.say(f"{level_words(level)}: {verdict.failure.sentence}")
                return verdict
        return None

    # ---- faster ----

    def _optimise(self) -> None:
        """Phase 5: keep what is faster and still holds."""
        self.say(f"It holds at {_levels(self.parts.project.judging.levels)}; what follows only makes it faster.")
        self._phase(5, None)
        attempts, kept = list[str](), list[str]()
        slow, before = self.steps.candidate, self.steps.speed()
        best = before
        for number in range(self.parts.project.limits.optimisations if before else 0):
            last = self.steps.candidate
            self.steps.task(Call(
                f"optimise-{number + 1}", "optimise", 3, None, number,
                lambda task, best=best: self.parts.briefing.optimise(task, best, attempts), self._ranked_by(3),
            ))  # fmt: skip
            if meaning(self.steps.candidate) == meaning(last):
                self.steps.go_back(last)
                break  # nothing was worth another change
            race, why = self._faster(last)
            won = race is not None and race.won
            if won:
                kept.append(self.steps.candidate.hash)
            attempts.append(f"{'kept' if won else 'taken back'}: {why}")
            after = race.after if race is not None else {}
            self._decide(self.steps.candidate.hash, won, race.before if race is not None else best, after, why)
            if won:
                best = after
            else:
                self.steps.go_back(last)
        if kept and 4 in self.parts.project.judging.levels and not (verdict := self.steps.judge(4)).passed:
            for candidate in kept:
                self._decide(candidate, False, before, {}, _sentence(verdict))
            self.steps.go_back(slow)

    def _faster(self, best: Frozen) -> tuple[Race | None, str]:
        """How a change that holds compares with the best so far, and what came of it."""
        failed = self._first_failure(3)
        if failed is not None:
            return None, _sentence(failed)
        race = self.steps.race(best)
        if race is None:
            return None, "it could not be timed"
        if race.won:
            return race, f"{race.gain:.2f} times as fast"
        pairs = f"{min(race.gains):.2f} to {max(race.gains):.2f} times as fast in {len(race.gains)} measurements"
        return race, f"not faster every time it was measured beside the one before ({pairs})"

    def _decide(self, candidate: str, kept: bool, before: dict[str, float], after: dict[str, float], why: str) -> None:
        self.steps.tell("optimisation", ("candidate", "kept"), candidate=candidate, kept=kept, before=before,
                        after=after, why=why)  # fmt: skip


def _changed(before: Frozen, after: Frozen, level: Level) -> bool:
    """Whether there is anything new to judge; comments count where the text itself is read."""
    return before.hash != after.hash and (level == HYGIENE or meaning(before) != meaning(after))


def _levels(levels: Sequence[int]) -> str:
    return f"level {levels[0]}" if len(levels) == 1 else f"levels {', '.join(map(str, levels))}"


def _sentence(failed: Verdict) -> str:
    assert failed.failure is not None  # a verdict that did not pass says why
    return failed.failure.sentence
