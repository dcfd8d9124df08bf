"""The judge: what a frozen candidate has to pass, and what is said about it when it does not.

It never imports a candidate: hygiene reads its text, and everything else runs in a sandboxed worker from which only
arrays come back. A candidate that crashes, hangs or breaks the protocol has failed. Seeds are drawn after freezing.
"""

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from overclock.errors import OverclockError
from overclock.recipe.functions import RecordedCalls, check_functions, function_spec, record_functions
from overclock.recipe.hygiene import Finding, check_source, inspect_candidate, inspector_spec
from overclock.recipe.hygiene import Limits as HygieneLimits
from overclock.recipe.hygiene.frozen import Frozen, remove, unpack
from overclock.recipe.hygiene.shape import DERIVED
from overclock.recipe.project import Project
from overclock.recipe.project_twin import apart, project_twin
from overclock.recipe.rust import target as rust
from overclock.recipe.speed import measure, speed_spec
from overclock.recipe.verdict import HELD_OUT, HYGIENE, Level, Verdict, count, failure, failure_of
from overclock.verify.actions import random_legal
from overclock.verify.contract import Twin
from overclock.verify.failure import make_repro
from overclock.verify.interaction import check_interactions
from overclock.verify.process import CouldNotVerifyError
from overclock.verify.property import Recording, check_recorded, record
from overclock.verify.rollout import compare_rollouts
from overclock.verify.rollout_level import Diverging, check_rollouts
from overclock.verify.subject import SubjectSpec
from overclock.verify.transfer import check_transfer

Progress = Callable[[str, int, int], None]
SILENT: Progress = lambda what, done, total: None  # noqa: E731
REPLACED = "derived"  # hygiene's rule about what the base class derives
CONSEQUENCE = "contract"  # and the one that such a thing breaks when it is run
NO_ENVIRONMENT = "make"  # about env.py, which comes with the last module


class Judge:
    """Judges candidates of one project. What the reference does for level 1 is recorded once."""

    def __init__(
        self, project: Project, scenarios: Path, repros: Path, sandbox: str = "best", progress: Progress = SILENT
    ) -> None:
        self.project, self.scenarios, self.repros = project, scenarios, repros
        self.sandbox, self.progress = sandbox, progress
        self._recording: Recording | None = None
        self._calls: dict[str, RecordedCalls] = {}

    def judge(self, frozen: Frozen, level: Level, seed: int, module: str | None = None) -> Verdict:
        """One level; `seed` decides its episodes (level 1's recorded calls are the same for every candidate).

        With `module`, the name of one that others build on, only what can be said before there is an environment.
        """
        began = time.monotonic()
        with _unpacked(frozen) as folder:
            try:
                found = self._judged(folder, level, seed, module)
            except CouldNotVerifyError as error:
                if "reference" in (error.side or ""):
                    raise
                found = _broken(level, str(error).removeprefix("could not verify: "))
            except OverclockError:
                raise
            except Exception as error:  # whatever its answers lead to here: it has not shown that it is right
                found = _broken(level, f"its answers cannot be compared ({type(error).__name__}: {error}).")
        return dataclasses.replace(found, seconds=round(time.monotonic() - began, 2))

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second by batch, timed from outside."""
        with _unpacked(frozen) as folder:
            if self.project.target == "rust":
                return rust.speed(self.project, folder, lambda spec: self._apart(spec, folder))
            return measure(self._apart(speed_spec(folder), folder), self.project.limits.timeout)

    def _judged(self, folder: Path, level: Level, seed: int, module: str | None) -> Verdict:
        if level == HYGIENE:
            return self._hygiene(folder, module)
        twin = project_twin(self.project, folder, self.scenarios, self.sandbox)
        if module is not None:
            return self._functions(folder, twin, module)
        if level == HELD_OUT:
            return self._held_out(twin, seed)
        timeout = self.project.limits.timeout
        diverging: Diverging | None = None
        findings: list[Finding] = []
        if level == 1:
            for plan in self.project.modules[:-1]:
                verdict = self._functions(folder, twin, plan.name)
                if not verdict.passed:
                    return verdict
            result = check_recorded(twin, self._recorded(twin), progress=self.progress, timeout=timeout)
            result = without_derived(result)
        elif level == 2:
            result = check_interactions(twin, timeout)
            if self.project.target == "jax":
                findings = [one for one in check_source(folder, self._limits) if one.rule == REPLACED]
        elif level == 3:
            episodes = self.project.judging.episodes
            rollouts_only = dataclasses.replace(twin, transfer=None)  # level 4 trains; here it would be done twice
            result, diverging = check_rollouts(rollouts_only, None, episodes, seed, timeout, self.progress)
            if result["verdict"] == "pass" and self.project.judging.also:
                result = self._also(twin, result, seed)
        else:
            result = check_transfer(twin, seed=seed, timeout=timeout, progress=self.progress)
        passed, total = count(result)
        total += len(findings)
        if result["verdict"] == "pass" and not findings:
            return Verdict(level, "pass", passed, total, report=result)
        facts = failure_of(result, [str(finding) for finding in findings])
        if diverging is not None:
            facts["repro"] = make_repro(
                twin, diverging, 3, None, self.repros.parent, timeout, self.progress, str(self.project.folder.resolve())
            )
        return Verdict(level, "fail" if findings else result["verdict"], passed, total, facts, result)

    @property
    def _limits(self) -> HygieneLimits:
        return HygieneLimits(constant_bytes=self.project.limits.constant_kib << 10)

    def _apart(self, spec: SubjectSpec, folder: Path) -> SubjectSpec:
        return apart(self.project, spec, folder, self.sandbox)

    def _hygiene(self, folder: Path, module: str | None) -> Verdict:
        """What may be judged at all. A replaced `step` may: level 2 shows what comes of it, and never accepts it."""
        if self.project.target == "rust":
            part = module is not None
            return _hygienic(
                rust.findings(self.project, folder, self._limits, lambda spec: self._apart(spec, folder), part)
            )
        findings = check_source(folder, self._limits)
        if module is not None:
            findings = _without(findings, NO_ENVIRONMENT)
        replaced = 2 in self.project.judging.levels and any(one.rule == REPLACED for one in findings)
        findings = _without(findings, REPLACED) if replaced else findings
        if not findings and module is None:  # what may not be run is not run
            spec = self._apart(inspector_spec(folder), folder)
            findings = inspect_candidate(spec, self._limits, self.project.limits.timeout)
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
        if result["verdict"] == "pass":
            return Verdict(1, "pass", passed, total, report=result)
        return Verdict(1, "fail", passed, total, failure_of(result), result)

    def _recorded(self, twin: Twin) -> Recording:
        if self._recording is None:
            self._recording = record(twin, 0, self.progress, timeout=self.project.limits.timeout)
        return self._recording

    def _held_out(self, twin: Twin, seed: int) -> Verdict:
        """Episodes that nobody learns anything about but whether they were equal."""
        precision = next(iter(twin.contracts))
        found = compare_rollouts(
            twin, self.project.judging.held_out, "per_step", precision, "uniform", random_legal, seed,
            timeout=self.project.limits.timeout,
        )  # fmt: skip
        if found.passed:
            return Verdict(HELD_OUT, "pass", 1, 1)
        sentence = "Held-out episodes differ from the reference; which ones is not told. Look for cases not handled."
        return Verdict(HELD_OUT, "fail", 0, 1, failure(HELD_OUT, [sentence]))

    def _also(self, twin: Twin, result: dict[str, Any], seed: int) -> dict[str, Any]:
        """The same episodes against an existing fast implementation."""
        other = dataclasses.replace(twin, reference=SubjectSpec(self.project.judging.also), traced=False, transfer=None)
        episodes = self.project.judging.episodes
        more, _ = check_rollouts(other, None, episodes, seed, self.project.limits.timeout, self.progress)
        named = [
            {**one, "actions": f"{one['actions']}, against {self.project.judging.also}"} for one in more["comparisons"]
        ]
        return {**result, "verdict": more["verdict"], "comparisons": [*result["comparisons"], *named]}


def without_derived(result: dict[str, Any]) -> dict[str, Any]:
    """Level 1 without complaint about what the base class derives: that nothing calls it is level 2's to judge."""
    gate = result["gate"]
    left = [name for name in gate["not_exercised"] if name.rpartition(".")[2] not in DERIVED]
    holds = bool(gate["exported"]) and not left and not gate["declared_but_not_run"]
    gate = {**gate, "not_exercised": left, "passed": holds}
    return {**result, "gate": gate, "verdict": "pass" if holds and result["first_failure"] is None else "fail"}


def _hygienic(findings: list[Finding]) -> Verdict:
    if not findings:
        return Verdict(HYGIENE, "pass", 1, 1)
    return Verdict(HYGIENE, "fail", 0, 1, failure(HYGIENE, [str(finding) for finding in findings]))


def _without(findings: list[Finding], *rules: str) -> list[Finding]:
    return [finding for finding in findings if finding.rule not in rules]


@contextlib.contextmanager
def _unpacked(frozen: Frozen) -> Iterator[Path]:
    """A copy of a candidate that nobody writes to."""
    with tempfile.TemporaryDirectory(prefix="overclock-") as place:
        folder = Path(place) / "candidate"
        unpack(frozen, folder)
        try:
            yield folder
        finally:
            remove(folder)


def _broken(level: Level, said: str) -> Verdict:
    """A candidate that crashed, hung or said nonsense."""
    return Verdict(level, "fail", 0, 1, failure(level, [f"The candidate broke down: {said}"]))
