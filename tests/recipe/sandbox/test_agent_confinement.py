"""An agent's program that tries to write outside its folder can write its candidate and nothing else of the project."""

import json
import sys

import pytest
from recipe.scripted_run import small_project

from overclock.errors import MissingError
from overclock.recipe.agents import Task
from overclock.recipe.gateway import Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.judging.hygiene.frozen import Seal
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.workers import workers
from overclock.recipe.project.project import Changes
from overclock.recipe.runs.run import Run
from overclock.recipe.sandbox import by_name

INTRUDING_AGENT = f"""#!{sys.executable}
import os, pathlib, sys
if "--version" in sys.argv:
    print("99.0.0")
    sys.exit(0)
for place in map(pathlib.Path, TARGETS):
    try:
        place.parent.chmod(0o777)
    except OSError:
        pass
    try:
        (place if place.suffix else place / "planted").write_text("broken into")
    except OSError:
        pass
try:
    os.symlink(TARGETS[0], "link")
    pathlib.Path("link").write_text("broken into")
except OSError:
    pass
finally:
    pathlib.Path("link").unlink(missing_ok=True)
pathlib.Path("env.py").write_text("it was tried")
"""


@pytest.mark.parametrize("sandbox", ["bubblewrap", "landlock"])
def test_an_agent_can_write_nothing_but_its_candidate(tmp_path, sandbox):
    try:
        by_name(sandbox)
    except MissingError as error:
        pytest.skip(str(error))
    project = small_project(tmp_path / "pond")
    program = tmp_path / "tools" / "qwen"
    program.parent.mkdir()
    model = ScriptedModel(lambda prompt: Turn(text="hello"), tmp_path, Tokens(input=1, output=1))
    options = RunOptions(agent_sandbox=sandbox, backend=model, program=str(program))
    with Run.create(project.folder / "runs" / "1", {}) as run:
        (run.folder / "scenarios").mkdir()
        (run.folder / "scenarios" / "first.json").write_text("{}")
        targets = [
            project.contract_path, project.folder / "overclock.toml", project.scenarios / "first.json",
            run.folder / "scenarios" / "first.json", run.folder / "journal.sqlite", project.scenarios, run.folder,
            program,
        ]  # fmt: skip
        program.write_text(INTRUDING_AGENT.replace("TARGETS", json.dumps([str(target) for target in targets])))
        program.chmod(0o755)
        seals = [Seal.of(folder) for folder in (project.scenarios, run.folder / "scenarios", program.parent)]
        texts = [path.read_bytes() for path in targets[:2]]
        with workers(Changes("qwen").of(project), run, options) as hired:
            hired.agents[0].work(Task("1", "translate", "prompt", run.candidate, 60.0), hired.endpoint)
        assert "tried" in (run.candidate / "env.py").read_text()
        assert [seal.broken() for seal in seals] == [[], [], []]
        assert [path.read_bytes() for path in targets[:2]] == texts
        assert not (run.folder / "planted").exists()
        assert run.journal.events() is not None
