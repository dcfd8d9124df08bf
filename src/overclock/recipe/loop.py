"""The closed loop: an agent translates, the judge judges, failures go back, until all holds or somebody must help.

Phases: modules (level 1), integration (2), whole episodes (3, and held-out ones), transfer (4), optimisation. A
candidate must hold at every level up to the one a phase is about; a repair is judged from the bottom again. Every step
is an event of the run's journal first, so that a killed run goes on without paying twice (past.py).
"""

import dataclasses
import json
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from overclock.files import finite, write_whole
from overclock.recipe.agents.base import Agent, Endpoint, Task, Work
from overclock.recipe.briefing import Briefing
from overclock.recipe.hygiene.frozen import Frozen, freeze, tree_hash
from overclock.recipe.past import Past
from overclock.recipe.project import ModulePlan, Project
from overclock.recipe.run import Run
from overclock.recipe.run_cost import spending
from overclock.recipe.verdict import HELD_OUT, HYGIENE, Level, Verdict
from overclock.verify.process import CouldNotVerifyError
from overclock.versions import versions

PHASES = {1: "modules", 2: "integration", 3: "rollout", 4: "transfer", 5: "optimisation"}
IDLE = 3  # repairs in a row that change nothing, before a person is asked
BY_HAND = "Change the candidate, a prompt or the contract by hand, then `overclock resume`."
OWN_TESTS = "tests/"  # an agent's own tests are its business


class Stop(Exception):  # noqa: N818 (an outcome, not an error)
    """The run ends here, for now."""

    def __init__(self, outcome: str, sentence: str) -> None:
        super().__init__(sentence)
        self.outcome, self.sentence = outcome, sentence


class Judging(Protocol):
    """What the loop needs of a judge (judge.py)."""

    def judge(self, frozen: Frozen, level: Level, seed: int) -> Verdict:
        """One level."""
        ...

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second by batch."""
        ...


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
        say: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.project, self.run, self.agent, self.judge = project, run, agent, judge
        self.briefing, self.endpoint, self.options, self.say = briefing, endpoint, options, say
        self.journal = run.journal
        self._submitted = submitted
        self._tasks = 0
        self._repairs = 0
        self._idle = 0
        self._tries: dict[Level, int] = {}
        self._tried: list[str] = []
        self._helped = len(self.journal.events("help given"))
        self._frozen: Frozen | None = None
        self._known: dict[tuple[str, Level], Verdict] = {}

    def go(self) -> str:
        """Work; returns the outcome: done, stuck, waiting, out of budget or stopped."""
        self._past = Past(self.journal.events())
        self.journal.append("run started", **self._about())
        try:
            self._translate()
            if self.options.optimise and 3 in self.project.judging.levels:
                self._optimise()
        except Stop as stop:
            self.journal.append("run ended", outcome=stop.outcome, sentence=stop.sentence)
            self.say(stop.sentence)
            return stop.outcome
        sentence = f"{self.project.name} holds at {_levels(self.project.judging.levels)}."
        self.journal.append("run ended", outcome="done", sentence=sentence)
        self.say(sentence)
        return "done"

    # ---- phases ----

    def _translate(self) -> None:
        levels = self.project.judging.levels
        *earlier, last = self.project.modules
        for module in earlier:
            self._phase(1, module)
            self._translate_module(module)
            self._until((HYGIENE,), module)
        self._phase(1, last)
        self._translate_module(last)
        self._until((HYGIENE, *(1 for level in levels if level == 1)), last)
        for phase, level in ((2, 2), (3, 3), (4, 4)):
            if level in levels:
                self._phase(phase, None)
                below: list[Level] = [one for one in levels if one <= level]
                self._until((HYGIENE, *below, *((HELD_OUT,) if level >= 3 else ())), None)

    def _translate_module(self, module: ModulePlan) -> None:
        """The first translation of a module."""
        name = f"translate-{module.name}"
        self._task(name, "translate", 1, module, 0, lambda task: self.briefing.translate(task, module))

    def _until(self, levels: Sequence[Level], module: ModulePlan | None) -> None:
        """Repair until the candidate holds at all these levels."""
        while True:
            verdict = self._first_failure(levels)
            if verdict is None:
                return
            assert verdict.failure is not None
            self.say(f"level {verdict.level}: {verdict.failure['sentence']}")
            self._tries[verdict.level] = self._tries.get(verdict.level, 0) + 1
            self._tried.append(f"level {verdict.level}: {verdict.failure['sentence']}")
            if not self.options.repair:
                raise Stop("stuck", f"Level {verdict.level} failed, and this run repairs nothing.")
            if verdict.verdict == "inconclusive":
                self._ask(verdict, "More policies were trained than the plan allows; raise judging.seeds and resume.")
            if self._tries[verdict.level] > self.project.limits.iterations * (1 + self._helped):
                self._ask(verdict, BY_HAND)
            before = self._candidate().hash
            self._repair(verdict, module)
            self._idle = 0 if self._candidate().hash != before else self._idle + 1
            if self._idle >= IDLE * (1 + self._helped):
                self._ask(verdict, f"The agent changed nothing {IDLE} times in a row. {BY_HAND}")

    def _repair(self, verdict: Verdict, module: ModulePlan | None) -> None:
        number, level = self._repairs, verdict.level
        self._repairs += 1
        shown = level if isinstance(level, int) else 3
        tries = (self._tries[level], self.project.limits.iterations)
        failures, tried = verdict.failure or {}, self._tried[:-1]
        self._task(
            f"repair-{number + 1}-level-{str(level).replace(' ', '-')}", "repair", shown, module, number,
            lambda task: self.briefing.repair(task, failures, shown, tries, tried),
        )  # fmt: skip

    def _optimise(self) -> None:
        """Phase 5: keep what is faster and still holds."""
        self._phase(5, None)
        best, attempts = self._speed(), list[str]()
        levels = tuple(level for level in self.project.judging.levels if level <= 3)
        for number in range(self.project.limits.optimisations):
            before = self._candidate()
            self._task(
                f"optimise-{number + 1}", "optimise", 3, None, number,
                lambda task, best=best: self.briefing.optimise(task, best, attempts),
            )  # fmt: skip
            if self._candidate().hash == before.hash:
                return  # nothing was worth another change
            failed = self._first_failure((HYGIENE, *levels, HELD_OUT))
            after = best if failed is not None else self._speed()
            gain = _geomean(after) / _geomean(best)
            kept = failed is None and gain > 1.0
            why = failed.failure["sentence"] if failed is not None and failed.failure else f"{gain:.2f} times as fast"
            attempts.append(f"{'kept' if kept else 'taken back'}: {why}")
            candidate = self._candidate().hash
            self._tell("optimisation", candidate=candidate, kept=kept, before=best, after=after, why=why)
            if kept:
                best = after
            else:
                self._set(before)

    # ---- steps, each an event ----

    def _tell(self, kind: str, replayed: Sequence[str] = (), **facts: Any) -> dict[str, Any]:
        """An event that is there already, or is written now."""
        checked = {name: facts[name] for name in replayed}
        known = self._past.take(kind, **checked)
        return known if known is not None else self.journal.append(kind, **facts).facts

    def _about(self) -> dict[str, Any]:
        project = self.project
        return {
            "project": project.name,
            "reference": project.reference.source,
            "target": project.target,
            "agent": self.agent.name,
            "budget_dollars": project.limits.dollars,
            "levels": list(project.judging.levels),
            "limits": dataclasses.asdict(project.limits),
            "versions": versions(),
            "sandbox": self.briefing.sandbox,
        }

    def _phase(self, number: int, module: ModulePlan | None) -> None:
        name = None if module is None else module.name
        self._tell("phase started", phase=number, name=PHASES[number], module=name, replayed=("phase", "module"))
        self.say(f"phase {number}: {PHASES[number]}" + (f", {name}" if name else ""))

    def _task(
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
        known = self._past.take("task sent", task=task)
        if known is None:
            text = prompt(task)
            self._require_budget()
            facts = {"task": task, "purpose": purpose, "level": level, "iteration": iteration}
            named = None if module is None else module.name
            self.journal.append("task sent", **facts, module=named, prompt=self.journal.store(text.encode()))
        else:
            text = self.journal.blob(known["prompt"]).decode()
        ended = self._past.take("task ended", task=task)
        if ended is None:
            ended = self._work(Task(
                task, purpose, text, self.run.candidate, self.project.limits.agent_seconds, None, iteration
            ))  # fmt: skip
        if ended["ended"] == "refused":
            raise Stop("out of budget", f"The model takes no further calls: {ended['reason']}")
        self._freeze(task)

    def _work(self, task: Task) -> dict[str, Any]:
        """Let the agent work on a folder that holds the last frozen candidate and nothing else."""
        began = time.monotonic()
        if self._submitted:  # a person has worked on it meanwhile
            self._submitted = False
            work = Work("finished", "It was submitted.")
        else:
            self._lay_out()
            self.say(f"{self.agent.name}: {task.id}")
            work = self.agent.work(task, self.endpoint)
        if work.ended == "waiting":
            raise Stop("waiting", work.reason)
        usage = None if work.usage is None else dataclasses.asdict(work.usage)
        return self.journal.append(
            "task ended", task=task.id, ended=work.ended, reason=work.reason,
            seconds=round(time.monotonic() - began, 2), usage=usage, session=work.session,
            text=self.journal.store(work.text.encode()),
        ).facts  # fmt: skip

    def _freeze(self, task: str) -> None:
        known = self._past.take("candidate frozen", task=task)
        if known is None:
            frozen = without_tests(freeze(self.run.candidate))
            lines = sum(content.count(b"\n") for path, content in frozen.files.items() if path.endswith(".py"))
            files = {path: self.journal.store(content) for path, content in frozen.files.items()}
            self.journal.append("candidate frozen", candidate=frozen.hash, files=files, task=task, lines=lines)
        else:
            files = {path: self.journal.blob(blob) for path, blob in known["files"].items()}
            frozen = Frozen(known["candidate"], files)
        self._frozen = frozen

    def _set(self, frozen: Frozen) -> None:
        self._frozen = frozen

    def _lay_out(self) -> None:
        """An interrupted call may have left anything in the agent's folder."""
        if self._frozen is not None:
            self.run.restore(self._frozen.hash)

    def _candidate(self) -> Frozen:
        assert self._frozen is not None
        return self._frozen

    def _first_failure(self, levels: Sequence[Level]) -> Verdict | None:
        for level in levels:
            verdict = self._judge(self._candidate(), level)
            if not verdict.passed:
                return verdict
        return None

    def _judge(self, frozen: Frozen, level: Level) -> Verdict:
        key = (frozen.hash, level)
        if key in self._known:
            return self._known[key]
        drawn = self._tell(
            "seeds drawn", candidate=frozen.hash, purpose=f"level {level}", seed=secrets.randbits(30),
            replayed=("candidate", "purpose"),
        )  # fmt: skip
        known = self._past.take("judged", candidate=frozen.hash, level=level)
        if known is None:
            try:
                verdict = self.judge.judge(frozen, level, drawn["seed"])
            except CouldNotVerifyError as error:
                raise Stop("stopped", f"The reference cannot be used: {error}") from error
            report = None
            if verdict.report is not None:
                report = self.journal.store(json.dumps(finite(verdict.report), sort_keys=True).encode())
            known = self.journal.append(
                "judged", candidate=frozen.hash, level=level, verdict=verdict.verdict, seconds=verdict.seconds,
                tests_passed=verdict.tests_passed, tests_total=verdict.tests_total, failure=verdict.failure,
                report=report,
            ).facts  # fmt: skip
        names = ("level", "verdict", "tests_passed", "tests_total", "failure")
        self._known[key] = Verdict(**{name: known[name] for name in names})
        self._add_tests(self._known[key])
        return self._known[key]

    def _add_tests(self, verdict: Verdict) -> None:
        """A failure of whole episodes becomes a scenario of level 2, so that it is found earlier the next time."""
        repro = (verdict.failure or {}).get("repro")
        if not repro or not repro.get("folder") or 2 not in self.project.judging.levels:
            return
        for path in sorted(Path(repro["folder"], "scenarios").glob("*.json")) if not self._past_has_tests() else []:
            self.journal.append(
                "test added", level=2, name=path.stem, why=repro["sentence"], file=self.journal.store(path.read_bytes())
            )
            write_whole(self.briefing.scenarios / path.name, path.read_bytes())

    def _past_has_tests(self) -> bool:
        """Whether the tests of this failure were added before; they are written anew from the journal."""
        known = self._past.take_if("test added")
        if known is not None:
            write_whole(self.briefing.scenarios / f"{known['name']}.json", self.journal.blob(known["file"]))
        return known is not None

    def _speed(self) -> dict[str, float]:
        frozen = self._candidate()
        known = self._past.take("measured", candidate=frozen.hash)
        if known is None:
            known = self.journal.append(
                "measured", candidate=frozen.hash, sps=self.judge.speed(frozen), device="cpu"
            ).facts
        return known["sps"]

    def _require_budget(self) -> None:
        """For agents that only report about themselves; the gateway refuses calls by itself."""
        cap, spent = self.project.limits.dollars, spending(self.journal.events()).so_far()["dollars"]
        if cap is not None and spent is not None and spent >= cap:
            raise Stop("out of budget", f"${spent:.2f} of ${cap:.2f} are spent; raise limits.dollars and resume.")

    def _ask(self, verdict: Verdict, how: str) -> None:
        sentence = (
            f"Level {verdict.level} still fails after {self._tries[verdict.level] - 1} repairs: "
            f"{(verdict.failure or {}).get('sentence', '')}"
        )
        self.journal.append("help asked", level=verdict.level, sentence=sentence, how=how)
        raise Stop("stuck", f"{sentence} {how}")


def without_tests(frozen: Frozen) -> Frozen:
    """The candidate itself, without the tests its author wrote for it and without notes."""
    files = {
        path: content
        for path, content in frozen.files.items()
        if not path.startswith(OWN_TESTS) and path.endswith((".py", ".rs", ".toml"))
    }
    return Frozen(tree_hash(files), files)


def _levels(levels: Sequence[int]) -> str:
    return f"level {levels[0]}" if len(levels) == 1 else f"levels {', '.join(map(str, levels))}"


def _geomean(sps: dict[str, float]) -> float:
    product = 1.0
    for value in sps.values():
        product *= value ** (1.0 / len(sps))
    return product
