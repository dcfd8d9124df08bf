"""Phase 0 of a run from a specification: the reference is written, checked, approved by a person, and adopted."""

import dataclasses
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.files import write_whole
from overclock.recipe.contract.file import format_contract
from overclock.recipe.judging.hygiene.frozen import Frozen, remove, tree_hash, unpack
from overclock.recipe.judging.judge import Judge
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HYGIENE, Level, SurveyedReference, Verdict, failure
from overclock.recipe.loop.briefing import Briefing
from overclock.recipe.loop.context import RunContext, Stop
from overclock.recipe.loop.loop import Goal, Loop
from overclock.recipe.loop.specification import FOLDER, KIND, OUTPUT, SpecificationBriefing, adopt
from overclock.recipe.loop.tasks import TaskRequest
from overclock.recipe.project.project import Project, load_project
from overclock.recipe.project.twin import GIB
from overclock.recipe.references.play_check import checker_spec
from overclock.recipe.references.static_check import check_reference
from overclock.recipe.references.surveyor import SECONDS, Surveyed, read_survey
from overclock.recipe.sandbox import sandboxed
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject

PHASE, NAME = 0, "specification"
QUESTIONS = "QUESTIONS.md"
REVIEW = "review"  # of a run: what a person reads beside the reference
APPROVED = "approved"  # the event with which the translation starts, from nothing
HOW = "Change it by hand where the rules were read wrongly; `overclock resume` approves it, and the translation begins."


class SpecificationJudge:
    """Judges references; and candidates as the ordinary judge does, once there is a reference to compare them with."""

    def __init__(self, ordinary: Judge) -> None:
        self._ordinary, self._adopted = ordinary, False

    def adopt(self, project: Project) -> None:
        """From here on candidates are compared with this project's reference."""
        old = self._ordinary
        self._ordinary = Judge(project, old.scenarios, old.repros, old.sandbox, old.progress)
        self._adopted = True

    def judge(self, frozen: Frozen, level: Level, seed: int, module: str | None = None, attempt: int = 1) -> Verdict:
        """Check a reference; or judge a candidate as `Judge.judge`, once there is a reference to compare it with."""
        if self._adopted:
            return self._ordinary.judge(frozen, level, seed, module, attempt)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "candidate"
            unpack(frozen, folder)
            try:
                sentences, found = self._checked(folder / FOLDER)
            finally:
                remove(folder)
        seconds = round(time.monotonic() - began, 2)
        if sentences:
            return Verdict(HYGIENE, "fail", 0, 1, failure(HYGIENE, sentences), seconds=seconds)
        return Verdict(HYGIENE, "pass", 1, 1, report=SurveyedReference(survey=found), seconds=seconds)

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Time a candidate, see `Judge.speed`."""
        return self._ordinary.speed(frozen)

    def race(self, best: Frozen, new: Frozen) -> Race:
        """Time two candidates by turns, see `Judge.race`."""
        return self._ordinary.race(best, new)

    def _checked(self, folder: Path) -> tuple[list[str], Any]:
        """Sentences on what is wrong, and the survey where nothing is."""
        if sentences := check_reference(folder):
            return sentences, None  # what may not be run is not run
        memory, sandbox = int(self._ordinary.project.limits.memory_gib * GIB), self._ordinary.sandbox
        spec = sandboxed(checker_spec(folder), folder.resolve(), sandbox=sandbox, memory_bytes=memory)
        try:
            with ProcessSubject(spec, 1, "the new reference", SECONDS) as worker:
                answer = worker.ask("check")
            if answer["problems"]:
                return [str(one).replace(f"{folder}/", "") for one in answer["problems"]], None
            read_survey(answer["survey"])
            return [], answer["survey"]
        except CouldNotVerifyError as error:
            return [str(error).removeprefix("could not verify: ")], None
        except (KeyError, TypeError, ValueError) as error:
            return [f"The reference's process gave no usable answer: {error}"], None


class SpecificationLoop(Loop):
    """Phase 0, a person's approval, then the ordinary loop on the project that came of it."""

    def __init__(self, context: RunContext, judge: SpecificationJudge) -> None:
        super().__init__(context)
        self._checker = judge

    def goals(self) -> Iterator[Goal]:
        """Phase 0, whose goal is reached again where a person changes the reference; then the ordinary phases."""
        self.say(f"phase {PHASE}: {NAME}")
        self.session.record("phase started", ("phase", "module"), phase=PHASE, name=NAME, module=None)
        briefing = self.context.briefing
        assert isinstance(briefing, SpecificationBriefing)
        self.send(TaskRequest(NAME, NAME, HYGIENE, None, 0, briefing.specification, self.ranked_by(PHASE)))
        yield Goal(PHASE)
        while (by_hand := self._changed_by_hand()) is not None:
            yield Goal(PHASE)
            if self.candidate.hash == by_hand:  # it holds as the person wrote it
                break
        self._adopt()
        yield from super().goals()

    def _changed_by_hand(self) -> str | None:
        """Wait for approval; the reference as a person changed it, None where it is approved as it was shown."""
        shown = self.candidate.hash
        self._review()
        try:
            self.ask(HYGIENE, self._question(), HOW)
        except Stop as stop:
            raise Stop("waiting", stop.sentence) from stop
        return None if self.candidate.hash == shown else self.candidate.hash

    def _survey(self) -> Surveyed:
        """What the check of the candidate found."""
        for event in reversed(self.context.run.journal.events("judged")):
            facts = event.facts
            if facts["candidate"] == self.candidate.hash and facts["report"] is not None:
                return read_survey(json.loads(self.context.run.journal.blob(facts["report"]))["survey"])
        raise AssertionError("a candidate that holds was judged")

    def _review(self) -> None:
        """What a person reads before saying yes: the contract that follows, and what the agent asks."""
        place, asked = self.context.run.folder / REVIEW, self.context.run.candidate / QUESTIONS
        write_whole(place / "contract.toml", format_contract(self._survey().contract).encode())
        if asked.is_file() and not asked.is_symlink():
            write_whole(place / QUESTIONS, asked.read_bytes())

    def _question(self) -> str:
        review = self.context.run.folder / REVIEW
        asked = review / QUESTIONS
        questions = f" The agent asks: {asked.read_text(errors='replace').strip()}" if asked.is_file() else ""
        return (
            f"Are these the rules? Nobody but you can say: read {self.context.run.candidate / OUTPUT} and the contract "
            f"that follows from it, {review / 'contract.toml'}.{questions}"
        )

    def _adopt(self) -> None:
        """What was approved becomes the project's reference; the translation starts with an empty folder."""
        old = self.context.project
        if old.reference.kind == KIND:
            adopt(load_project(old.folder), self._survey(), self.candidate.files)
        found = load_project(old.folder)  # with this run's own agent, limits and levels
        project = dataclasses.replace(found, agent=old.agent, limits=old.limits, judging=old.judging)
        for path in project.scenarios.glob("*.json"):
            write_whole(self.context.briefing.scenarios / path.name, path.read_bytes())
        empty = Frozen(tree_hash({}), {})
        self.session.record("candidate frozen", ("task",), candidate=empty.hash, files={}, task=APPROVED, lines=0)
        self.go_on_with(empty)
        self._checker.adopt(project)
        self.context.project, self.context.briefing = project, Briefing(project, self.context.briefing.scenarios)
        self._tries, self._idle, self._tried = {}, 0, []
