"""The steps of a run, each an event of its journal: done once, and taken from the journal when a run is resumed.

An event is written when its work is finished, so a kill repeats at most the step under way. What the steps add up to
is the loop's business (loop.py).
"""

import dataclasses
import json
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from overclock.files import finite, write_whole
from overclock.recipe.agents.base import Agent, Endpoint, Task, Work
from overclock.recipe.briefing import Briefing
from overclock.recipe.hygiene.frozen import Frozen, Seal
from overclock.recipe.past import REFUSED, Past
from overclock.recipe.project import ModulePlan, Project
from overclock.recipe.run import Run
from overclock.recipe.run_cost import spending
from overclock.recipe.rust import target as rust
from overclock.recipe.verdict import Level, Verdict
from overclock.recipe.work_tree import frozen_tree
from overclock.verify.process import CouldNotVerifyError
from overclock.verify.scenario import Scenario, format_scenario, load_scenarios

NO_VERDICT = "could not verify"


class Stop(Exception):  # noqa: N818 (an outcome, not an error)
    """The run ends here, for now."""

    def __init__(self, outcome: str, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome, self.sentence = outcome, sentence


class Judging(Protocol):
    """What the steps need of a judge (judge.py)."""

    def judge(self, frozen: Frozen, level: Level, seed: int, module: str | None = None) -> Verdict:
        """One level: of the whole candidate, or of what it has when a module but the last was translated."""
        ...

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second by batch."""
        ...


class Steps:
    """The steps of one run of one project."""

    def __init__(
        self,
        project: Project,
        run: Run,
        agent: Agent,
        judge: Judging,
        briefing: Briefing,
        endpoint: Endpoint | None = None,
        submitted: bool = False,
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        """`submitted`: a person has done the task that is under way."""
        self.project, self.run, self.agent, self.briefing, self.say = project, run, agent, briefing, say
        self._judging, self._endpoint, self._submitted = judge, endpoint, submitted
        self._journal = run.journal
        self._past = Past(self._journal.events())
        self._tasks = 0
        self._frozen: Frozen | None = None
        self._known: dict[tuple[str, Level, str | None], Verdict] = {}

    @property
    def candidate(self) -> Frozen:
        """What the last task left, or what was put in its place."""
        assert self._frozen is not None, "no task has ended yet"
        return self._frozen

    def go_back(self, frozen: Frozen) -> None:
        """Go on with an earlier candidate."""
        self._frozen = frozen

    def tell(self, kind: str, checked: tuple[str, ...] = (), **facts: Any) -> dict[str, Any]:
        """An event that is there already, saying the same of what is `checked`; or that is written now."""
        known = self._past.take(kind, **{name: facts[name] for name in checked})
        return known if known is not None else self._journal.append(kind, **facts).facts

    # ---- the agent ----

    def task(
        self,
        name: str,
        purpose: str,
        level: int,
        module: ModulePlan | None,
        iteration: int,
        prompt: Callable[[str], str],
    ) -> None:
        """One call of the agent, and the candidate that it leaves."""
        self._tasks += 1
        task = f"{self._tasks:03}-{name}"
        if self._past.take("task sent", task=task) is None:
            self._require_budget()
            text = prompt(task)
            self._journal.append(
                "task sent", task=task, purpose=purpose, level=level, iteration=iteration,
                module=None if module is None else module.name, prompt=self._journal.store(text.encode()),
            )  # fmt: skip
            if self.project.target == "rust":
                rust.prepare(self.project, self.run.candidate)
            seconds = self.project.limits.agent_seconds
            ended = self._work(Task(task, purpose, text, self.run.candidate, seconds, None, iteration))
        else:
            ended = self._past.take("task ended", task=task)
            assert ended is not None, "a past has no task without an end"
        if ended["ended"] == REFUSED:
            raise Stop("out of budget", f"The model takes no further calls: {ended['reason']}{self._spent()}")
        self.freeze(task)

    def _work(self, task: Task) -> dict[str, Any]:
        began = time.monotonic()
        if self._submitted:  # a person has worked on it meanwhile
            self._submitted = False
            work = Work("finished", "It was submitted.")
        else:
            self.lay_out()
            self.say(f"{self.agent.name}: {task.id}")
            seal = Seal.of(self.briefing.scenarios), self.project.contract_path.read_bytes()
            work = self.agent.work(task, self._endpoint)
            if seal[0].broken() or seal[1] != self.project.contract_path.read_bytes():
                raise Stop("stopped", f"The contract or a scenario changed while {self.agent.name} worked.")
        if work.ended == "waiting":
            raise Stop("waiting", work.reason)
        usage = None if work.usage is None else dataclasses.asdict(work.usage)
        return self._journal.append(
            "task ended", task=task.id, ended=work.ended, reason=work.reason,
            seconds=round(time.monotonic() - began, 2), usage=usage, session=work.session,
            text=self._journal.store(work.text.encode(errors="replace")),
        ).facts  # fmt: skip

    def lay_out(self) -> None:
        """Let the agent's folder hold the candidate; an interrupted call may have left anything in it."""
        if self._frozen is not None and frozen_tree(self.run.candidate).hash != self._frozen.hash:
            self.run.restore(self._frozen.hash)

    def freeze(self, task: str | None) -> None:
        """Hold still what is in the agent's folder; no task: a person changed it."""
        known = self._past.take("candidate frozen", task=task)
        if known is None:
            frozen = frozen_tree(self.run.candidate)
            lines = sum(content.count(b"\n") for path, content in frozen.files.items() if path.endswith((".py", ".rs")))
            files = {path: self._journal.store(content) for path, content in frozen.files.items()}
            self._journal.append("candidate frozen", candidate=frozen.hash, files=files, task=task, lines=lines)
        else:
            files = {path: self._journal.blob(blob) for path, blob in known["files"].items()}
            frozen = Frozen(known["candidate"], files)
        self._frozen = frozen

    def _require_budget(self) -> None:
        """For agents that only report about themselves; the gateway refuses calls by itself."""
        cap, spent = self.project.limits.dollars, spending(self._journal.events()).so_far()["dollars"]
        if cap is not None and spent is not None and spent >= cap:
            raise Stop("out of budget", f"The budget is spent; raise it and resume to go on.{self._spent()}")

    def _spent(self) -> str:
        cap, spent = self.project.limits.dollars, spending(self._journal.events()).so_far()["dollars"]
        known = "What was spent is not known" if spent is None else f"${spent:.4f} are spent"
        return f" {known}{'' if cap is None else f' of ${cap:.2f}'}."

    # ---- the judge ----

    def judge(self, level: Level, module: str | None = None) -> Verdict:
        """The verdict on the candidate; a seed is drawn for it that nobody knew before."""
        frozen = self.candidate
        key = (frozen.hash, level, module)
        if key in self._known:
            return self._known[key]
        purpose = f"level {level}" if module is None else f"level {level} of {module}"
        drawn = self.tell(
            "seeds drawn", ("candidate", "purpose"), candidate=frozen.hash, purpose=purpose, seed=secrets.randbits(30)
        )
        known = self._past.take("judged", candidate=frozen.hash, level=level)
        if known is None:
            known = self._judged(frozen, level, drawn["seed"], module)
        names = ("level", "verdict", "tests_passed", "tests_total", "failure")
        verdict = self._known[key] = Verdict(**{name: known[name] for name in names})
        self._add_tests(verdict)
        return verdict

    def _judged(self, frozen: Frozen, level: Level, seed: int, module: str | None) -> dict[str, Any]:
        try:
            verdict = self._judging.judge(frozen, level, seed, module)
        except CouldNotVerifyError as error:
            raise Stop("stopped", f"The reference cannot be used: {error}") from error
        if verdict.verdict == NO_VERDICT:  # not the candidate's fault, and no fact about it
            said = (verdict.failure or {}).get("sentence", "nothing says why")
            raise Stop("stopped", f"Level {level} could not decide: {said}")
        report = None
        if verdict.report is not None:
            report = self._journal.store(json.dumps(finite(verdict.report), sort_keys=True).encode())
        return self._journal.append(
            "judged", candidate=frozen.hash, level=level, verdict=verdict.verdict, seconds=verdict.seconds,
            tests_passed=verdict.tests_passed, tests_total=verdict.tests_total, failure=verdict.failure,
            report=report, module=module,
        ).facts  # fmt: skip

    def _add_tests(self, verdict: Verdict) -> None:
        """A failure of whole episodes becomes scenarios of level 2, so that it is found earlier the next time."""
        added = set[str]()
        while (known := self._past.take_if("test added")) is not None:
            write_whole(self.briefing.scenarios / f"{known['name']}.json", self._journal.blob(known["file"]))
            added.add(known["name"])
        repro = (verdict.failure or {}).get("repro") or {}
        if not repro.get("folder") or 2 not in self.project.judging.levels or not self._past.over:
            return
        for scenario in repro_scenarios(Path(repro["folder"])):
            if scenario.name not in added:
                content = format_scenario(scenario).encode()
                file = self._journal.store(content)
                self._journal.append("test added", level=2, name=scenario.name, why=repro["sentence"], file=file)
                write_whole(self.briefing.scenarios / f"{scenario.name}.json", content)

    def speed(self) -> dict[str, float]:
        """Steps per second of the candidate by batch; nothing where it broke down."""
        frozen = self.candidate
        known = self._past.take("measured", candidate=frozen.hash)
        if known is None:
            try:
                found = self._judging.speed(frozen)
            except CouldNotVerifyError as error:
                self.say(str(error))
                found = {}
            known = self._journal.append("measured", candidate=frozen.hash, sps=found, device="cpu").facts
        return known["sps"]

    # ---- a person ----

    def ask(self, level: Level, sentence: str, how: str) -> None:
        """Stop for help; returns where it was given. All verdicts are then asked for anew: much may have changed."""
        helped = self._past.take_if("help given")
        if helped is None:
            self._journal.append("help asked", level=level, sentence=sentence, how=how)
            raise Stop("stuck", f"{sentence} {how}")
        self._known.clear()
        if helped.get("changed"):
            self.freeze(None)


def repro_scenarios(folder: Path) -> list[Scenario]:
    """The scenarios of a repro, named after it: two failures of the same kind are two scenarios."""
    place = folder / "scenarios"
    found = load_scenarios(str(place)) if place.is_dir() else []
    return [dataclasses.replace(scenario, name=f"{scenario.name}-{folder.name}") for scenario in found]
