"""The tasks of a run: each is sent to the agent once, in the run's own folder, and its end is written down."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from overclock.recipe.agents.base import Task, Work
from overclock.recipe.agents.transport import BUSY
from overclock.recipe.judging.hygiene.frozen import Frozen, Seal, tree_hash
from overclock.recipe.judging.rust import target as rust
from overclock.recipe.judging.verdict import Level
from overclock.recipe.loop.context import RunContext, Stop
from overclock.recipe.loop.provider import unanswered
from overclock.recipe.project.project import ModulePlan
from overclock.recipe.runs.cost import REFUSED as PAYMENT_REQUIRED
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.elapsed import seconds_left, worked_seconds
from overclock.recipe.runs.session import JournalSession
from overclock.recipe.runs.vocabulary import REFUSED, Facts
from overclock.recipe.runs.words import level_words
from overclock.recipe.runs.work_tree import frozen_tree, put_frozen


@dataclasses.dataclass(frozen=True)
class TaskRequest:
    """What is asked of the agent; `prompt` renders it for a task's id."""

    name: str
    purpose: str
    level: int
    module: ModulePlan | None
    iteration: int
    prompt: Callable[[str], str]
    ranked_by: Sequence[Level]  # the levels that decide between candidates made side by side
    part: str | None = None  # of a module but the last: there is no environment yet


class Tasks:
    """The tasks of one run."""

    def __init__(self, context: RunContext, session: JournalSession) -> None:
        self._context, self._session = context, session

    def candidates(self) -> int:
        """How many the next task asks for: as many as there are agents, or as many as it did before a kill."""
        sent = self._session.peek("task sent")
        if sent is not None:
            return sent.get("candidates", 1)
        return (
            1 if self._context.submitted else len(self._context.agents)
        )  # a person has made one, and in the run's folder

    def alone(self, task: str, request: TaskRequest, start: Frozen | None) -> Frozen:
        """One call of the agent, in the run's own folder, and the candidate that it leaves."""
        if self._session.take("task sent", task=task) is None:
            self.require_budget()
            ended = self._work(task, request, start)
        else:
            ended = self._session.take("task ended", task=task)
            assert ended is not None, "a past has no task without an end"
        self.require_accepted([ended])
        return self._session.freeze(task)

    def lay_out(self, candidate: Frozen | None) -> None:
        """Let the run's own folder hold a candidate, None is the empty one; a kill may have left anything in it.

        Its author's tests and notes stay, unless the work begins with nothing.
        """
        folder, wanted = self._context.run.candidate, tree_hash({}) if candidate is None else candidate.hash
        if frozen_tree(folder).hash == wanted:
            return
        if candidate is None or not candidate.files or not put_frozen(candidate, folder):
            self._context.run.restore(None if candidate is None else wanted)

    # ---- at work ----

    def send(self, task: str, request: TaskRequest, folder: Path, **more: Any) -> Task:
        """Write down that a task is sent, with `more` facts, and return it as an agent takes it."""
        text = request.prompt(task)
        self._session.journal.append(
            "task sent", task=task, purpose=request.purpose, level=request.level, iteration=request.iteration,
            module=None if request.module is None else request.module.name,
            prompt=self._session.journal.store(text.encode()), **more,
        )  # fmt: skip
        limits = self._context.project.limits
        left = seconds_left(limits.wall_seconds, self._session.journal.events())
        seconds = limits.agent_seconds if left is None else min(limits.agent_seconds, left)
        return Task(task, request.purpose, text, folder, seconds, None, request.iteration)

    def _work(self, task: str, request: TaskRequest, start: Frozen | None) -> Facts:
        began, folder = time.monotonic(), self._context.run.candidate
        submitted, self._context.submitted = self._context.submitted, False
        if not submitted:
            self.lay_out(start)
        self.prepare()
        # What the agent begins with: if it is a person, who stops and goes on later, only this shows what is theirs.
        sent = self.send(task, request, folder, start=None if submitted else frozen_tree(folder).hash)
        if submitted:
            work = Work("finished", "It was submitted.")
        else:
            self._context.options.say(f"{self._context.agent}: {task}")
            with self.sealed():
                work = self._context.agents[0].work(sent, self._context.endpoint)
        if work.ended == "waiting":
            raise Stop("waiting", work.reason)
        return self.end(sent, work, time.monotonic() - began)

    def end(self, task: Task, work: Work, seconds: float) -> Facts:
        """Write down how an agent's work on a task ended."""
        work = unanswered(work, task.id, self._session.journal)
        usage = None if work.usage is None else dataclasses.asdict(work.usage)
        return self._session.journal.append(
            "task ended", task=task.id, ended=work.ended, reason=work.reason, seconds=round(seconds, 2), usage=usage,
            session=work.session, text=self._session.journal.store(work.text.encode(errors="replace")),
            status=work.status,
        ).facts  # fmt: skip

    def prepare(self) -> None:
        """Put into the run's folder what a translation to Rust begins with."""
        if self._context.project.target == "rust":
            rust.prepare(self._context.project, self._context.run.candidate)

    @contextlib.contextmanager
    def sealed(self) -> Iterator[None]:
        """Stop the run if what the judge reads is not the same after an agent has worked."""
        contract = self._context.project.contract_path
        seal, text = Seal.of(self._context.briefing.scenarios), contract.read_bytes()
        yield
        if seal.broken() or text != contract.read_bytes():
            raise Stop("stopped", f"The contract or a scenario changed while {self._context.agent} worked.")

    def trouble(self) -> str:
        """How the last task ended, in words, if that was not by itself; otherwise empty."""
        ends = self._session.journal.events("task ended")
        last = ends[-1].facts if ends else None
        return last["reason"] if last is not None and last["ended"] in ("crashed", "timeout") else ""

    # ---- money ----

    def require_accepted(self, ends: Sequence[Facts]) -> None:
        """Stop the run where the model's side refused a task."""
        for ended in ends:
            if ended["ended"] == REFUSED and self._for_money(ended):
                raise Stop("out of budget", f"The model takes no further calls: {ended['reason']}{self._spent()}")
            if ended["ended"] == REFUSED and ended.get("status") in BUSY:
                said = ended["reason"].rstrip(". ")
                raise Stop("stopped", f"{said}. `overclock resume {self._context.run.folder}` asks it again.")
            if ended["ended"] == REFUSED:
                said = ended["reason"].rstrip(". ")
                if self._context.endpoint is None:  # there is no model whose key could be wrong: it is beyond the agent
                    other = f"`overclock resume {self._context.run.folder} --agent NAME` goes on with another agent"
                    raise Stop("stuck", f"{self._left_open()}{said}. {other}.")
                raise Stop("stopped", f"{said}. Put that right (the key, the model's name), then resume.")

    def _left_open(self) -> str:
        """What the judge found last, where that is what nobody repairs."""
        judged = self._session.journal.events("judged")
        found = judged[-1].facts["failure"] if judged else None
        return f"{level_words(judged[-1].facts['level'])}: {found['sentence'].rstrip('. ')}. " if found else ""

    def _for_money(self, ended: Facts) -> bool:
        """Whether a refusal is about money: by what the agent says, or by what the gateway told it and it does not."""
        journal = self._session.journal
        sent = [event.number for event in journal.events("task sent") if event.facts["task"] == ended["task"]]
        closed = [event.facts["status"] for event in journal.events("call closed", after=sent[-1])]
        return PAYMENT_REQUIRED in (ended.get("status"), *closed)

    def require_budget(self) -> None:
        """Stop the run if the budget is spent: for agents that report their own costs, which no gateway can refuse."""
        limits, events = self._context.project.limits, self._session.journal.events()
        cost = spending(events).so_far()
        if limits.dollars is not None and cost.dollars is not None and cost.dollars >= limits.dollars:
            raise Stop("out of budget", f"The budget is spent; raise it and resume to go on.{self._spent()}")
        for limit, used, what in (
            (limits.tokens, cost.tokens, "tokens"),
            (limits.requests, cost.calls, "model calls"),
            (limits.wall_seconds, worked_seconds(events), "seconds of work"),
        ):
            if limit is not None and used is not None and used >= limit:
                raise Stop("out of budget", f"The limit of {limit:,} {what} is reached; raise it and resume to go on.")

    def _spent(self) -> str:
        cap, spent = self._context.project.limits.dollars, self._dollars()
        known = "What was spent is not known" if spent is None else f"${spent:.4f} are spent"
        return f" {known}{'' if cap is None else f' of ${cap:.2f}'}."

    def _dollars(self) -> float | None:
        return spending(self._session.journal.events()).so_far().dollars
