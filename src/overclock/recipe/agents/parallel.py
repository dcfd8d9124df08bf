"""Several candidates at once, each in a git worktree of its own; the best one that holds is merged back."""

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from overclock.recipe.agents.base import Agent, Endpoint, Task, Work
from overclock.recipe.agents.worktrees import advance, base_of, worktrees
from overclock.recipe.usage import Usage, total

Judge = Callable[[Path, Work], float | None]


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One agent's attempt; `score` is None where the judge did not accept it."""

    number: int
    work: Work
    score: float | None
    commit: str


@dataclasses.dataclass(frozen=True)
class Chosen:
    """All attempts, and the one that was merged (None where the judge accepted none)."""

    best: Candidate | None
    candidates: tuple[Candidate, ...]

    @property
    def usage(self) -> Usage | None:
        """Of all attempts; None where one of them does not say."""
        usages = [candidate.work.usage for candidate in self.candidates]
        return total(usage for usage in usages if usage is not None) if None not in usages else None


def candidates(agents: Sequence[Agent], task: Task, endpoint: Endpoint | None, judge: Judge) -> Chosen:
    """Let every agent work on the task in its own worktree of the repository `task.folder`, and merge the best.

    `judge(folder, work)` gives a score (more is better) or None for a candidate that does not hold; it is called in
    the caller's thread, for one frozen candidate after the other. Of equals the first agent's is taken, so the choice
    does not depend on who was quicker. An exception of an agent or of the judge stops the others and is passed on;
    no worktree is left and the repository is as it was.
    """
    base = base_of(task.folder)
    with worktrees(task.folder, len(agents)) as trees, ThreadPoolExecutor(max(len(agents), 1)) as pool:
        try:
            futures = []
            for number, (agent, tree) in enumerate(zip(agents, trees, strict=True)):
                own = dataclasses.replace(task, id=f"{task.id}.{number}", folder=tree.folder)
                futures.append(pool.submit(agent.work, own, endpoint))
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()
            judged = []
            for number, (future, tree) in enumerate(zip(futures, trees, strict=True)):
                commit = tree.freeze(base, f"{task.id}: candidate {number} by {agents[number].name}")
                judged.append(Candidate(number, future.result(), judge(tree.folder, future.result()), commit))
        except BaseException:  # also an interrupt: the agents would work on, for nobody
            for agent in agents:
                getattr(agent, "stop", lambda: None)()
            raise
        accepted = [candidate for candidate in judged if candidate.score is not None]
        best = max(accepted, key=lambda candidate: (candidate.score, -candidate.number), default=None)
        if best is not None:
            advance(task.folder, best.commit)
    return Chosen(best, tuple(judged))
