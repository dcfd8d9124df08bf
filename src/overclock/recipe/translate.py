"""`translate`: one run of a project from its folder to its report. It puts the parts together and holds no logic."""

import contextlib
import dataclasses
import datetime
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.agents import Agent, by_name
from overclock.recipe.agents.base import Endpoint
from overclock.recipe.agents.command import Wrap
from overclock.recipe.briefing import Briefing
from overclock.recipe.gateway import OFFICIAL, Gateway, Prices, Providers, Upstream
from overclock.recipe.gateway.backend import Backend
from overclock.recipe.gateway.dialects import DIALECTS
from overclock.recipe.judge import Judge, Progress
from overclock.recipe.loop import Options
from overclock.recipe.project import Changes, Project
from overclock.recipe.run import Run
from overclock.recipe.run_cost import spending
from overclock.recipe.run_page import write_run_report
from overclock.recipe.run_recorder import JournalRecorder
from overclock.recipe.run_report import run_report
from overclock.recipe.sandbox import Sandbox
from overclock.recipe.sandbox.rights import GATEWAY_PORT, agent_rights
from overclock.recipe.usage import Usage
from overclock.recipe.work_tree import frozen_tree
from overclock.recipe.workflows import NOTHING, about, loop_for

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "responses": "OPENAI_API_KEY",
    "chat": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
WITHOUT_MODEL = ("manual", "replay", "scripted")
IN_OUR_PROCESS = "api"  # asks a model itself and touches files with our tools alone
UNFENCED = "none"


@dataclasses.dataclass(frozen=True)
class Ways:
    """How a run is carried out; nothing of this decides what is right."""

    sandbox: str = "best"
    agent_sandbox: str = "best"
    upstream: str | None = None  # another address for every kind of model, on loopback say
    program: str | None = None  # where an agent's program lies
    prices: Path | None = None
    options: Options = Options()
    backend: Backend | None = None  # instead of the providers' own addresses
    agent: Agent | None = None  # instead of the project's
    say: Callable[[str], None] = lambda sentence: None
    progress: Progress = lambda what, done, total: None


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a run ended, and its page."""

    outcome: str
    sentence: str
    run: Path
    page: Path
    cost: dict[str, Any]


def translate(
    project: Project,
    run_id: str | None = None,
    ways: Ways = Ways(),
    changes: Changes = Changes(),
    more: Mapping[str, Any] = NOTHING,
) -> Finished:
    """Start a run; `more` is what its run.json says about a workflow of its own (workflows.py)."""
    if project.target != "jax":
        raise UsageError(f"Candidates in {project.target} cannot be judged yet; set target to jax in overclock.toml.")
    now = datetime.datetime.now(datetime.UTC)
    folder = project.folder / "runs" / (run_id or f"{project.name}-{now:%Y%m%d-%H%M%S}")
    changed = changes.of(project)
    with Run.create(folder, about(project, more)) as run:
        shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        return _work(changed, run, ways, changes)


def resume(
    project: Project,
    folder: Path,
    ways: Ways = Ways(),
    note: str = "",
    submitted: bool = False,
    changes: Changes = Changes(),
) -> Finished:
    """Go on with a run; what its journal knows is not done again, and what it was started with still holds.

    `submitted`: a person has done the task that it waits for. `changes` add to those of its start.
    """
    with Run.open(folder, write=True) as run:
        ends = run.journal.events("run ended")
        if ends and ends[-1].facts["outcome"] == "done":
            raise UsageError(f"The run '{run.id}' is done; `overclock report {run.id}` shows it.")
        if submitted and (not ends or ends[-1].facts["outcome"] != "waiting"):
            raise UsageError(f"The run '{run.id}' does not wait for anybody's work; `overclock resume` continues it.")
        starts = run.journal.events("run started")
        if starts:
            changes = changes.over(Changes.from_json(starts[-1].facts["changes"]))
            ways = dataclasses.replace(ways, options=Options(**starts[-1].facts["options"]))
        else:  # killed before it began: its tests may not be there yet
            shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        if _asked(run):
            run.journal.append("help given", note=note, changed=_by_hand(run))
        return _work(changes.of(project), run, ways, changes, submitted)


def _asked(run: Run) -> bool:
    """Whether somebody was asked for help since help was given the last time."""
    newest = [event.kind for event in run.journal.events() if event.kind in ("help asked", "help given")]
    return newest[-1:] == ["help asked"]


def _by_hand(run: Run) -> bool:
    """Whether the candidate is another one than the agent left."""
    frozen = run.journal.events("candidate frozen")
    return bool(frozen) and frozen_tree(run.candidate).hash != frozen[-1].facts["candidate"]


def _work(project: Project, run: Run, ways: Ways, changes: Changes, submitted: bool = False) -> Finished:
    scenarios = run.folder / "scenarios"
    sandbox = sandboxes.by_name(ways.sandbox).name
    judge = Judge(project, scenarios, run.folder / "repro", sandbox, ways.progress)
    with _agent(project, run, ways) as (agent, endpoint, fenced):
        # An agent that nothing holds back can reach the judge, whatever holds its candidates back.
        briefing = Briefing(project, scenarios, sandbox if fenced != UNFENCED else UNFENCED)
        remembered = {"changes": dataclasses.asdict(changes), "candidate_sandbox": sandbox, "agent_sandbox": fenced}
        given = (endpoint, ways.options, submitted, remembered, ways.say)
        outcome = loop_for(project, run, agent, judge, briefing, *given).go()
    report = run_report(run)
    page = write_run_report(run.folder, report)
    return Finished(outcome, report["sentence"], run.folder, page, report["cost"])


@contextlib.contextmanager
def _agent(project: Project, run: Run, ways: Ways) -> Iterator[tuple[Agent, Endpoint | None, str | None]]:
    """The agent, the gateway before its model where it has one, and the sandbox around it where it needs one."""
    if ways.agent is not None and ways.backend is None:
        yield ways.agent, None, None
        return
    kind = project.agent.name.partition(":")[0]
    if ways.agent is None and kind in WITHOUT_MODEL:
        yield _named(project, run, ways, None), None, None
        return
    with contextlib.ExitStack() as stack:
        # A short path of our own: the name of a socket may not be longer than 107 bytes.
        socket = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="overclock-"))) / "gateway"
        token = f"overclock-{secrets.token_hex(16)}"
        gateway = stack.enter_context(
            Gateway(
                ways.backend or _providers(ways),
                prices=Prices.load(ways.prices),
                cap=project.limits.dollars,
                spent=_spent(run),
                recorder=JournalRecorder(run.journal),
                token=token,
                unix_socket=socket,
            )
        )
        if ways.agent is not None or kind == IN_OUR_PROCESS:
            agent = ways.agent or _named(project, run, ways, None)
            yield agent, Endpoint(gateway.base_url("anthropic"), token), None
            return
        chosen = sandboxes.by_name(ways.agent_sandbox)
        wrap, port = (None, None) if chosen.name == UNFENCED else (wrapped(run, chosen, socket), GATEWAY_PORT)
        yield _named(project, run, ways, wrap), Endpoint(gateway.base_url("anthropic", port=port), token), chosen.name


def _spent(run: Run) -> Usage:
    """What the gateway counts from: nothing, a sum, or an amount that nobody knows."""
    cost = spending(run.journal.events()).so_far()
    return Usage(dollars=0.0 if cost["metered"] is None and cost["dollars"] is None else cost["dollars"])


def _named(project: Project, run: Run, ways: Ways, wrap: Wrap | None) -> Agent:
    return by_name(
        project.agent.name,
        run=str(run.folder),
        logs=run.folder / "agent" / "logs",
        home=run.folder / "agent" / "home",
        model=project.agent.model or None,
        program=ways.program,
        wrap=wrap,
    )


def _providers(ways: Ways) -> Providers:
    """The providers' own servers, or one server that speaks for all of them."""
    other = None if ways.upstream is None else ways.upstream.rstrip("/").removesuffix("/v1")
    return Providers({
        dialect: Upstream(
            OFFICIAL[dialect] if other is None else other + DIALECTS[dialect].prefix, os.environ.get(KEYS[dialect])
        )
        for dialect in OFFICIAL
    })  # fmt: skip


def wrapped(run: Run, sandbox: Sandbox, socket: Path) -> Wrap:
    """A sandbox around an agent's command: it writes its candidate and its home, and reaches the gateway alone."""
    home = run.folder.resolve() / "agent" / "home"

    def wrap(argv: list[str], environment: dict[str, str], folder: Path) -> tuple[list[str], dict[str, str]]:
        home.mkdir(parents=True, exist_ok=True)
        rights = agent_rights(
            folder, readable=installed(Path(argv[0])), gateway_socket=socket, environment=environment,
            port=GATEWAY_PORT,
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
