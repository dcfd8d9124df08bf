"""The judge: what a frozen candidate has to pass, and what is said about it when it does not.

It never imports a candidate: hygiene reads its text, and everything else runs in a sandboxed worker from which only
arrays come back. A candidate that crashes, hangs or breaks the protocol has failed. Seeds are drawn after freezing.
"""

import contextlib
import dataclasses
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from overclock.env.environment import Environment
from overclock.errors import OverclockError
from overclock.progress import Progress, silent
from overclock.recipe.judging.as_used.compare import differences_for_users
from overclock.recipe.judging.functions import RecordedCalls, check_functions, function_spec, record_functions
from overclock.recipe.judging.hygiene import (
    Finding,
    check_source,
    drawn_batches,
    inspect_candidate,
    inspector_spec,
)
from overclock.recipe.judging.hygiene.frozen import Frozen, unchanged, unpacked
from overclock.recipe.judging.rust import target as rust
from overclock.recipe.judging.speed import Race, measure, race, timed
from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Level, Verdict, count, failure, failure_of
from overclock.recipe.loop.prompts import BATCHES
from overclock.recipe.project.project import Project
from overclock.recipe.project.twin import also_spec, apart, project_twin
from overclock.verify.contract import Twin
from overclock.verify.interaction.playback import play_reference
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.levels import LEVELS, Settings
from overclock.verify.property.level import Recording, record
from overclock.verify.property.result import PropertyLevel
from overclock.verify.reach.ledger import Ledger
from overclock.verify.repro.failure import make_repro
from overclock.verify.rollout.actions import random_legal
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.rollout.result import RolloutLevel
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

REPLACED = "derived"  # hygiene's rule about what the base class derives
CONSEQUENCE = "contract"  # and the one that such a thing breaks when it is run
METHODS = frozenset(name for name in vars(Environment) if not name.startswith("_"))
DRAWN = 2  # sizes of batches that hygiene looks at in each precision, beside those that are timed
LARGEST_PLAYED = 4096  # lanes of a batch that is played in a user's program: it is compiled, and played at once
NO_ENVIRONMENT = "make"  # about env.py, which comes with the last module


class Judge:
    """Judges candidates of one project. What the reference does for level 1 is recorded once."""

    def __init__(
        self,
        project: Project,
        scenarios: Path,
        repros: Path,
        sandbox: str = "best",
        progress: Progress = silent,
        recording: Recording | None = None,
    ) -> None:
        """`recording` is level 1's of the same reference, where somebody has it already."""
        self.project, self.scenarios, self.repros = project, scenarios, repros
        self.sandbox, self.progress = sandbox, progress
        self._recording = recording
        self._calls: dict[str, RecordedCalls] = {}

    def judge(self, frozen: Frozen, level: Level, seed: int, module: str | None = None, attempt: int = 1) -> Verdict:
        """One level; `seed` decides its episodes (level 1's recorded calls are the same for every candidate).

        With `module`, the name of one that others build on, only what can be said before there is an environment.
        `attempt` is how often chance has been asked at this level: level 4 must be surer each time.
        """
        began = time.monotonic()
        with unpacked(frozen) as folder:
            try:
                found = self._judged(folder, level, seed, module, attempt)
                if not unchanged(frozen, folder):
                    found = _broken(level, "its own files changed while it ran.")
            except CouldNotVerifyError as error:
                if "reference" in (error.side or ""):
                    raise
                found = _broken(level, str(error).removeprefix("could not verify: "))
            except OverclockError:
                raise
            except Exception as error:  # whatever its answers lead to here: it has not shown that it is right
                found = _broken(level, f"its answers cannot be compared ({type(error).__name__}: {error}).")
        return dataclasses.replace(found, seconds=round(time.monotonic() - began, 2))

    def read(self, folder: Path) -> list[Finding]:
        """What the text of a JAX candidate says against it."""
        return check_source(folder, self.project.hygiene)

    def speed(self, frozen: Frozen, batches: tuple[int, ...] = BATCHES) -> dict[str, float]:
        """Steps per second by batch, timed from outside."""
        with self._timed(frozen) as worker:
            return measure(worker, batches)

    def race(self, best: Frozen, new: Frozen, batches: tuple[int, ...] = BATCHES) -> Race:
        """Two candidates timed by turns."""
        with self._timed(best) as first, self._timed(new) as second:
            return race(first, second, batches)

    @contextlib.contextmanager
    def _timed(self, frozen: Frozen) -> Iterator[ProcessSubject]:
        with unpacked(frozen) as folder:
            twin = project_twin(self.project, folder, self.scenarios, self.sandbox)
            with timed(twin, self.project.limits.timeout) as worker:
                yield worker

    def _judged(self, folder: Path, level: Level, seed: int, module: str | None, attempt: int) -> Verdict:
        if level == HYGIENE:
            return self._hygiene(folder, module)
        twin = project_twin(self.project, folder, self.scenarios, self.sandbox)
        if module is not None:
            return self._functions(folder, twin, module)
        if level == HELD_OUT:
            return self._held_out(folder, twin, seed)
        timeout = self.project.limits.timeout
        settings = Settings(
            self._recorded, self.project.judging.episodes, seed, timeout, self.progress, attempt=attempt,
            ledger=self._earlier(twin) if level == 3 else None,
        )  # fmt: skip
        findings: list[Finding] = []
        if level == 1:
            for plan in self.project.modules[:-1]:
                verdict = self._functions(folder, twin, plan.name)
                if not verdict.passed:
                    return verdict
        if level == 2 and self.project.target == "jax":
            findings = [one for one in self.read(folder) if one.rule == REPLACED]
        # Level 3 would train as level 4 does.
        answer = LEVELS[level].run(dataclasses.replace(twin, transfer=None) if level == 3 else twin, settings)
        result = answer.result
        if isinstance(result, PropertyLevel):
            result = without_derived(result)
        if isinstance(result, RolloutLevel) and result.verdict == "pass" and self.project.judging.also:
            result = self._also(twin, result, settings)
        passed, total = count(result)
        total += len(findings)
        if result.verdict == "pass" and not findings:
            return Verdict(level, "pass", passed, total, report=result)
        found = failure_of(result, [str(finding) for finding in findings])
        if answer.diverging is not None:
            repro = make_repro(
                twin, answer.diverging, 3, None, self.repros.parent, timeout, self.progress,
                str(self.project.folder.resolve()),
            )  # fmt: skip
            found = dataclasses.replace(found, repro=repro)
        return Verdict(level, "fail" if findings else result.verdict, passed, total, found, result)

    def _apart(self, spec: SubjectSpec, folder: Path) -> SubjectSpec:
        return apart(self.project, spec, folder, self.sandbox)

    def _hygiene(self, folder: Path, module: str | None) -> Verdict:
        """What may be judged at all. A replaced `step` may: level 2 shows what comes of it, and never accepts it."""
        if self.project.target == "rust":
            part = module is not None
            return _hygienic(
                rust.findings(self.project, folder, self.project.hygiene, lambda spec: self._apart(spec, folder), part)
            )
        findings = self.read(folder)
        if module is not None:
            findings = _without(findings, NO_ENVIRONMENT)
        replaced = 2 in self.project.judging.levels and any(one.rule == REPLACED for one in findings)
        findings = _without(findings, REPLACED) if replaced else findings
        for number, (precision, contract) in enumerate(self.project.contract.contracts().items()):
            if findings or module is not None:
                break  # what may not be run is not run
            batches = (*(BATCHES if number == 0 else ()), *drawn_batches(DRAWN))
            spec = self._apart(inspector_spec(folder, precision, number == 0, contract.strays, batches), folder)
            findings = inspect_candidate(spec, self.project.hygiene, self.project.limits.timeout)
            findings = _without(findings, REPLACED, CONSEQUENCE) if replaced else findings
        return _hygienic(findings)

    def _functions(self, folder: Path, twin: Twin, module: str) -> Verdict:
        """Level 1 of a module that comes before the environment."""
        if self.project.target == "rust":  # its functions cannot be called from outside; the trait's are, at the end
            return Verdict(1, "pass", 0, 0)
        timeout = self.project.limits.timeout
        if module not in self._calls:
            (plan,) = (plan for plan in self.project.modules if plan.name == module)
            self._calls[module] = record_functions(twin.reference, plan, 0, timeout)
        spec = self._apart(function_spec(folder, module), folder)
        result = check_functions(spec, self._calls[module], self.project.contract, timeout)
        passed, total = count(result)
        if result.verdict == "pass":
            return Verdict(1, "pass", passed, total, report=result)
        return Verdict(1, "fail", passed, total, failure_of(result), result)

    def _recorded(self, twin: Twin) -> Recording:
        if self._recording is None:
            self._recording = record(twin, 0, self.progress, timeout=self.project.limits.timeout)
        return self._recording

    def _earlier(self, twin: Twin) -> Ledger:
        """Which branches levels 1 and 2 take, where the project asks for them: a candidate at level 3 has passed both.

        They are taken by the reference, whatever the candidate is; scenarios may have come since level 2 was judged.
        """
        ledger, levels, recorded = Ledger(), self.project.judging.levels, None
        if 1 in levels and (recorded := self._recorded(twin).seen) is not None:
            ledger.add(recorded)
        if 2 in levels and twin.scenarios is not None:
            play_reference(twin, load_scenarios(twin.scenarios), self.project.limits.timeout, ledger)
        return ledger

    def _held_out(self, folder: Path, twin: Twin, seed: int) -> Verdict:
        """Episodes that nobody learns anything about but whether they were equal; then the folder as users load it."""
        for precision in twin.contracts:
            found = compare_rollouts(
                twin, self.project.judging.held_out, "per_step", precision, "uniform", random_legal, seed,
                timeout=self.project.limits.timeout,
            )  # fmt: skip
            if not found.passed:
                sentence = (
                    "Held-out episodes differ from the reference; which ones is not told. Look for cases not handled."
                )
                return Verdict(HELD_OUT, "fail", 0, 1, failure(HELD_OUT, [sentence]))
        sentence = next(self._for_users(folder, twin), None)
        if sentence is not None:
            return Verdict(HELD_OUT, "fail", 1, 2, failure(HELD_OUT, [sentence]))
        return Verdict(HELD_OUT, "pass", 2, 2)

    def _for_users(self, folder: Path, twin: Twin) -> Iterator[str]:
        """What is wrong where the folder is loaded as its users load it: the last thing that is asked."""
        if self.project.target == "jax":
            batches = (secrets.choice(BATCHES), *drawn_batches(1, LARGEST_PLAYED))
            timeout = self.project.limits.timeout
            yield from differences_for_users(twin, folder, self.project.judging.held_out, batches, timeout)

    def _also(self, twin: Twin, result: RolloutLevel, settings: Settings) -> RolloutLevel:
        """The same episodes against an existing fast implementation."""
        other = dataclasses.replace(
            twin, reference=also_spec(self.project), traced=False, transfer=None, beyond_end=False
        )
        more = LEVELS[3].run(other, dataclasses.replace(settings, ledger=None)).result
        assert isinstance(more, RolloutLevel)
        named = [
            dataclasses.replace(one, actions=f"{one.actions}, against {self.project.judging.also}")
            for one in more.comparisons
        ]
        return dataclasses.replace(result, verdict=more.verdict, comparisons=[*result.comparisons, *named])


def without_derived(result: PropertyLevel) -> PropertyLevel:
    """Level 1 without complaint about the contract's own methods: prompts offer them, level 2 judges the derived."""
    gate = result.gate
    left = [name for name in gate.not_exercised if name.rpartition(".")[2] not in METHODS]
    holds = bool(gate.exported) and not left and not gate.declared_but_not_run
    gate = dataclasses.replace(gate, not_exercised=left, passed=holds)
    verdict = "pass" if holds and result.first_failure is None else "fail"
    return dataclasses.replace(result, gate=gate, verdict=verdict)


def _hygienic(findings: list[Finding]) -> Verdict:
    if not findings:
        return Verdict(HYGIENE, "pass", 1, 1)
    return Verdict(HYGIENE, "fail", 0, 1, failure(HYGIENE, [str(finding) for finding in findings]))


def _without(findings: list[Finding], *rules: str) -> list[Finding]:
    return [finding for finding in findings if finding.rule not in rules]


def _broken(level: Level, said: str) -> Verdict:
    """A candidate that crashed, hung or said nonsense."""
    return Verdict(level, "fail", 0, 1, failure(level, [f"The candidate broke down: {said}"]))
