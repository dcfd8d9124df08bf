"""A session over MCP: jobs judge a candidate while somebody edits it, one at a time, and are recorded in a run.

A verification freezes the candidate, draws seeds nobody knew, and judges from the bottom up to the level asked for. It
counts as an iteration of that level; after `limits.iterations` of them a person has to look.
"""

import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from overclock.errors import UsageError
from overclock.files import finite
from overclock.progress import Progress
from overclock.recipe.judging.hygiene.frozen import Frozen, Seal
from overclock.recipe.judging.required_levels import levels_up_to
from overclock.recipe.judging.verdict import HELD_OUT, HYGIENE, Level, Verdict
from overclock.recipe.judging.verdict_history import attempts, failed_seeds
from overclock.recipe.loop.briefing import MAIN
from overclock.recipe.mcp.facts import failures
from overclock.recipe.mcp.job import Job
from overclock.recipe.mcp.record import HOW, Record
from overclock.recipe.project.project import FILE, Project
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import status
from overclock.recipe.runs.work_tree import frozen_tree
from overclock.results import encode

PAUSE_S = 2.0  # between two starts: whoever asks faster has changed nothing in between
MOST_BATCH = 1 << 20


class Judging(Protocol):
    """The judge of a session (mcp/process.py)."""

    def judge(self, frozen: Frozen, level: Level, seed: int, attempt: int, progress: Progress) -> Verdict:
        """Judge one level of one candidate."""
        ...

    def bench(self, frozen: Frozen, batches: tuple[int, ...], progress: Progress) -> dict[str, float]:
        """Measure steps per second, by batch."""
        ...

    def stop(self) -> None:
        """End whatever is under way."""
        ...


class Session:
    """The jobs of one server. Its functions may be called from any thread; mistakes of the caller are UsageErrors."""

    def __init__(
        self,
        project: Project,
        run: Run,
        judge: Judging,
        sandbox: str,
        candidate: Path | None = None,
        pause: float = PAUSE_S,
    ) -> None:
        """`candidate`: the folder that is edited, by default the run's own; `pause`: seconds between two starts."""
        self.project, self.run, self.candidate = project, run, (candidate or run.candidate).resolve()
        self._judge, self._pause, self._last_start = judge, pause, -pause
        self._turn, self._jobs, self._closed = threading.RLock(), dict[str, Job](), False
        self._seal = Seal.of(run.folder / "scenarios"), self._rules()
        self._record = Record(project, run, sandbox)

    def start_verify(self, level: int, candidate: str | None = None) -> dict[str, Any]:
        """Freeze the candidate and judge it at every level of the project up to this one."""
        levels = self.project.judging.levels
        if level not in levels:
            raise UsageError(f"This project is judged at levels {', '.join(map(str, levels))}; there is no {level}.")
        with self._turn:
            self._require_free()
            frozen, folder = self._frozen(candidate)
            self._require_allowed(level)
            number = self._record.verification(level, folder, frozen)
            job = Job(f"verify-{number}", "verify", frozen.hash, str(folder), level)
            self._begin(job, self._verify, frozen)
            count = {"iteration": self._record.used(level), "iterations_allowed": self._record.allowed}
        return {"job": job.id, "candidate": frozen.hash, **count}

    def start_bench(self, batches: Sequence[int], candidate: str | None = None) -> dict[str, Any]:
        """Measure the candidate's steps per second at these batches, once hygiene lets it run."""
        if not batches or any(not 1 <= batch <= MOST_BATCH for batch in batches):
            raise UsageError(f"Batches are numbers from 1 to {MOST_BATCH:,}, at least one; got {list(batches)}.")
        with self._turn:
            self._require_free()
            frozen, folder = self._frozen(candidate)
            self._record.candidate(frozen)
            job = Job(f"bench-{len(self._jobs) + 1}", "bench", frozen.hash, str(folder))
            self._begin(job, self._bench, frozen, tuple(batches))
            passed = self._record.passed(frozen.hash)
        return {"job": job.id, "candidate": frozen.hash, "levels_passed": passed}

    def poll(self, job: str) -> dict[str, Any]:
        """The state of a job, as `Job.describe` has it."""
        return self._job(job).describe()

    def next_failure(self, job: str, after: int = 0) -> dict[str, Any]:
        """The facts of failure number `after` + 1 of a job that has ended."""
        found = self._job(job)
        if not found.ended.is_set():
            raise UsageError(f"The job '{job}' is still running; poll it until its state is no longer 'running'.")
        wrong = [one for verdict in found.verdicts for one in failures(verdict)]
        if not 0 <= after <= len(wrong):
            raise UsageError(f"The job '{job}' has {len(wrong)} failures, so `after` is 0 to {len(wrong)}.")
        return {
            "job": job,
            "verdict": found.verdict,
            "failures": len(wrong),
            "failure": wrong[after] if after < len(wrong) else None,
            "next_after": after + 1 if after + 1 < len(wrong) else None,
        }

    def status(self) -> dict[str, Any]:
        """Where the run stands (overclock.status/1), with this session's jobs and iterations."""
        with self._turn:
            return {
                **finite(encode(status(self.run.journal))),
                "run": str(self.run.folder),
                "candidate_folder": str(self.candidate),
                "iterations_used": {str(level): self._record.used(level) for level in self.project.judging.levels},
                "iterations_allowed": self._record.allowed,
                "running": next((job.id for job in self._jobs.values() if not job.ended.is_set()), None),
                "jobs": [job.describe() for job in self._jobs.values()],
            }

    def close(self) -> None:
        """Stop what is under way, and write down how the session ended; once."""
        self._judge.stop()
        with self._turn:
            if self._closed:
                return
            self._closed = True
            for job in self._jobs.values():
                job.ended.wait()  # its thread sees at once that the judge is gone
            self._record.end()

    # ---- jobs, each in a thread ----

    def _begin(self, job: Job, work: Any, *arguments: Any) -> None:
        self._jobs[job.id] = job
        self._last_start = time.monotonic()
        threading.Thread(target=work, args=(job, *arguments), daemon=True).start()

    def _verify(self, job: Job, frozen: Frozen) -> None:
        assert job.level is not None
        with job.working():
            for level in levels_up_to(self.project, job.level):
                if not self._judged(job, frozen, level).passed:
                    return

    def _bench(self, job: Job, frozen: Frozen, batches: tuple[int, ...]) -> None:
        with job.working():
            if self._judged(job, frozen, HYGIENE).passed:
                job.sps = self._judge.bench(frozen, batches, job.progress)
                self.run.journal.append("measured", candidate=frozen.hash, sps=job.sps, device="cpu")

    def _judged(self, job: Job, frozen: Frozen, level: Level) -> Verdict:
        """The verdict of a level; a program that failed it before, in whatever layout, is not judged again."""
        job.progress(f"level {level}", 0, 1)
        verdict = self._record.failed(frozen, level)
        if verdict is None:
            verdict = self._asked(job, frozen, level)
        self._record.verdict(frozen, verdict)
        job.verdicts.append(verdict)
        return verdict

    def _asked(self, job: Job, frozen: Frozen, level: Level) -> Verdict:
        """Judge with episodes that an earlier candidate failed, if there are any, and then with new ones."""
        for seed in failed_seeds(self.run.journal.events()) if level == HELD_OUT else ():
            verdict = self._judge.judge(frozen, level, seed, 1, job.progress)
            if not verdict.passed:
                return verdict
        seed = secrets.randbits(30)
        self._record.seed(frozen, level, seed)
        return self._judge.judge(frozen, level, seed, attempts(self.run.journal.events(), level), job.progress)

    def _job(self, name: str) -> Job:
        with self._turn:
            if name not in self._jobs:
                known = ", ".join(self._jobs) or "none yet"
                raise UsageError(f"There is no job '{name}' in this session; there are: {known}.")
            return self._jobs[name]

    # ---- what has to hold before one starts ----

    def _require_free(self) -> None:
        for job in self._jobs.values():
            if not job.ended.is_set():
                raise UsageError(f"The job '{job.id}' is still running; one at a time. Poll it, then start the next.")
        left = self._last_start + self._pause - time.monotonic()
        if left > 0:
            raise UsageError(f"The last job was started a moment ago; wait {left:.1f} s before the next.")
        if self._seal[0].broken() or self._seal[1] != self._rules():
            raise UsageError("The contract, the project or a scenario has changed; start `overclock mcp` anew.")

    def _require_allowed(self, level: int) -> None:
        used = self._record.used(level)
        if used >= self._record.allowed:
            sentence = f"Level {level} was verified {used} times in this run, which is the limit (limits.iterations)."
            self._record.ask(level, sentence)
            raise UsageError(f"{sentence} {HOW}")

    def _frozen(self, candidate: str | None) -> tuple[Frozen, Path]:
        folder = self.candidate if candidate is None else (self.project.folder / candidate).resolve()
        main = MAIN[self.project.target]
        if not (folder / main).is_file():
            raise UsageError(f"There is no candidate in '{folder}': it has no {main}.")
        if (folder / FILE).exists():
            raise UsageError(f"'{folder}' is a project; a candidate lies in a folder of its own.")
        return frozen_tree(folder), folder

    def _rules(self) -> tuple[bytes, bytes]:
        return self.project.contract_path.read_bytes(), (self.project.folder / FILE).read_bytes()
