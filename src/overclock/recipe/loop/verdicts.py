"""The judge's part of a run's steps: verdicts, the tests that failures leave behind, and speed; each asked for once.

A program has one verdict per level, whatever its comments say, and nobody tries again until chance says yes
(verdict_history.py). It holds as long as what it was given by (judged_by.py).
"""

import dataclasses
import secrets
from pathlib import Path
from typing import Any

from overclock.files import write_whole
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.hygiene.meaning import meaning
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Level, Verdict, verdict_of
from overclock.recipe.judging.verdict_history import attempts, failed_seeds, purpose
from overclock.recipe.loop.diary import Diary
from overclock.recipe.loop.parts import Parts, Stop
from overclock.recipe.runs.writing import write_verdict
from overclock.verify.interaction.scenario import Scenario, format_scenario, load_scenarios
from overclock.verify.sides.process import CouldNotVerifyError

NO_VERDICT = "could not verify"


class Verdicts:
    """What is known about the candidates of one run."""

    def __init__(self, parts: Parts, diary: Diary) -> None:
        self._parts, self._diary = parts, diary
        self._known: dict[tuple[str, Level, str | None], dict[str, Any]] = {}  # facts of verdicts
        self._of_programs: dict[tuple[str, Level, str | None], dict[str, Any]] = {}  # the same by meaning
        self._rules: str | None = None  # by which all of them were given
        self._project, self._today = parts.project, ""
        self._speeds: dict[str, dict[str, float]] = {}
        self._tests: set[str] = set()  # names of those that failures added

    def judge(self, frozen: Frozen, level: Level, module: str | None = None, add_tests: bool = True) -> Verdict:
        """The verdict on a candidate; a seed is drawn for it that nobody knew before."""
        self._forget_outdated()
        key = (frozen.hash, level, module)
        if key in self._known:
            return verdict_of(self._known[key])
        # Hygiene reads the text itself.
        program = (frozen.hash if level == HYGIENE else meaning(frozen), level, module)
        if program in self._of_programs:
            known = self._repeated(frozen, self._of_programs[program])
        elif level == HELD_OUT:
            known = self._held_out(frozen)
        else:
            known = self._drawn(frozen, level, module)
        self._of_programs[program] = self._known[key] = known
        verdict = verdict_of(known)
        if add_tests:
            self.add_tests(verdict)
        return verdict

    def _repeated(self, frozen: Frozen, known: dict[str, Any]) -> dict[str, Any]:
        """What was said of the same program, written down for this text of it."""
        facts = {**known, "candidate": frozen.hash, "seconds": 0.0}
        return self._diary.tell("judged", ("candidate", "level"), **facts)

    def _held_out(self, frozen: Frozen) -> dict[str, Any]:
        """First the episodes that an earlier candidate failed; which of all were different is not told."""
        if self._diary.past.next("judged") is not None:  # an earlier seed decided
            return self._diary.tell("judged", ("candidate", "level"), candidate=frozen.hash, level=HELD_OUT)
        for seed in failed_seeds(self._diary.journal.events()) if self._diary.past.over else ():
            verdict = self._asked(frozen, HELD_OUT, seed, None, 1)
            if not verdict.passed:
                return write_verdict(self._diary.journal, frozen.hash, verdict, rules=self._now()).facts
        return self._drawn(frozen, HELD_OUT, None)

    def _drawn(self, frozen: Frozen, level: Level, module: str | None) -> dict[str, Any]:
        """With a seed that is drawn now."""
        drawn = self._diary.tell(
            "seeds drawn", ("candidate", "purpose"), candidate=frozen.hash, purpose=purpose(level, module),
            seed=secrets.randbits(30),
        )  # fmt: skip
        known = self._diary.past.take("judged", candidate=frozen.hash, level=level)
        if known is not None:
            return known
        attempt = attempts(self._diary.journal.events(), level)
        verdict = self._asked(frozen, level, drawn["seed"], module, attempt)
        return write_verdict(self._diary.journal, frozen.hash, verdict, module, self._now()).facts

    def _asked(self, frozen: Frozen, level: Level, seed: int, module: str | None, attempt: int) -> Verdict:
        try:
            verdict = self._parts.judge.judge(frozen, level, seed, module, attempt)
        except CouldNotVerifyError as error:
            raise Stop("stopped", f"The reference cannot be used: {error}") from error
        if self._now() != self._stored():
            raise Stop("stopped", "The contract or a scenario changed while it was judged; resume, to judge by it.")
        if verdict.verdict == NO_VERDICT:  # not the candidate's fault, and no fact about it
            said = "nothing says why" if verdict.failure is None else verdict.failure.sentence
            raise Stop("stopped", f"Level {level} could not decide: {said}")
        return verdict

    def add_tests(self, verdict: Verdict) -> None:
        """A failure of whole episodes becomes scenarios of level 2, so that it is found earlier the next time."""
        scenarios, journal = self._parts.briefing.scenarios, self._diary.journal
        while (known := self._diary.past.take_if("test added")) is not None:
            write_whole(scenarios / f"{known['name']}.json", journal.blob(known["file"]))
            self._tests.add(known["name"])
        repro = None if verdict.failure is None else verdict.failure.repro
        if repro is None or repro.folder is None:
            return
        if 2 not in self._parts.project.judging.levels or not self._diary.past.over:
            return
        for scenario in repro_scenarios(Path(repro.folder)):
            if scenario.name not in self._tests:
                self._tests.add(scenario.name)
                content = format_scenario(scenario).encode()
                file = journal.store(content)
                journal.append("test added", level=2, name=scenario.name, why=repro.sentence, file=file)
                write_whole(scenarios / f"{scenario.name}.json", content)

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second of a candidate by batch; nothing where it broke down."""
        if frozen.hash not in self._speeds:
            known = self._diary.past.take("measured", candidate=frozen.hash)
            self._speeds[frozen.hash] = (known or self._measured(frozen))["sps"]
        return self._speeds[frozen.hash]

    def race(self, best: Frozen, new: Frozen) -> Race | None:
        """Two candidates timed by turns; None where one of them broke down."""
        known = self._diary.past.take("measured", candidate=new.hash)
        if known is None:
            known = self._raced(best, new)
        self._speeds[new.hash] = known["sps"]
        gains = known.get("gains", ())
        return Race(known["before"], known["sps"], tuple(gains)) if gains else None

    def _measured(self, frozen: Frozen) -> dict[str, Any]:
        try:
            found = self._parts.judge.speed(frozen)
        except CouldNotVerifyError as error:
            self._parts.say(str(error))
            found = {}
        return self._diary.journal.append("measured", candidate=frozen.hash, sps=found, device="cpu").facts

    def _raced(self, best: Frozen, new: Frozen) -> dict[str, Any]:
        facts: dict[str, Any] = {"sps": {}, "before": {}, "gains": []}
        try:
            found = self._parts.judge.race(best, new)
            facts = {"sps": found.after, "before": found.before, "gains": list(found.gains)}
        except CouldNotVerifyError as error:
            self._parts.say(str(error))
        return self._diary.journal.append(
            "measured", candidate=new.hash, device="cpu", against=best.hash, **facts
        ).facts  # fmt: skip

    def forget(self) -> None:
        """Ask for every verdict anew: the contract or the tests may be others now."""
        self._known.clear()
        self._of_programs.clear()

    def _forget_outdated(self) -> None:
        """Ask anew for verdicts by other rules; a run that is gone on with does so where it did before."""
        rules = self._now() if self._diary.past.over else self._diary.past.rules
        if rules == self._rules:
            return
        self._rules = rules
        for known in (self._known, self._of_programs):
            for key in [key for key, facts in known.items() if facts.get("rules") != rules]:
                del known[key]

    def _now(self) -> str:
        """What is judged by: as it was when this process began, or when a specification became a reference."""
        if not self._today or self._project is not self._parts.project:
            self._project, self._today = self._parts.project, self._stored()
        return self._today

    def _stored(self) -> str:
        return store_rules(self._diary.journal, self._parts.project, self._parts.briefing.scenarios)


def repro_scenarios(folder: Path) -> list[Scenario]:
    """The scenarios of a repro, named after it: two failures of the same kind are two scenarios."""
    place = folder / "scenarios"
    found = load_scenarios(str(place)) if place.is_dir() else []
    return [dataclasses.replace(scenario, name=f"{scenario.name}-{folder.name}") for scenario in found]
