"""A program without a network reaches the gateway through its unix socket, and sees answers as they are."""

import subprocess
import sys

import pytest

from overclock.errors import MissingError
from overclock.recipe.gateway.scripted.model import ScriptedModel
from overclock.recipe.gateway.scripted.script import Turn
from overclock.recipe.sandbox import agent_rights, by_name

PORT = 18080  # inside a namespace of its own every port is free
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


@pytest.fixture
def inside(tmp_path, open_gateway):
    """What an agent in a sandbox prints when a gateway answers by this turn, and the gateway."""
    try:
        sandbox = by_name("bubblewrap")
    except MissingError as error:
        pytest.skip(str(error))

    def run(turn):
        socket, tree = tmp_path / "gateway.sock", tmp_path / "tree"
        tree.mkdir()
        gateway = open_gateway(ScriptedModel(lambda prompt: turn, tmp_path), unix_socket=socket)
        command = [sys.executable, "-c", AGENT, gateway.base_url("chat", port=PORT)]
        rights = agent_rights(tree, gateway_socket=socket, port=PORT)
        process = sandbox.popen(command, rights, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        return out.strip(), gateway

    return run


def test_a_call_out_of_a_network_less_namespace(inside):
    said, gateway = inside(Turn(text="Hello from outside"))
    assert said == "1 True"
    assert gateway.spent().calls == 2


def test_an_answer_that_breaks_off_breaks_off_inside_as_well(inside):
    assert inside(Turn(fault="drop"))[0] == "broken off"


def test_the_socket_is_private_and_goes_with_the_gateway(tmp_path, open_gateway, canned):
    socket = tmp_path / "gateway.sock"
    gateway = open_gateway(canned(b"{}"), unix_socket=socket)
    assert socket.stat().st_mode & 0o777 == 0o600
    gateway.__exit__()
    assert not socket.exists()
