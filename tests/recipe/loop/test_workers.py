"""Who works in a run: as many agents as candidates are made at a time, each with a home and a way to the model."""

import contextlib
import dataclasses
import json
import socket
import sys

import pytest
from recipe.scripted_run import small_project

from overclock.errors import MissingError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.agents import Task
from overclock.recipe.agents.parallel import side_by_side
from overclock.recipe.gateway import Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.workers import workers, wrapped
from overclock.recipe.project.project import Changes
from overclock.recipe.runs.run import Run
from overclock.recipe.sandbox import by_name
from overclock.recipe.sandbox.plan import Plan
from overclock.recipe.sandbox.rights import GATEWAY_PORT

# Stays for a moment, so that both are there at the same time.
PROGRAM = f"""#!{sys.executable}
import os, pathlib, sys, time, urllib.error, urllib.request
if "--version" in sys.argv:
    print("99.0.0")
    sys.exit(0)
try:
    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/nothing", timeout=20)
    answered = "200"
except urllib.error.HTTPError as error:
    answered = str(error.code)
except OSError as error:
    answered = f"not reached: {{error}}"
pathlib.Path("env.py").write_text(os.environ["HOME"] + " " + answered)
time.sleep(0.3)
"""


@pytest.fixture
def hired(tmp_path):
    project = small_project(tmp_path / "pond")
    program = tmp_path / "tools" / "qwen"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    model = ScriptedModel(lambda prompt: Turn(text="hello"), tmp_path, Tokens(input=1, output=1))

    def hire(candidates, sandbox):
        try:
            by_name(sandbox)
        except MissingError as error:
            pytest.skip(str(error))
        changed = Changes("qwen", candidates=candidates).of(project)
        return changed, RunOptions(agent_sandbox=sandbox, backend=model, program=str(program))

    return hire


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock", "landlock on our network", "none"])
def test_agents_side_by_side_have_a_home_each_and_all_reach_the_gateway(hired, tmp_path, monkeypatch, sandbox):
    sandbox, _, shared = sandbox.partition(" ")
    project, options = hired(2, sandbox)
    if shared:  # as on machines that give nobody a network namespace: all listen on ports of the machine
        fence = dataclasses.replace(by_name(sandbox), own_network=False)
        monkeypatch.setattr(sandboxes, "by_name", lambda name: fence)
    folders, ended = [tmp_path / "1", tmp_path / "2"], []
    for folder in folders:
        folder.mkdir()
    tasks = [Task(f"t.{folder.name}", "translate", "prompt", folder, 60.0) for folder in folders]
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # another program has the port that one might think of first
            stack.enter_context(socket.create_server(("127.0.0.1", GATEWAY_PORT)))
        run = stack.enter_context(Run.create(tmp_path / "run", {}))
        found = stack.enter_context(workers(project, run, options))
        assert (len(found.agents), found.sandbox) == (2, sandbox)
        side_by_side(found.agents, tasks, found.endpoint, lambda task, work: ended.append(work.reason))
    written = [(folder / "env.py").read_text().split(" ", 1) for folder in folders]
    homes = tmp_path.resolve() / "run" / "agent"
    assert {home for home, _ in written} == {str(homes / "home"), str(homes / "home-2")}
    assert [answer for _, answer in written] == ["200", "200"], ended


INTRUDING_AGENT = f"""#!{sys.executable}
import json, pathlib, sys
if "--version" in sys.argv:
    print("99.0.0")
    sys.exit(0)
for place in json.loads(pathlib.Path("places.json").read_text()):
    try:
        pathlib.Path(place, "here.txt").write_text("mine")
    except OSError:
        pass
"""


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
def test_an_agent_writes_its_candidate_and_its_home_and_nothing_else_of_the_project(hired, tmp_path, sandbox):
    project, options = hired(1, sandbox)
    (tmp_path / "tools" / "qwen").write_text(INTRUDING_AGENT)
    with Run.create(project.folder / "runs" / "1", {}) as run, workers(project, run, options) as found:
        agent = run.folder.resolve() / "agent"
        places = [run.candidate, agent / "home", agent, agent / "logs", run.folder, project.folder, project.scenarios]
        (agent / "logs").mkdir(parents=True)
        (run.candidate / "places.json").write_text(json.dumps([str(place.resolve()) for place in places]))
        found.agents[0].work(Task("t", "translate", "prompt", run.candidate, 60.0), found.endpoint)
    assert [place for place in places if (place / "here.txt").exists()] == places[:2]


def test_an_agent_s_sandbox_ends_it_when_nobody_else_is_left_to_do_so(hired, tmp_path, monkeypatch):
    project, options = hired(1, "none")
    plans = []

    def seen(*arguments):
        wrap = wrapped(*arguments)

        def wrapping(*command):
            argv, environment = wrap(*command)
            plans.append(Plan.from_json(next(text for text in argv if text.startswith("{"))))
            return argv, environment

        return wrapping

    monkeypatch.setattr("overclock.recipe.loop.workers.wrapped", seen)
    with Run.create(tmp_path / "run", {}) as run, workers(project, run, options) as found:
        found.agents[0].work(Task("t", "translate", "prompt", run.candidate, 60.0), found.endpoint)
    assert [plan.wall_seconds for plan in plans] == [project.limits.agent_seconds + 60.0]
