"""Who works in a run: the project's agents, the gateway before their model, and the sandbox around them."""

import contextlib
import dataclasses
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from overclock.errors import MissingError, UsageError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.agents import Agent, asks_in, by_name
from overclock.recipe.agents.base import Endpoint, Task, Work
from overclock.recipe.agents.command import Wrap
from overclock.recipe.gateway import OFFICIAL, Cassette, Gateway, Prices, Providers, Upstream
from overclock.recipe.gateway.dialects import DIALECTS
from overclock.recipe.gateway.usage import Usage
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.project.project import Project
from overclock.recipe.runs.cost import spending
from overclock.recipe.runs.elapsed import seconds_left
from overclock.recipe.runs.recorder import JournalRecorder, recorded
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.shared_spending import SharedSpending
from overclock.recipe.sandbox import Sandbox
from overclock.recipe.sandbox.forward import free_ports
from overclock.recipe.sandbox.rights import agent_rights

if TYPE_CHECKING:
    from overclock.translate.program import Program

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "responses": "OPENAI_API_KEY",
    "chat": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
PERSON = "manual"
WITHOUT_MODEL = (PERSON, "replay", "scripted")
BUILT_IN = "builtin"
IN_OUR_PROCESS = "api"  # asks a model itself and touches files with our tools alone
LATER_S = 60.0  # an agent is stopped at its wall clock by us, and so much later by its sandbox if we are gone


@dataclasses.dataclass(frozen=True)
class Workers:
    """As many agents as candidates are made side by side; `sandbox` is None where an agent starts no program."""

    agents: tuple[Agent, ...]
    endpoint: Endpoint | None = None
    sandbox: str | None = None


def require_workers(project: Project, options: RunOptions) -> None:
    """Refuse agents that could not do what is asked of them: before the run begins, not in its first task."""
    name = project.agent.name
    if options.agent is not None:
        return
    if name == PERSON and project.agent.candidates > 1:
        raise UsageError(
            f"A person works on one candidate at a time; set candidates to 1, or choose another agent than '{PERSON}'."
        )
    if options.recorded is not None and name.partition(":")[0] != IN_OUR_PROCESS:
        raise UsageError(  # a program's requests and answers are full of its session, its version and its whole paths
            f"Recorded answers can be repeated for api:openai:MODEL and api:anthropic:MODEL, not for '{name}'; "
            f"`--agent replay:{options.recorded}` repeats the work of any agent."
        )
    elsewhere = options.backend or options.upstream or options.recorded
    dialect = None if elsewhere else asks_in(name)
    if dialect is not None and not os.environ.get(KEYS[dialect]):
        raise MissingError(
            f"The agent '{name}' asks a model at {OFFICIAL[dialect]}, which needs a key: set {KEYS[dialect]}, or give "
            "another address with --upstream."
        )


@contextlib.contextmanager
def workers(project: Project, run: Run, options: RunOptions, program: "Program | None" = None) -> Iterator[Workers]:
    """The agents that the project names, or `options.agent` as often as it is needed.

    `program` is what the built-in translator made of the reference already.
    """
    count, kind = project.agent.candidates, project.agent.name.partition(":")[0]
    given = None if options.agent is None else (options.agent,) * count
    if given is not None and options.backend is None:
        yield Workers(given)
        return
    if given is None and kind == BUILT_IN:
        from overclock.recipe.agents.builtin_agent import (
            BuiltInAgent,  # it runs the reference, which nobody else here needs
        )

        yield Workers((BuiltInAgent(project, program),) * count)
        return
    if given is None and kind in WITHOUT_MODEL:
        yield Workers(_named(project, run, options))
        return
    with contextlib.ExitStack() as stack:
        # A short path of our own: the name of a socket may not be longer than 107 bytes.
        socket = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="overclock-"))) / "gateway"
        token = f"overclock-{secrets.token_hex(16)}"
        recording = None if options.recorded is None else _recording(options.recorded, run)
        gateway = stack.enter_context(
            Gateway(
                recording or options.backend or _providers(options),
                prices=Prices.load(options.prices) if recording is None else Prices((), None),  # nobody is paid
                cap=project.limits.dollars if recording is None else None,
                max_calls=project.limits.requests if recording is None else None,
                max_tokens=project.limits.tokens if recording is None else None,
                seconds=seconds_left(project.limits.wall_seconds, run.journal.events()),
                sharing=SharedSpending(run.journal.path) if recording is None else None,
                spent=_spent(run),
                recorder=JournalRecorder(run.journal),
                token=token,
                unix_socket=socket,
            )
        )
        if given is not None or kind == IN_OUR_PROCESS:
            yield Workers(given or _named(project, run, options), Endpoint(gateway.base_url("anthropic"), token))
            return
        chosen, ports = sandboxes.by_name(options.agent_sandbox), free_ports(count)
        ends = [Endpoint(gateway.base_url("anthropic", port=port), token) for port in ports]
        seconds = project.limits.agent_seconds + LATER_S
        fenced = _named(project, run, options, [partial(wrapped, chosen, socket, port, seconds) for port in ports])
        yield Workers(tuple(map(_At, fenced, ends)), ends[0], chosen.name)


class _At:
    """An agent whose way to the gateway is its own: a sandbox may share this machine's ports with the others."""

    def __init__(self, agent: Agent, endpoint: Endpoint) -> None:
        self.name, self._agent, self._endpoint = agent.name, agent, endpoint

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """As `Agent.work`, at the endpoint of this agent."""
        return self._agent.work(task, self._endpoint)

    def stop(self) -> None:
        """End the running call, where the agent can be stopped."""
        getattr(self._agent, "stop", lambda: None)()


def _spent(run: Run) -> Usage:
    """What the gateway counts from: nothing, a sum, or an amount that nobody knows."""
    cost = spending(run.journal.events()).so_far()
    return Usage(
        calls=cost.calls or 0, input_tokens=cost.tokens or 0,
        dollars=0.0 if cost.metered is None and cost.dollars is None else cost.dollars,
    )  # fmt: skip


def _named(
    project: Project, run: Run, options: RunOptions, wraps: Sequence[Callable[[Path], Wrap]] | None = None
) -> tuple[Agent, ...]:
    """The project's agent, once for every candidate that is made at a time, each with a home of its own.

    `wraps` put a sandbox around each, given its home.
    """
    numbers = range(project.agent.candidates)
    homes = [run.folder.resolve() / "agent" / (f"home-{number + 1}" if number else "home") for number in numbers]
    return tuple(
        by_name(
            project.agent.name,
            run=str(run.folder),
            logs=run.folder / "agent" / "logs",
            home=homes[number],
            model=project.agent.model or None,
            program=options.program,
            wrap=None if wraps is None else wraps[number](homes[number]),
        )
        for number in numbers
    )


def _recording(folder: Path, run: Run) -> Cassette:
    """What a model answered in another run."""
    with Run.open(folder) as other:
        calls = recorded(other.journal)
    if not calls:
        raise UsageError(f"The run '{other.id}' asked no model through the gateway, so there are no answers to repeat.")
    return Cassette(calls, moved=(str(folder.resolve()), str(run.folder.resolve())))


def _providers(options: RunOptions) -> Providers:
    """The providers' own servers, or one server that speaks for all of them."""
    other = None if options.upstream is None else options.upstream.rstrip("/").removesuffix("/v1")
    return Providers({
        dialect: Upstream(
            OFFICIAL[dialect] if other is None else other + DIALECTS[dialect].prefix, os.environ.get(KEYS[dialect])
        )
        for dialect in OFFICIAL
    })  # fmt: skip


def wrapped(sandbox: Sandbox, socket: Path, port: int, seconds: float, home: Path) -> Wrap:
    """A sandbox around an agent's command: it writes its candidate and its home, and reaches the gateway alone."""

    def wrap(argv: list[str], environment: dict[str, str], folder: Path) -> tuple[list[str], dict[str, str]]:
        home.mkdir(parents=True, exist_ok=True)
        rights = agent_rights(
            folder, readable=installed(Path(argv[0])), gateway_socket=socket, environment=environment, port=port,
            wall_seconds=seconds,
        )  # fmt: skip
        launch = sandbox.launch(argv, dataclasses.replace(rights, write=(*rights.write, home)))
        return launch.argv, launch.environment

    return wrap


def installed(program: Path) -> list[Path]:
    """What a program may need to read of itself: the npm tree it lies in or its own folder, also where links lead."""
    return list(dict.fromkeys(
        next((parent for parent in path.parents if parent.name == "node_modules"), path.parent)
        for path in (program, program.resolve())
    ))  # fmt: skip
