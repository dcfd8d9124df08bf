"""`translate`: one run of a project from its folder to its report. It puts the parts together and holds no logic."""

import contextlib
import dataclasses
import datetime
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.agents import Agent, by_name
from overclock.recipe.agents.base import Endpoint
from overclock.recipe.agents.command import Wrap
from overclock.recipe.briefing import Briefing
from overclock.recipe.gateway import OFFICIAL, Gateway, Prices, Providers, Upstream
from overclock.recipe.gateway.backend import Backend
from overclock.recipe.judge import Judge, Progress
from overclock.recipe.loop import Loop, Options
from overclock.recipe.project import Project
from overclock.recipe.run import Run
from overclock.recipe.run_cost import spending
from overclock.recipe.run_page import write_run_report
from overclock.recipe.run_recorder import JournalRecorder
from overclock.recipe.run_report import run_report
from overclock.recipe.sandbox.rights import GATEWAY_PORT, agent_rights
from overclock.recipe.usage import Usage

KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "responses": "OPENAI_API_KEY",
    "chat": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
WITHOUT_MODEL = ("manual", "replay", "scripted")
TOKEN = "overclock"  # what agents are given instead of a key


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
    run: Path
    page: Path


def translate(project: Project, run_id: str | None = None, ways: Ways = Ways()) -> Finished:
    """Start a run."""
    now = datetime.datetime.now(datetime.UTC)
    folder = project.folder / "runs" / (run_id or f"{project.name}-{now:%Y%m%d-%H%M%S}")
    with Run.create(folder, {"project": project.name, "folder": str(project.folder.resolve())}) as run:
        shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        return _work(project, run, ways)


def resume(project: Project, folder: Path, ways: Ways = Ways(), note: str = "", submitted: bool = False) -> Finished:
    """Go on with a run; what its journal knows is not done again. `submitted`: a person has worked on the candidate."""
    with Run.open(folder, write=True) as run:
        ends = run.journal.events("run ended")
        if ends and ends[-1].facts["outcome"] == "done":
            raise UsageError(f"The run '{run.id}' is done; `overclock report {run.id}` shows it.")
        if submitted and (not ends or ends[-1].facts["outcome"] != "waiting"):
            raise UsageError(f"The run '{run.id}' does not wait for anybody's work; `overclock resume` continues it.")
        if ends and ends[-1].facts["outcome"] == "stuck":
            run.journal.append("help given", note=note)
        return _work(project, run, ways, submitted)


def _work(project: Project, run: Run, ways: Ways, submitted: bool = False) -> Finished:
    scenarios = run.folder / "scenarios"
    judging_sandbox = sandboxes.by_name(ways.sandbox)
    judge = Judge(project, scenarios, run.folder / "repro", judging_sandbox.name, ways.progress)
    with _agent(project, run, ways) as (agent, endpoint):
        briefing = Briefing(project, scenarios, judging_sandbox.name)
        loop = Loop(project, run, agent, judge, briefing, endpoint, ways.options, submitted, ways.say)
        outcome = loop.go()
    page = write_run_report(run.folder, run_report(run))
    return Finished(outcome, run.folder, page)


@contextlib.contextmanager
def _agent(project: Project, run: Run, ways: Ways) -> Iterator[tuple[Agent, Endpoint | None]]:
    """The agent, and the gateway before its model where it has one."""
    if ways.agent is not None and ways.backend is None:
        yield ways.agent, None
        return
    name = project.agent.name
    if ways.agent is None and name.partition(":")[0] in WITHOUT_MODEL:
        yield _named(project, run, ways, None), None
        return
    socket = run.folder / "gateway.socket"
    spent = spending(run.journal.events()).so_far()["dollars"] or 0.0
    with Gateway(
        ways.backend or _providers(ways),
        prices=Prices.load(ways.prices),
        cap=project.limits.dollars,
        spent=Usage(dollars=spent),
        recorder=JournalRecorder(run.journal),
        token=TOKEN,
        unix_socket=socket,
    ) as gateway:
        wrap, port = _wrap(run, ways, socket)
        endpoint = Endpoint(gateway.base_url("anthropic", port=port), TOKEN)
        yield ways.agent or _named(project, run, ways, wrap), endpoint


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
    keys = {dialect: os.environ.get(variable) for dialect, variable in KEYS.items()}
    return Providers({dialect: Upstream(ways.upstream or OFFICIAL[dialect], keys[dialect]) for dialect in OFFICIAL})


def _wrap(run: Run, ways: Ways, socket: Path) -> tuple[Wrap | None, int | None]:
    """A sandbox around an agent's command: it writes its candidate and its home, and reaches the gateway alone."""
    chosen = sandboxes.by_name(ways.agent_sandbox)
    if chosen.name == "none":
        return None, None
    home = run.folder / "agent" / "home"

    def wrap(argv: list[str], environment: dict[str, str], folder: Path) -> tuple[list[str], dict[str, str]]:
        home.mkdir(parents=True, exist_ok=True)
        program = Path(argv[0]).resolve()
        rights = agent_rights(
            folder, readable=_installed(program), gateway_socket=socket, environment=environment, port=GATEWAY_PORT
        )
        launch = chosen.launch(argv, dataclasses.replace(rights, write=(*rights.write, home.resolve())))
        return launch.argv, launch.environment

    return wrap, GATEWAY_PORT


def _installed(program: Path) -> list[Path]:
    """What a program may need to read of itself: the npm tree it lies in, or its own folder."""
    for parent in program.parents:
        if parent.name == "node_modules":
            return [parent]
    return [program.parent]
