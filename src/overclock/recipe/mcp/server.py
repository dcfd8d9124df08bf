"""Serves the judge as MCP tools on stdio, for somebody who is inside a coding-agent session already.

Judging takes longer than clients wait for a tool, so work is started, then polled. The server has the rights of
whoever started it: it keeps an honest session informed. To hold back a dishonest one, use `overclock translate`, where
the agent works in a sandbox and the judge outside of it.
"""

import contextlib
import datetime
import functools
import inspect
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from overclock.errors import MissingError, OverclockError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.loop.prompts import BATCHES
from overclock.recipe.mcp.process import JUDGE, JudgeProcess
from overclock.recipe.mcp.session import PAUSE_S, Session
from overclock.recipe.project.project import Project
from overclock.recipe.runs.run import ABOUT, Run
from overclock.versions import versions

F = TypeVar("F", bound=Callable[..., Any])
MOST_WAIT_S = 20.0  # of one poll; clients give up on a call after 30 s and more
LOOK_EVERY_S = 0.05

INSTRUCTIONS = """Overclock judges a fast translation (the candidate) of the reference environment '{name}'.
Candidate folder: {candidate}. Target: {target}. Levels: {levels} (1 functions, 2 scenarios, 3 episodes, 4 training).
Edit the candidate, call start_verify(level) from the lowest level up, poll(job, wait_s=20) until its state is not
'running', then next_failure(job) for what differs: module or scenario, field, step, both values, the last matching
state. Repair the cause and verify again. Each verification counts; {iterations} per level are allowed."""


def serve(
    project: Project,
    candidate: Path | None = None,
    run_id: str | None = None,
    sandbox: str = "best",
    pause: float = PAUSE_S,
    judge: str = JUDGE,
) -> Path:
    """Serve until stdin closes or SIGTERM comes; returns the run's folder. `judge` is the judge's entry point."""
    with _run(project, run_id) as run:
        chosen = sandboxes.by_name(sandbox).name
        process = JudgeProcess(project.folder, run.folder / "scenarios", run.folder / "repro", chosen, judge)
        session = Session(project, run, process, chosen, candidate, pause)
        with _closing(session):
            server_of(session).run("stdio")
        return run.folder


def server_of(session: Session) -> Any:
    """An MCPServer with the tools of a session; MissingError without the package mcp."""
    try:
        import anyio
        from mcp.server.mcpserver import MCPServer
    except ImportError as error:
        raise MissingError("`overclock mcp` needs the package mcp, version 2: pip install 'overclock[mcp]'.") from error
    project = session.project
    instructions = INSTRUCTIONS.format(
        name=project.name,
        candidate=session.candidate,
        target=project.target,
        levels=", ".join(map(str, project.judging.levels)),
        iterations=project.limits.iterations,
    )
    server = MCPServer(
        "overclock", instructions=instructions, version=versions().get("overclock", ""), log_level="WARNING"
    )

    @server.tool()
    @_told
    def start_verify(level: int, candidate: str | None = None) -> dict[str, Any]:
        """Freeze the candidate and judge it at every level up to `level`, stopping at the first that fails.

        Returns {job} at once; poll it. `candidate` is a folder, relative to the project; by default the one that
        status() names. Counts as an iteration.
        """
        return session.start_verify(level, candidate)

    @server.tool()
    @_told
    async def poll(job: str, wait_s: float = 0.0) -> dict[str, Any]:
        """How far a job is: state running, done or error, the levels judged so far, the verdict, steps per second.

        Waits up to `wait_s` seconds (20 at most) for its end.
        """
        deadline = time.monotonic() + min(wait_s, MOST_WAIT_S)
        # Not a thread that waits: nobody could interrupt it when the client goes away.
        while (found := session.poll(job))["state"] == "running" and time.monotonic() < deadline:
            await anyio.sleep(LOOK_EVERY_S)
        return found

    @server.tool()
    @_told
    def next_failure(job: str, after: int = 0) -> dict[str, Any]:
        """The localised facts of one failure of a finished verification.

        Module or scenario, field, step, the reference's value and the candidate's, the last matching state, the action.
        Pass the `next_after` of an answer as `after` to get the next one.
        """
        return session.next_failure(job, after)

    @server.tool()
    @_told
    def start_bench(batches: list[int] | None = None, candidate: str | None = None) -> dict[str, Any]:
        """Measure the candidate's steps per second at these batch sizes, by default 32 to 8192.

        Returns {job} at once; poll it.
        """
        return session.start_bench(list(BATCHES) if batches is None else batches, candidate)

    @server.tool()
    @_told
    def status() -> dict[str, Any]:
        """Where this run stands: candidate folder, levels, newest verdicts, iterations used and allowed, jobs."""
        return session.status()

    return server


def _told(tool: F) -> F:
    """Turn an OverclockError of a tool into an error message for its caller."""
    from mcp.server.mcpserver.exceptions import ToolError

    @functools.wraps(tool)
    async def told(*args: Any, **arguments: Any) -> Any:
        try:
            answer = tool(*args, **arguments)
            return await answer if inspect.isawaitable(answer) else answer
        except OverclockError as error:
            raise ToolError(str(error)) from error

    return told  # pyright: ignore[reportReturnType]


def _run(project: Project, run_id: str | None) -> Run:
    """Create a run, or open the named one if it exists."""
    now = datetime.datetime.now(datetime.UTC)
    folder = project.run_folder(run_id or f"mcp-{now:%Y%m%d-%H%M%S}")
    if (folder / ABOUT).is_file():
        return Run.open(folder, write=True)
    run = Run.create(folder, {"project": project.name, "folder": str(project.folder.resolve())})
    shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
    return run


@contextlib.contextmanager
def _closing(session: Session) -> Iterator[None]:
    """A context that closes the session however the client ends the server, by closing its stdin or by SIGTERM.

    After a SIGTERM the thread that reads stdin still waits for a line, and nothing but the end of the process stops it.
    """

    def leave() -> None:
        session.close()
        session.run.close()
        os._exit(0)

    # Not in the handler itself: it may have interrupted a function that holds the journal.
    before = signal.signal(signal.SIGTERM, lambda number, frame: threading.Thread(target=leave).start())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        session.close()
