"""Runs several agents at the same time, each on a task and in a folder of its own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from overclock.recipe.agents.base import Agent, Endpoint, Task, Work


def side_by_side(
    agents: Sequence[Agent], tasks: Sequence[Task], endpoint: Endpoint | None, ended: Callable[[Task, Work], None]
) -> None:
    """Run all tasks; each agent works on one at a time.

    `ended` is called for each task as it ends, in the caller's thread. An exception of an agent or of `ended` stops
    the others and is passed on.
    """
    free: SimpleQueue[Agent] = SimpleQueue()
    for agent in agents:
        free.put(agent)

    def work(task: Task) -> Work:
        agent = free.get()
        try:
            return agent.work(task, endpoint)
        finally:
            free.put(agent)

    with ThreadPoolExecutor(len(agents)) as pool:
        futures = {pool.submit(work, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                ended(futures[future], future.result())
        except BaseException:  # also an interrupt: the agents would work on, for nobody
            for future in futures:
                future.cancel()
            for agent in agents:
                getattr(agent, "stop", lambda: None)()
            raise
