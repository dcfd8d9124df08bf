"""The MCP server as a client sees it: a process on stdio, driven by the real client of the `mcp` package."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from level_results import divergence, episodes, module, module_comparison, properties, rollouts, wrong_case
from recipe.projects import small_project
from recipe.scripted_run import repro_in

from overclock.recipe.judging.verdict import Verdict, failure
from overclock.recipe.mcp.facts import failures
from overclock.recipe.project.project import load_project
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.recipe.runs.status import status
from overclock.results import encode

TESTS = str(Path(__file__).parents[2])  # where the server's process finds the fake judge
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), TESTS]))}
PROGRAM = """
import sys
from pathlib import Path
from overclock.recipe.mcp.server import serve
from overclock.recipe.project.project import load_project
project, pause, judge = load_project(Path(sys.argv[1])), float(sys.argv[2]), "recipe.mcp.test_mcp:FakeJudge"
serve(project, run_id="session", sandbox="none", pause=pause, judge=judge)
"""


class FakeJudge:
    """Judges by what the candidate's env.py says: 'wrong at 2', 'hangs', 'crashes'; anything else passes."""

    def __init__(self, project, scenarios, repros, sandbox, progress):
        self.project, self.progress = project, progress

    def judge(self, frozen, level, seed, attempt):
        text = frozen.files["env.py"].decode()
        if "hangs" in text:
            # Apart from us, as the judge's workers are: whoever ends the judge's process group does not end it.
            child = subprocess.Popen(["sleep", "600"], start_new_session=True)
            try:
                (self.project.folder / "hanging").write_text(str(child.pid))
                time.sleep(600)
            finally:
                child.kill()
                child.wait()
        if "crashes" in text:
            os._exit(3)
        if f"wrong at {level}" in text:
            report = rollouts(episodes(first=divergence()), verdict="fail")
            facts = failure(level, ["state.x is wrong after step 3."], repro=repro_in("/secret/scenario"))
            return Verdict(level, "fail", 1, 2, facts, report)
        return Verdict(level, "pass", 2, 2)

    def speed(self, frozen, batches):
        return {str(batch): 1000.0 * batch for batch in batches}


@pytest.fixture
def project(tmp_path):
    made = small_project(tmp_path / "cart", iterations=3)
    write(made, "right")
    return made


def write(project, text):
    (project.folder / "runs/session/candidate").mkdir(parents=True, exist_ok=True)
    (project.folder / "runs/session/candidate/env.py").write_text(f"WHAT = {text!r}\n")


@contextlib.asynccontextmanager
async def connected(project, pause=0.0):
    client = pytest.importorskip("mcp.client", reason="needs the extra mcp")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["-c", PROGRAM, str(project.folder), str(pause)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=ENVIRONMENT)
    async with client.Client(stdio_client(server)) as found:
        yield Caller(found)


class Caller:
    def __init__(self, client):
        self.client = client

    async def __call__(self, tool, **arguments):
        """What a tool answers, or the sentence with which it refuses."""
        result = await self.client.call_tool(tool, arguments)
        return result.content[0].text if result.is_error else result.structured_content

    async def verified(self, level, **more):
        started = await self("start_verify", level=level, **more)
        return await self("poll", job=started["job"], wait_s=20)


def run(session):
    anyio = pytest.importorskip("anyio", reason="needs the extra mcp")
    anyio.run(session)


def test_a_session_from_the_first_failure_to_the_end(project):
    async def session():
        async with connected(project) as call:
            tools = {tool.name for tool in (await call.client.list_tools()).tools}
            assert tools == {"start_verify", "poll", "next_failure", "start_bench", "status"}
            assert "start_verify" in call.client.instructions
            write(project, "wrong at 3")
            ended = await call.verified(3)
            assert (ended["state"], ended["verdict"]) == ("done", "fail")
            assert [level["level"] for level in ended["levels"]] == [0, 1, 2, 3]
            found = await call("next_failure", job=ended["job"])
            assert (found["failures"], found["next_after"]) == (1, None)
            fact = found["failure"]
            assert (fact["field"], fact["step"], fact["reference"], fact["performance"]) == ("state.x", 3, 1.0, 2.0)
            assert (fact["last_matching_state"], fact["action"]) == ({"x": 0.5}, 1)
            assert "secret" not in str(found)
            assert (await call("next_failure", job=ended["job"], after=1))["failure"] is None
            write(project, "right")
            ended = await call.verified(3)
            assert (ended["verdict"], ended["levels"][-1]["level"]) == ("pass", "held-out")
            bench = await call("start_bench", batches=[2, 4])
            assert bench["levels_passed"] == [0, 1, 2, 3, "held-out"]
            measured = await call("poll", job=bench["job"], wait_s=20)
            assert measured["steps_per_second"] == {"2": 2000.0, "4": 4000.0}
            seen = await call("status")
            assert (seen["iterations_used"], seen["iterations_allowed"]) == ({"1": 0, "2": 0, "3": 2}, 3)
            assert seen["running"] is None
            assert seen["tests"][-1]["verdict"] == "pass"

    run(session)
    with Run.open(project.folder / "runs/session") as kept:
        assert not kept.journal.worked_on()
        assert status(kept.journal).outcome == "done"
        report = encode(run_report(kept))
    assert [(row["purpose"], row["iteration"], row["verdict"]) for row in report["iterations"]] == [
        ("verify", 1, "fail"),
        ("verify", 2, "pass"),
    ]
    assert report["caught_by_level"] == {"3": 1}
    assert report["cost"]["basis"] == "not reported"


def test_what_is_refused(project):
    async def session():
        async with connected(project) as call:
            assert "no job 'verify-9'" in await call("poll", job="verify-9")
            assert "levels 1, 2, 3; there is no 4" in await call("start_verify", level=4)
            assert "level" in await call("start_verify", level="high")
            assert "at least one; got []" in await call("start_bench", batches=[])
            assert "it has no env.py" in await call("start_verify", level=1, candidate="nowhere")
            assert (await call("status"))["iterations_used"]["1"] == 0, "what was refused is no iteration"
            (project.folder / "contract.toml").write_text((project.folder / "contract.toml").read_text() + "\n")
            assert "has changed" in await call("start_verify", level=1)

    run(session)


def test_iterations_run_out_until_somebody_helped(project):
    async def session():
        async with connected(project) as call:
            write(project, "wrong at 1")
            for _ in range(3):
                assert (await call.verified(1))["verdict"] == "fail"
            assert (await call.verified(2))["verdict"] == "fail", "another level has its own count"
            assert "verified 3 times in this run, which is the limit" in await call("start_verify", level=1)

    async def again():
        async with connected(project) as call:
            assert (await call.verified(1))["state"] == "done"
            assert (await call("status"))["iterations_allowed"] == 6

    run(session)
    with Run.open(project.folder / "runs/session") as kept:
        found = encode(status(kept.journal))
        assert found["outcome"] == "stuck"
        assert "Level 1 was verified 3 times" in found["waits_for"]
    run(again)


def test_starts_are_rate_limited(project):
    async def session():
        async with connected(project, pause=600.0) as call:
            await call.verified(1)
            assert "before the next" in await call("start_verify", level=1)

    run(session)


def test_one_job_at_a_time_and_nothing_is_left_when_the_client_goes(project):
    async def session():
        async with connected(project) as call:
            write(project, "hangs")
            started = await call("start_verify", level=1)
            assert "is still running; one at a time" in await call("start_verify", level=1)
            assert "is still running" in await call("start_bench", batches=[1])
            assert "poll it until" in await call("next_failure", job=started["job"])
            while not (project.folder / "hanging").exists():
                assert (await call("poll", job=started["job"], wait_s=0.1))["state"] == "running"

    run(session)
    child = int((project.folder / "hanging").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    with Run.open(project.folder / "runs/session") as kept:
        assert status(kept.journal).outcome == "stopped"


def test_a_judge_that_dies_is_an_answer_and_the_next_job_has_another(project):
    async def session():
        async with connected(project) as call:
            write(project, "crashes")
            ended = await call.verified(1)
            assert (ended["state"], ended["verdict"]) == ("error", "could not verify")
            assert ended["sentence"] == "The judge's process ended."
            write(project, "right")
            assert (await call.verified(1))["verdict"] == "pass"

    run(session)


def test_sigterm_is_a_clean_end(project):
    pytest.importorskip("mcp", reason="needs the extra mcp")
    server = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(project.folder), "0"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    try:
        hello = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(hello.encode())
        server.stdin.flush()
        assert b'"id":1' in server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        server.wait(30)
    finally:
        server.kill()
        server.communicate()
    with Run.open(project.folder / "runs/session") as kept:
        assert status(kept.journal).outcome == "stopped"


def test_every_failure_of_a_level_has_its_facts():
    first = wrong_case()
    modules = [
        module(name, module_comparison(first_failure=bad)) for name, bad in (("a", first), ("b", None), ("c", first))
    ]
    verdict = Verdict(1, "fail", 0, 2, failure(1, ["a: x", "c: x", "unused"]), properties(*modules, verdict="fail"))
    assert [(one["module"], one["sentence"]) for one in failures(verdict)] == [
        ("a", "a: x"), ("c", "c: x"), (None, "unused")
    ]  # fmt: skip
    hidden = Verdict("held-out", "fail", 0, 1, failure("held-out", ["Held-out episodes differ."]))
    assert failures(hidden) == [
        {"level": "held-out", "module": None, "scenario": None, "field": None, "step": None, "reference": None,
         "performance": None, "sentence": "Held-out episodes differ."}
    ]  # fmt: skip
    assert failures(Verdict(1, "pass", 1, 1)) == []


def test_the_command_serves_the_project_it_is_given(project, monkeypatch):
    from overclock.cli.loop.mcp import Mcp
    from overclock.recipe.mcp import server as mcp_server

    seen = {}
    monkeypatch.setattr(mcp_server, "serve", lambda *given: seen.update(given=given))
    assert Mcp(project.folder, run_id="mine").run() == 0
    assert seen["given"][0] == load_project(project.folder)
    assert seen["given"][1:] == (None, "mine", "best")
