"""The closed loop: an agent translates, the judge judges, failures go back, until all holds or somebody must help.

Phases: modules (level 1), integration (2), whole episodes (3, and held-out ones), transfer (4), optimisation. A
candidate must hold at every level up to the one a phase is about; a repair is judged from the bottom again. Every step
is an event of the run's journal (runs/session.py), so that a killed run goes on without paying twice.
"""

import dataclasses
from collections.abc import Iterator, Sequence

from overclock.processor import processor
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.hygiene.program_hash import program_hash
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.judging.required_levels import levels_to_rank_by, levels_up_to
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HYGIENE, Level, Verdict
from overclock.recipe.loop.context import RunContext, Stop
from overclock.recipe.loop.side_by_side import SideBySide
from overclock.recipe.loop.tasks import TaskRequest, Tasks
from overclock.recipe.loop.verdicts import Verdicts
from overclock.recipe.project.project import ModulePlan
from overclock.recipe.runs.session import JournalSession
from overclock.recipe.runs.words import level_words
from overclock.versions import versions

PHASES = {1: "modules", 2: "integration", 3: "rollout", 4: "transfer", 5: "optimisation"}
UNREACHED = (
    "Let the reference's rules be reached (a scenario, a state to begin in), or excuse each branch in contract.toml "
    "([[unreached]], with a reason), then `overclock resume`."
)
IDLE = 3  # repairs in a row that change nothing, before a person is asked
BY_HAND = "Change the candidate, a prompt or the contract by hand, then `overclock resume`."
MORE_SEEDS = "Training says neither yes nor no; raise judging.seeds in overclock.toml, then `overclock resume`."


@dataclasses.dataclass(frozen=True)
class Goal:
    """The candidate must hold up to a level; a repair is about `module`, where there is one.

    `part`: only this module is judged, which was translated before the environment.
    """

    up_to: int
    module: ModulePlan | None = None
    part: str | None = None


class Loop:
    """One run of one project. `go` works until it ends, and can be called again on a journal that has not ended."""

    def __init__(self, context: RunContext) -> None:
        self.context, self.session = context, JournalSession(context.run)
        self.tasks, self.verdicts = Tasks(context, self.session), Verdicts(context, self.session)
        self._side_by_side = SideBySide(context, self.session, self.tasks, self.verdicts)
        self._candidate: Frozen | None = None
        self._sent = 0  # tasks
        self._repairs = 0
        self._idle = 0
        self._tries: dict[Level, int] = {}
        self._tried: list[str] = []

    def go(self) -> str:
        """Work; returns the outcome: done, stuck, inconclusive, waiting, out of budget or stopped."""
        journal = self.context.run.journal
        journal.append("run started", **self._about())
        try:
            for goal in self.goals():
                while (failed := self._failure(goal)) is not None:
                    self._improve(failed, goal)
            self.tasks.lay_out(self._candidate)
            project = self.context.project
            outcome, sentence = "done", f"{project.name} holds at {_levels(project.judging.levels)}."
        except Stop as stop:
            outcome, sentence = stop.outcome, stop.sentence
        journal.append("run ended", outcome=outcome, sentence=sentence)
        return outcome

    def goals(self) -> Iterator[Goal]:
        """The phases: each does its work and yields what must hold before the next one begins."""
        project, steps = self.context.project, self.context.options.steps
        *earlier, last = project.modules
        for module in earlier:
            self.begin_phase(1, module)
            self.translate_module(module, module.name)
            yield Goal(1, module, module.name)
        self.begin_phase(1, last)
        self.translate_module(last)
        yield Goal(1, last)
        for level in (2, 3, 4):
            if level in project.judging.levels:
                self.begin_phase(level)
                yield Goal(level)
        if steps.optimise and 3 in project.judging.levels:
            self._optimise()
        # Costs nothing unless verdicts are older than the rules that candidates are judged by now.
        yield Goal(max(project.judging.levels))

    @property
    def candidate(self) -> Frozen:
        """What the last task left, or what was put in its place."""
        assert self._candidate is not None, "no task has ended yet"
        return self._candidate

    def say(self, sentence: str) -> None:
        """Tell whoever watches what goes on; not once more what a journal tells."""
        if not self.session.replaying:
            self.context.options.say(sentence)

    def _about(self) -> dict[str, object]:
        project = self.context.project
        return {
            "project": project.name,
            "reference": project.reference.source,
            "target": project.target,
            "agent": self.context.agent,
            "candidates": len(self.context.agents),
            "budget_dollars": project.limits.dollars,
            "levels": list(project.judging.levels),
            "limits": dataclasses.asdict(project.limits),
            "versions": versions(),
            "processor": str(processor()),
            "options": dataclasses.asdict(self.context.options.steps),
            "rules": store_rules(self.context.run.journal, project, self.context.briefing.scenarios),
            **self.context.remembered,
        }

    # ---- steps, each an event of the journal: done once, and taken from the journal when a run is resumed ----

    def begin_phase(self, number: int, module: ModulePlan | None = None) -> None:
        """Write down that a phase begins."""
        name = None if module is None else module.name
        self.say(f"phase {number}: {PHASES[number]}" + (f", {name}" if name else ""))
        self.session.record("phase started", ("phase", "module"), phase=number, name=PHASES[number], module=name)

    def translate_module(self, module: ModulePlan, part: str | None = None) -> None:
        """Ask for the first translation of a module."""
        self.send(TaskRequest(
            f"translate-{module.name}", "translate", 1, module, self.context.project.modules.index(module),
            lambda task: self.context.briefing.translate(task, module), self.ranked_by(1, part), part,
        ))  # fmt: skip

    def send(self, request: TaskRequest) -> None:
        """One task for the agent, and the candidate that comes of it: the best, where several are made side by side."""
        self._sent += 1
        task, count = f"{self._sent:03}-{request.name}", self.tasks.candidates()
        if count == 1:
            self._candidate = self.tasks.alone(task, request, self._candidate)
        else:
            self._candidate = self._side_by_side.best(task, request, count, self._candidate)

    def go_on_with(self, candidate: Frozen) -> None:
        """Put another candidate in the place of what the last task left."""
        self._candidate = candidate

    def ask(self, level: Level, sentence: str, how: str, outcome: str = "stuck") -> None:
        """Stop for help; returns where it was given. All verdicts are then asked for anew: much may have changed."""
        helped = self.session.take_if("help given")
        if helped is None:
            self.session.journal.append("help asked", level=level, sentence=sentence, how=how)
            raise Stop(outcome, f"{sentence} {how}")
        self.verdicts.forget()
        if helped.get("changed"):
            self._candidate = self.session.freeze(None)

    # ---- repairs ----

    def _failure(self, goal: Goal) -> Verdict | None:
        """The first verdict that is in the way of a goal."""
        replaying = self.session.replaying
        for verdict in self.verdicts.climb(self.candidate, levels_up_to(self.context.project, goal.up_to), goal.part):
            if not verdict.passed:
                if not replaying and verdict.failure is not None:
                    self.say(f"{level_words(verdict.level)}: {verdict.failure.sentence}")
                return verdict
            replaying = self.session.replaying
        return None

    def _improve(self, failed: Verdict, goal: Goal) -> None:
        """Let the agent repair what failed, or stop for a person's help."""
        assert failed.failure is not None
        level, sentence = failed.level, failed.failure.sentence
        if failed.verdict == "inconclusive":
            said = " ".join(failed.failure.sentences)
            how = MORE_SEEDS if level == 4 else UNREACHED
            self.ask(level, f"Level {level} is inconclusive: {said}", how, failed.verdict)
            return
        if not self.context.options.steps.repair:
            raise Stop("stuck", f"Level {level} failed, and this run repairs nothing: {sentence}")
        if how := self._stuck(failed):
            self.ask(level, f"Level {level} still fails after {self._tries.get(level, 0)} repairs: {sentence}", how)
            self._tries, self._idle = {}, 0
            return
        before = self.candidate
        self._repair(failed, goal)
        self._idle = 0 if _changed(before, self.candidate, level) else self._idle + 1

    def ranked_by(self, up_to: int, part: str | None = None) -> list[Level]:
        """What decides between candidates that are made side by side (phase 0 has references, which have no levels)."""
        project = self.context.project
        return levels_up_to(project, up_to) if part or not up_to else levels_to_rank_by(project, up_to)

    def _stuck(self, verdict: Verdict) -> str | None:
        """How a person can help, where the agent cannot go on alone."""
        if self._idle >= IDLE:
            why = f" ({said.rstrip('. ')})" if (said := self.tasks.trouble()) else ""
            return f"The agent changed nothing {IDLE} times in a row{why}. {BY_HAND}"
        return BY_HAND if self._tries.get(verdict.level, 0) >= self.context.project.limits.iterations else None

    def _repair(self, failed: Verdict, goal: Goal) -> None:
        level, failure, tried = failed.level, failed.failure, tuple(self._tried)
        assert failure is not None
        tries = self._tries[level] = self._tries.get(level, 0) + 1
        self._tried.append(f"level {level}: {failure.sentence}")
        number, shown = self._repairs, level if isinstance(level, int) else 3
        self._repairs += 1
        counted = (tries, self.context.project.limits.iterations)
        self.send(TaskRequest(
            f"repair-{number + 1}-level-{level}", "repair", shown, goal.module, number,
            lambda task: self.context.briefing.repair(task, failure, shown, counted, tried),
            self.ranked_by(goal.up_to, goal.part), goal.part,
        ))  # fmt: skip

    # ---- faster ----

    def _optimise(self) -> None:
        """Phase 5: keep what is faster and still holds."""
        self.say(f"It holds at {_levels(self.context.project.judging.levels)}; what follows only makes it faster.")
        self.begin_phase(5)
        attempts, kept = list[str](), list[str]()
        slow, before = self.candidate, self.verdicts.speed(self.candidate)
        best = before
        for number in range(self.context.project.limits.optimisations if before else 0):
            last = self.candidate
            self.send(TaskRequest(
                f"optimise-{number + 1}", "optimise", 3, None, number,
                lambda task, best=best: self.context.briefing.optimise(task, best, attempts), self.ranked_by(3),
            ))  # fmt: skip
            if program_hash(self.candidate) == program_hash(last):
                self.go_on_with(last)
                break  # nothing was worth another change
            race, why = self._faster(last)
            won = race is not None and race.won
            if won:
                kept.append(self.candidate.hash)
            attempts.append(f"{'kept' if won else 'taken back'}: {why}")
            after = race.after if race is not None else {}
            self._decide(self.candidate.hash, won, race.before if race is not None else best, after, why)
            if won:
                best = after
            else:
                self.go_on_with(last)
        if kept and 4 in self.context.project.judging.levels:
            (verdict,) = self.verdicts.climb(self.candidate, [4])
            for candidate in () if verdict.passed else kept:
                self._decide(candidate, False, before, {}, _sentence(verdict))
            if not verdict.passed:
                self.go_on_with(slow)

    def _faster(self, best: Frozen) -> tuple[Race | None, str]:
        """How a change that holds compares with the best so far, and what came of it."""
        failed = self._failure(Goal(3))
        if failed is not None:
            return None, _sentence(failed)
        race = self.verdicts.race(best, self.candidate)
        if race is None:
            return None, "it could not be timed"
        if race.won:
            return race, f"{race.gain:.2f} times as fast"
        pairs = f"{min(race.gains):.2f} to {max(race.gains):.2f} times as fast in {len(race.gains)} measurements"
        return race, f"not faster every time it was measured beside the one before ({pairs})"

    def _decide(self, candidate: str, kept: bool, before: dict[str, float], after: dict[str, float], why: str) -> None:
        self.session.record("optimisation", ("candidate", "kept"), candidate=candidate, kept=kept, before=before,
                        after=after, why=why)  # fmt: skip


def _changed(before: Frozen, after: Frozen, level: Level) -> bool:
    """Whether there is anything new to judge; comments count where the text itself is read."""
    return before.hash != after.hash and (level == HYGIENE or program_hash(before) != program_hash(after))


def _levels(levels: Sequence[int]) -> str:
    return f"level {levels[0]}" if len(levels) == 1 else f"levels {', '.join(map(str, levels))}"


def _sentence(failed: Verdict) -> str:
    assert failed.failure is not None  # a verdict that did not pass says why
    return failed.failure.sentence
