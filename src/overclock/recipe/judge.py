"""The judge: what a frozen candidate has to pass, and what is said about it when it does not.

It never imports a candidate: hygiene reads its text, and everything else runs in a sandboxed worker from which only
arrays come back. A candidate that crashes, hangs or breaks the protocol has failed. Seeds are drawn after freezing.
"""

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overclock.recipe.hygiene import Limits as HygieneLimits
from overclock.recipe.hygiene import check_source, inspect_candidate, inspector_spec
from overclock.recipe.hygiene.frozen import Frozen, remove, unpack
from overclock.recipe.project import Project
from overclock.recipe.project_twin import apart, project_twin
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


class Judge:
    """Judges candidates of one project. The reference's recording for level 1 is made once."""

    def __init__(
        self, project: Project, scenarios: Path, repros: Path, sandbox: str = "best", progress: Progress = SILENT
    ) -> None:
        self.project, self.scenarios, self.repros = project, scenarios, repros
        self.sandbox, self.progress = sandbox, progress
        self._recording: Recording | None = None

    def judge(self, frozen: Frozen, level: Level, seed: int) -> Verdict:
        """One level; `seed` decides its episodes (level 1's recorded calls are the same for every candidate)."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "candidate"
            unpack(frozen, folder)
            try:
                found = self._judged(folder, level, seed)
            except CouldNotVerifyError as error:
                if error.side is None or "reference" in error.side:
                    raise
                found = _broken(level, str(error))
            finally:
                remove(folder)
        return dataclasses.replace(found, seconds=round(time.monotonic() - began, 2))

    def _judged(self, folder: Path, level: Level, seed: int) -> Verdict:
        if level == HYGIENE:
            return self._hygiene(folder)
        twin = project_twin(self.project, folder, self.scenarios, self.sandbox)
        if level == HELD_OUT:
            return self._held_out(twin, seed)
        timeout = self.project.limits.timeout
        diverging: Diverging | None = None
        if level == 1:
            result = check_recorded(twin, self._recorded(twin), progress=self.progress, timeout=timeout)
        elif level == 2:
            result = check_interactions(twin, timeout)
        elif level == 3:
            episodes = self.project.judging.episodes
            rollouts_only = dataclasses.replace(twin, transfer=None)  # level 4 trains; here it would be done twice
            result, diverging = check_rollouts(rollouts_only, None, episodes, seed, timeout, self.progress)
            if result["verdict"] == "pass" and self.project.judging.also:
                result = self._also(twin, result, seed)
        else:
            result = check_transfer(twin, seed=seed, timeout=timeout, progress=self.progress)
        passed, total = count(result)
        if result["verdict"] == "pass":
            return Verdict(level, "pass", passed, total, report=result)
        facts = failure_of(result)
        if diverging is not None:
            facts["repro"] = make_repro(
                twin, diverging, 3, None, self.repros.parent, timeout, self.progress, str(self.project.folder.resolve())
            )
        return Verdict(level, result["verdict"], passed, total, facts, result)

    def speed(self, frozen: Frozen) -> dict[str, float]:
        """Steps per second by batch, timed from outside."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "candidate"
            unpack(frozen, folder)
            try:
                spec = apart(self.project, speed_spec(folder), folder, self.sandbox)
                return measure(spec, self.project.limits.timeout)
            finally:
                remove(folder)

    def _hygiene(self, folder: Path) -> Verdict:
        limits = HygieneLimits(constant_bytes=self.project.limits.constant_kib << 10)
        findings = check_source(folder, limits)
        if not findings and (folder / "env.py").is_file():  # what may not be run is not run
            spec = apart(self.project, inspector_spec(folder), folder, self.sandbox)
            findings = inspect_candidate(spec, limits, self.project.limits.timeout)
        if not findings:
            return Verdict(HYGIENE, "pass", 1, 1)
        return Verdict(HYGIENE, "fail", 0, 1, failure(HYGIENE, [str(finding) for finding in findings]))

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


def _broken(level: Level, sentence: str) -> Verdict:
    """A candidate that crashed, hung or said nonsense."""
    said = sentence.removeprefix("could not verify: ")
    return Verdict(level, "fail", 0, 1, failure(level, [f"The candidate broke down: {said}"]))
