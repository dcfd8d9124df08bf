"""The real coding agents, where they are installed: their profiles start them, and a spent budget stops them.

They are looked for on the PATH and in the folder that OVERCLOCK_TEST_CLIS names (also in `node_modules/.bin` below it).
The model is a server on loopback that refuses every question, so nothing is charged and no network is needed.
"""

import dataclasses
import json
import os
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from overclock.recipe.agents import Endpoint, by_name
from overclock.recipe.agents.profile import BUILT_IN, built_in, load_profile
from overclock.recipe.gateway import Gateway, Tokens
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn

TOKENS = Tokens(input=1000, cached=200, output=100)


def installed(name):
    program = load_profile(BUILT_IN / f"{name}.toml").program
    folder = os.environ.get("OVERCLOCK_TEST_CLIS")
    more = [] if not folder else [folder, str(Path(folder, "bin")), str(Path(folder, "node_modules/.bin"))]
    return shutil.which(program, path=os.pathsep.join([*more, os.environ.get("PATH", "")]))


@pytest.fixture(params=built_in())
def make(request, tmp_path):
    program = installed(request.param)
    if program is None:
        pytest.skip(f"{request.param} is neither on the PATH nor in the folder that OVERCLOCK_TEST_CLIS names")
    return lambda: by_name(request.param, run="r", logs=tmp_path / "logs", home=tmp_path / "home", program=program)


@pytest.fixture
def refusing():
    paths = []

    class Refuses(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status, content):
            payload = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def do_GET(self):
            self.reply(200, {"data": [], "models": []})

        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length") or 0))
            paths.append(self.path)
            message = "The budget of this run is spent."
            error = {"type": "billing_error", "code": 402, "status": "PAYMENT_REQUIRED", "message": message}
            self.close_connection = True
            self.reply(402, {"type": "error", "error": error})

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield Endpoint(f"http://127.0.0.1:{server.server_port}", "placeholder"), paths
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_installed_version_is_one_that_the_profile_knows(make):
    assert make().check_version() != "unknown"


def test_a_real_agent_writes_goes_on_and_reports_what_was_metered(make, task):
    """Two calls of one session: each reports its own tokens, whatever the program counts."""

    def choose(prompt):
        number = next((n for n in ("2", "1") if f"task: physics/{n}" in prompt), None)
        return Turn([{f"part{number}.py": f"x = {number}\n"}], text=f"Wrote part {number}.") if number else None

    again = dataclasses.replace(task, id="physics/2", prompt="<!-- overclock task: physics/2 -->\nGo on.\n")
    with Gateway(ScriptedModel(choose, task.folder, TOKENS)) as gateway:
        agent, endpoint = make(), Endpoint(gateway.base_url("anthropic"), "placeholder")
        first = agent.work(dataclasses.replace(task, wall_seconds=120.0), endpoint)
        second = agent.work(dataclasses.replace(again, wall_seconds=120.0, session=first.session), endpoint)
    for number, work in enumerate((first, second), start=1):
        assert (work.ended, work.text) == ("finished", f"Wrote part {number}."), work
        assert (task.folder / f"part{number}.py").read_text() == f"x = {number}\n"
        # A question and the answer to its tool call; what a program asks on the side (titles) it does not report.
        assert (work.usage.input_tokens, work.usage.cached_tokens, work.usage.output_tokens) == (2000, 400, 200), work
    assert sorted(path.name for path in task.folder.iterdir()) == ["part1.py", "part2.py"]


def test_a_spent_budget_ends_every_real_agent_as_a_refusal(make, refusing, task):
    endpoint, paths = refusing
    work = make().work(dataclasses.replace(task, wall_seconds=120.0), endpoint)
    assert paths, work  # it asked the gateway and nobody else
    assert (work.ended, work.usage) == ("refused", None), work
    assert "budget of this run is spent" in work.reason
