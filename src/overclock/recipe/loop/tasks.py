"""The agent's part of a run's steps: tasks, sent once, alone or as several candidates side by side."""

import contextlib
import dataclasses
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from overclock.recipe.agents.base import Task, Work
from overclock.recipe.agents.parallel import side_by_side
from overclock.recipe.agents.worktrees import worktrees
from overclock.recipe.judging.hygiene.frozen import Frozen, Seal, tree_hash
from overclock.recipe.judging.rust import target as rust
from overclock.recipe.judging.verdict import Level
from overclock.recipe.loop.diary import Diary
from overclock.recipe.loop.parts import Parts, Stop
from overclock.recipe.project.project import ModulePlan
from overclock.recipe.runs.cost import REFUSED as PAYMENT_REQUIRED
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.past import REFUSED
from overclock.recipe.runs.words import level_words
from overclock.recipe.runs.work_tree import copy_tree, frozen_tree, put_frozen
from overclock.recipe.runs.writing import write_candidate

WORKTREES = "candidates"  # of a run's folder, while candidates are made side by side


@dataclasses.dataclass(frozen=True)
class Call:
    """What is asked of the agent; `prompt` renders it for a task's id."""

    name: str
    purpose: str
    level: int
    module: ModulePlan | None
    iteration: int
    prompt: Callable[[str], str]
    ranked_by: Sequence[Level]  # the levels that decide between candidates made side by side
    part: str | None = None  # of a module but the last: there is no environment yet


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One of several candidates; `folder` is where it was made, unless that was before the run was resumed."""

    frozen: Frozen
    folder: Path | None = None


class Tasks:
    """The tasks of one run."""

    def __init__(self, parts: Parts, diary: Diary) -> None:
        self._parts, self._diary = parts, diary

    def candidates(self) -> int:
        """How many the next task asks for: as many as there are agents, or as many as it did before a kill."""
        sent = self._diary.past.next("task sent")
        if sent is not None:
            return sent.get("candidates", 1)
        return 1 if self._parts.submitted else len(self._parts.agents)  # a person has made one, and in the run's folder

    def alone(self, task: str, call: Call, start: Frozen | None) -> Frozen:
        """One call of the agent, in the run's own folder, and the candidate that it leaves."""
        if self._diary.past.take("task sent", task=task) is None:
            self._require_budget()
            ended = self._work(task, call, start)
        else:
            ended = self._diary.past.take("task ended", task=task)
            assert ended is not None, "a past has no task without an end"
        self._require_accepted([ended])
        return self._diary.freeze(task)

    @contextlib.contextmanager
    def several(self, task: str, call: Call, count: int, start: Frozen | None) -> Iterator[list[Attempt]]:
        """`count` calls of the agent, each from the same files in a folder of its own; those go with the context."""
        known: dict[str, Attempt] = {}
        while self._diary.past.next("task sent") is not None:
            one = (self._diary.past.take("task sent", group=task) or {})["task"]
            self._diary.past.take("task ended", task=one)
            known[one] = Attempt(self._diary.frozen(self._diary.past.take("candidate frozen", task=one) or {}))
        names = [f"{task}.{number}" for number in range(1, count + 1)]
        missing = [name for name in names if name not in known]
        place = self._parts.run.folder / WORKTREES
        with contextlib.ExitStack() as stack:
            if missing:
                self._require_budget()
                self.lay_out(start)
                self._prepare()
                folders = stack.enter_context(worktrees(self._parts.run.candidate, place, len(missing)))
                sent = [
                    self._send(name, call, folder, group=task, candidates=count)
                    for name, folder in zip(missing, folders, strict=True)
                ]
                known |= self._work_side_by_side(sent)
            else:
                shutil.rmtree(place, ignore_errors=True)  # left by a run that was killed
            yield [known[name] for name in names]

    def keep(self, attempt: Attempt) -> None:
        """Let the run's own folder hold one of several candidates; with its author's tests and notes where they are."""
        if attempt.folder is None:
            self.lay_out(attempt.frozen)
        else:
            copy_tree(attempt.folder, self._parts.run.candidate)

    def lay_out(self, candidate: Frozen | None) -> None:
        """Let the run's own folder hold a candidate, None is the empty one; a kill may have left anything in it.

        Its author's tests and notes stay, unless the work begins with nothing.
        """
        folder, wanted = self._parts.run.candidate, tree_hash({}) if candidate is None else candidate.hash
        if frozen_tree(folder).hash == wanted:
            return
        if candidate is None or not candidate.files or not put_frozen(candidate, folder):
            self._parts.run.restore(None if candidate is None else wanted)

    # ---- at work ----

    def _send(self, task: str, call: Call, folder: Path, **more: Any) -> Task:
        text = call.prompt(task)
        self._diary.journal.append(
            "task sent", task=task, purpose=call.purpose, level=call.level, iteration=call.iteration,
            module=None if call.module is None else call.module.name,
            prompt=self._diary.journal.store(text.encode()), **more,
        )  # fmt: skip
        return Task(task, call.purpose, text, folder, self._parts.project.limits.agent_seconds, None, call.iteration)

    def _work(self, task: str, call: Call, start: Frozen | None) -> dict[str, Any]:
        began, folder = time.monotonic(), self._parts.run.candidate
        submitted, self._parts.submitted = self._parts.submitted, False
        if not submitted:
            self.lay_out(start)
        self._prepare()
        # What the agent begins with: if it is a person, who stops and goes on later, only this shows what is theirs.
        sent = self._send(task, call, folder, start=None if submitted else frozen_tree(folder).hash)
        if submitted:
            work = Work("finished", "It was submitted.")
        else:
            self._parts.say(f"{self._parts.agent}: {task}")
            with self._sealed():
                work = self._parts.agents[0].work(sent, self._parts.endpoint)
        if work.ended == "waiting":
            raise Stop("waiting", work.reason)
        return self._end(sent, work, time.monotonic() - began)

    def _work_side_by_side(self, tasks: Sequence[Task]) -> dict[str, Attempt]:
        began, attempts, ends = time.monotonic(), dict[str, Attempt](), list[dict[str, Any]]()

        def ended(task: Task, work: Work) -> None:
            frozen = frozen_tree(task.folder)
            write_candidate(self._diary.journal, frozen, task.id)  # before its end: see Past
            ends.append(self._end(task, work, time.monotonic() - began))
            attempts[task.id] = Attempt(frozen, task.folder)

        self._parts.say(f"{self._parts.agent}: {', '.join(task.id for task in tasks)}, side by side")
        with self._sealed():
            side_by_side(self._parts.agents, tasks, self._parts.endpoint, ended)
        self._require_accepted(ends)
        return attempts

    def _end(self, task: Task, work: Work, seconds: float) -> dict[str, Any]:
        usage = None if work.usage is None else dataclasses.asdict(work.usage)
        return self._diary.journal.append(
            "task ended", task=task.id, ended=work.ended, reason=work.reason, seconds=round(seconds, 2), usage=usage,
            session=work.session, text=self._diary.journal.store(work.text.encode(errors="replace")),
            status=work.status,
        ).facts  # fmt: skip

    def _prepare(self) -> None:
        if self._parts.project.target == "rust":
            rust.prepare(self._parts.project, self._parts.run.candidate)

    @contextlib.contextmanager
    def _sealed(self) -> Iterator[None]:
        """What the judge reads must be the same after an agent has worked."""
        contract = self._parts.project.contract_path
        seal, text = Seal.of(self._parts.briefing.scenarios), contract.read_bytes()
        yield
        if seal.broken() or text != contract.read_bytes():
            raise Stop("stopped", f"The contract or a scenario changed while {self._parts.agent} worked.")

    # ---- money ----

    def _require_accepted(self, ends: Sequence[dict[str, Any]]) -> None:
        for ended in ends:
            if ended["ended"] == REFUSED and self._for_money(ended):
                raise Stop("out of budget", f"The model takes no further calls: {ended['reason']}{self._spent()}")
            if ended["ended"] == REFUSED:
                said = ended["reason"].rstrip(". ")
                if self._parts.endpoint is None:  # there is no model whose key could be wrong: it is beyond the agent
                    other = f"`overclock resume {self._parts.run.folder} --agent NAME` goes on with another agent"
                    raise Stop("stuck", f"{self._left_open()}{said}. {other}.")
                raise Stop("stopped", f"{said}. Put that right (the key, the model's name), then resume.")

    def _left_open(self) -> str:
        """What the judge found last, where that is what nobody repairs."""
        judged = self._diary.journal.events("judged")
        found = judged[-1].facts["failure"] if judged else None
        return f"{level_words(judged[-1].facts['level'])}: {found['sentence'].rstrip('. ')}. " if found else ""

    def _for_money(self, ended: dict[str, Any]) -> bool:
        """Whether a refusal is about money: by what the agent says, or by what the gateway told it and it does not."""
        journal = self._diary.journal
        sent = [event.number for event in journal.events("task sent") if event.facts["task"] == ended["task"]]
        closed = [event.facts["status"] for event in journal.events("call closed", after=sent[-1])]
        return PAYMENT_REQUIRED in (ended.get("status"), *closed)

    def _require_budget(self) -> None:
        """For agents that only report about themselves; the gateway refuses calls by itself."""
        cap, spent = self._parts.project.limits.dollars, self._dollars()
        if cap is not None and spent is not None and spent >= cap:
            raise Stop("out of budget", f"The budget is spent; raise it and resume to go on.{self._spent()}")

    def _spent(self) -> str:
        cap, spent = self._parts.project.limits.dollars, self._dollars()
        known = "What was spent is not known" if spent is None else f"${spent:.4f} are spent"
        return f" {known}{'' if cap is None else f' of ${cap:.2f}'}."

    def _dollars(self) -> float | None:
        return spending(self._diary.journal.events()).so_far()["dollars"]
