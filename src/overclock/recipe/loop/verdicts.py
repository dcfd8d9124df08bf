"""Verdicts on a run's candidates, the tests that failures leave behind, and speed; each is asked for once.

A program has one verdict per level, whatever its comments say, and nobody tries again until chance says yes
(verdict_history.py). A verdict holds as long as the rules that it was given by (judged_by.py).
"""

import contextlib
import dataclasses
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from overclock.files import write_whole
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.hygiene.program_hash import program_hash
from overclock.recipe.judging.judged_by import store_rules
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Level, Verdict, verdict_of
from overclock.recipe.judging.verdict_history import attempts, failed_seeds, purpose
from overclock.recipe.loop.context import RunContext, Stop
from overclock.recipe.runs.session import JournalSession
from overclock.recipe.runs.vocabulary import Facts
from overclock.recipe.runs.writing import write_verdict
from overclock.verify.interaction.scenario import Scenario, format_scenario, load_scenarios
from overclock.verify.sides.process import CouldNotVerifyError

NO_VERDICT = "could not verify"
T = TypeVar("T")
Key = tuple[str, Level, str | None]  # a candidate's hash or meaning, the level, the module


class Verdicts:
    """The verdicts of one run, from its journal or from the judge."""

    def __init__(self, context: RunContext, session: JournalSession) -> None:
        self._context, self._session, self._journal = context, session, session.journal
        self._given: dict[Key, Facts] = {}  # by candidate
        self._of_programs: dict[Key, Facts] = {}  # by meaning
        self._rules: str | None = None  # by which all of them were given
        self._project, self._today = context.project, ""
        self._speeds: dict[str, dict[str, float]] = {}
        self._tests: set[str] = set()  # names of those that failures added

    def climb(
        self, frozen: Frozen, levels: Sequence[Level], module: str | None = None, add_tests: bool = True
    ) -> Iterator[Verdict]:
        """The verdicts on a candidate, level by level, up to the first that is no pass.

        `module`: judge only this module, which comes before the environment. `add_tests`: see `add_tests`.
        """
        for level in levels:
            self._forget_outdated()
            key = (frozen.hash, level, module)
            program = (
                frozen.hash if level == HYGIENE else program_hash(frozen),
                level,
                module,
            )  # hygiene reads the text
            given = self._given.get(key)
            facts = given or self._recorded(frozen, level, program)
            for seed, new in self._seeds(frozen, level, module) if facts is None else ():
                facts = self._session.take("judged", candidate=frozen.hash, level=level)
                if facts is None:
                    attempt = attempts(self._journal.events(), level) if new else 1
                    with self._reference_needed():
                        verdict = self._context.judge.judge(frozen, level, seed, module, attempt)
                    self._require_decided(verdict)
                    if new or not verdict.passed:
                        facts = write_verdict(self._journal, frozen.hash, verdict, module, self._now()).facts
                if facts is not None:
                    break
            assert facts is not None, "the last seed is a new one, whose verdict counts"
            self._given[key] = self._of_programs[program] = facts
            verdict = verdict_of(facts)
            if given is None and add_tests:
                self.add_tests(verdict)
            yield verdict
            if not verdict.passed:
                return

    def _recorded(self, frozen: Frozen, level: Level, program: Key) -> Facts | None:
        """The verdict on the same program, written down for this text of it; or one that an earlier seed decided."""
        if program in self._of_programs:
            facts = {**self._of_programs[program], "candidate": frozen.hash, "seconds": 0.0}
            return self._session.record("judged", ("candidate", "level"), **facts)
        if level == HELD_OUT and self._session.peek("judged") is not None:
            return self._session.take("judged", candidate=frozen.hash, level=level)
        return None

    def _seeds(self, frozen: Frozen, level: Level, module: str | None) -> Iterator[tuple[int, bool]]:
        """Seeds to judge by, the last of which is new; only a failure counts by an earlier one.

        Earlier ones are those of held-out episodes that another candidate failed; which episodes they are is not told.
        """
        if level == HELD_OUT and not self._session.replaying:
            yield from ((seed, False) for seed in failed_seeds(self._journal.events()))
        drawn = self._session.record(
            "seeds drawn", ("candidate", "purpose"), candidate=frozen.hash, purpose=purpose(level, module),
            seed=secrets.randbits(30),
        )  # fmt: skip
        yield drawn["seed"], True

    @contextlib.contextmanager
    def _reference_needed(self) -> Iterator[None]:
        try:
            yield
        except CouldNotVerifyError as error:
            raise Stop("stopped", f"The reference cannot be used: {error}") from error

    def _require_decided(self, verdict: Verdict) -> None:
        if self._now() != self._stored():
            raise Stop("stopped", "The contract or a scenario changed while it was judged; resume, to judge by it.")
        if verdict.verdict == NO_VERDICT:  # not the candidate's fault, and no fact about it
            said = "nothing says why" if verdict.failure is None else verdict.failure.sentence
            raise Stop("stopped", f"Level {verdict.level} could not decide: {said}")

    def add_tests(self, verdict: Verdict) -> None:
        """A failure of whole episodes becomes scenarios of level 2, so that it is found earlier the next time."""
        scenarios = self._context.briefing.scenarios
        while (added := self._session.take_if("test added")) is not None:
            write_whole(scenarios / f"{added['name']}.json", self._journal.blob(added["file"]))
            self._tests.add(added["name"])
        repro = None if verdict.failure is None else verdict.failure.repro
        if repro is None or repro.folder is None:
            return
        if 2 not in self._context.project.judging.levels or self._session.replaying:
            return
        for scenario in repro_scenarios(Path(repro.folder)):
            if scenario.name not in self._tests:
                self._tests.add(scenario.name)
                content = format_scenario(scenario).encode()
                file = self._journal.store(content)
                self._journal.append("test added", level=2, name=scenario.name, why=repro.sentence, file=file)
                write_whole(scenarios / f"{scenario.name}.json", content)

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second of a candidate by batch; nothing where it broke down."""
        if frozen.hash not in self._speeds:
            recorded = self._session.take("measured", candidate=frozen.hash)
            if recorded is None:
                sps = self._timed(lambda: self._context.judge.speed(frozen)) or {}
                recorded = self._journal.append("measured", candidate=frozen.hash, sps=sps, device="cpu").facts
            self._speeds[frozen.hash] = recorded["sps"]
        return self._speeds[frozen.hash]

    def race(self, best: Frozen, new: Frozen) -> Race | None:
        """Two candidates timed by turns; None where one of them broke down."""
        recorded = self._session.take("measured", candidate=new.hash)
        if recorded is None:
            found = self._timed(lambda: self._context.judge.race(best, new)) or Race({}, {}, ())
            recorded = self._journal.append(
                "measured", candidate=new.hash, device="cpu", against=best.hash, sps=found.after, before=found.before,
                gains=list(found.gains),
            ).facts  # fmt: skip
        self._speeds[new.hash] = recorded["sps"]
        gains = recorded.get("gains", ())
        return Race(recorded["before"], recorded["sps"], tuple(gains)) if gains else None

    def _timed(self, measure: Callable[[], T]) -> T | None:
        try:
            return measure()
        except CouldNotVerifyError as error:
            self._context.options.say(str(error))
            return None

    def forget(self) -> None:
        """Ask for every verdict anew: the contract or the tests may be others now."""
        self._given.clear()
        self._of_programs.clear()

    def _forget_outdated(self) -> None:
        """Forget verdicts by other rules; a run that is resumed does so where it did before."""
        rules = self._session.rules if self._session.replaying else self._now()
        if rules == self._rules:
            return
        self._rules = rules
        for verdicts in (self._given, self._of_programs):
            for key in [key for key, facts in verdicts.items() if facts.get("rules") != rules]:
                del verdicts[key]

    def _now(self) -> str:
        """What is judged by: as it was when this process began, or when a specification became a reference."""
        if not self._today or self._project is not self._context.project:
            self._project, self._today = self._context.project, self._stored()
        return self._today

    def _stored(self) -> str:
        return store_rules(self._journal, self._context.project, self._context.briefing.scenarios)


def repro_scenarios(folder: Path) -> list[Scenario]:
    """The scenarios of a repro, named after it: two failures of the same kind are two scenarios."""
    place = folder / "scenarios"
    found = load_scenarios(str(place)) if place.is_dir() else []
    return [dataclasses.replace(scenario, name=f"{scenario.name}-{folder.name}") for scenario in found]
