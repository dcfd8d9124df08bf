"""A program without a network reaches the gateway through its unix socket, and nothing else."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overclock.recipe.gateway import ScriptedModel, Turn, forward

FORWARD = forward.__file__
PORT = "18080"  # inside a namespace of its own every port is free
# What an agent does, with the standard library alone.
AGENT = """
import http.client, json, sys, urllib.request
body = {"model": "gpt-5", "messages": [{"role": "user", "content": "x" * 300_000}], "stream": True}
request = urllib.request.Request(sys.argv[1] + "/chat/completions", json.dumps(body).encode())
try:
    answers = [urllib.request.urlopen(request, timeout=20).read().decode() for _ in range(2)]
    print(answers[0].count("Hello from outside"), answers[0] == answers[1])
except http.client.IncompleteRead:
    print("broken off")
"""
NETWORKLESS = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-net", "--die-with-parent"]


@pytest.fixture
def sandbox():
    """The command that runs another one without a network."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    if subprocess.run([*NETWORKLESS, "true"], capture_output=True).returncode:
        pytest.skip("bubblewrap may not make namespaces here")
    return NETWORKLESS


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_call_out_of_a_network_less_namespace(tmp_path, sandbox, open_gateway):
    socket = tmp_path / "gateway.sock"
    gateway = open_gateway(ScriptedModel(lambda prompt: Turn(text="Hello from outside"), tmp_path), unix_socket=socket)
    inside = gateway.base_url("chat", port=int(PORT))
    agent = [sys.executable, "-c", AGENT, inside]
    done = run(*sandbox, sys.executable, FORWARD, str(socket), PORT, "--", *agent)
    assert (done.returncode, done.stdout.strip()) == (0, "1 True"), done.stderr
    assert gateway.spent().calls == 2
    direct = run(*sandbox, sys.executable, "-c", AGENT, gateway.base_url("chat"))
    assert direct.returncode != 0
    assert "refused" in direct.stderr


def test_an_answer_that_breaks_off_breaks_off_inside_as_well(tmp_path, sandbox, open_gateway):
    socket = tmp_path / "gateway.sock"
    gateway = open_gateway(ScriptedModel(lambda prompt: Turn(fault="drop"), tmp_path), unix_socket=socket)
    agent = [sys.executable, "-c", AGENT, gateway.base_url("chat", port=int(PORT))]
    done = run(*sandbox, sys.executable, FORWARD, str(socket), PORT, "--", *agent)
    assert done.stdout.strip() == "broken off", done.stderr


def test_the_socket_is_private_and_goes_with_the_gateway(tmp_path, open_gateway, canned):
    socket = tmp_path / "gateway.sock"
    gateway = open_gateway(canned(b"{}"), unix_socket=socket)
    assert socket.stat().st_mode & 0o777 == 0o600
    gateway.__exit__()
    assert not socket.exists()


@pytest.mark.parametrize(("command", "code"), [("exit 7", 7), ("kill -TERM $$", 128 + 15)])
def test_the_exit_code_is_the_programs(tmp_path, command, code):
    done = run(sys.executable, FORWARD, str(tmp_path / "none.sock"), "0", "--", "sh", "-c", command)
    assert done.returncode == code


def test_a_missing_program_and_wrong_arguments_are_told(tmp_path):
    missing = run(sys.executable, FORWARD, "none.sock", "0", "--", str(tmp_path / "none"))
    assert (missing.returncode, "none" in missing.stderr) == (126, True)
    wrong = run(sys.executable, FORWARD, "none.sock", "x", "--", "true")
    assert (wrong.returncode, wrong.stderr.startswith("usage:")) == (2, True)


def test_the_file_needs_nothing_but_the_standard_library():
    assert "import overclock" not in Path(FORWARD).read_text()
    assert run(sys.executable, "-I", "-S", FORWARD, "none.sock", "0", "--", "true").returncode == 0
