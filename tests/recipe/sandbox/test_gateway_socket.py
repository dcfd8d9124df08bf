"""An agent's way to its model: a port inside that leads to one socket of the host, and to nothing else."""

import contextlib
import dataclasses
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.recipe.sandbox import Rights, Sandbox, agent_rights, landlock
from overclock.recipe.sandbox.landlock import Landlock
from overclock.recipe.sandbox.landlock_rules import TCP_ABI, abi

AGENT = """
import pathlib, socket, sys
port, elsewhere, reference = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for question in ("hello", "again"):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as gateway:
        gateway.sendall(question.encode())
        gateway.shutdown(socket.SHUT_WR)
        print(gateway.makefile().read())
try:
    socket.create_connection(("127.0.0.1", elsewhere), timeout=10).close()
    print("reached")
except OSError:
    print("refused")
pathlib.Path("written.txt").write_text(pathlib.Path(reference).read_text())
"""


@pytest.fixture
def gateway(tmp_path):
    """Answers in capitals."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "gateway.sock"))
        listener.listen()
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        yield tmp_path / "gateway.sock"


def _serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            with listener.accept()[0] as client:
                client.sendall(client.makefile().read().upper().encode())


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return unused.getsockname()[1]


def visit(sandbox: Sandbox, gateway: Path, tmp_path: Path) -> list[str]:
    """An agent's day: it asks the gateway twice, knocks at another port, and writes its tree."""
    tree, reference = tmp_path / "tree", tmp_path / "reference.py"
    tree.mkdir()
    reference.write_text("the reference")
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        rights = agent_rights(tree, readable=[reference], gateway_socket=gateway, port=free_port())
        command = [sys.executable, "-c", AGENT, str(rights.port), str(elsewhere.getsockname()[1]), str(reference)]
        process = sandbox.popen(command, rights, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert (tree / "written.txt").read_text() == "the reference"
    return out.split()


def test_an_agent_reaches_the_gateway_and_writes_its_tree_and_nothing_else(sandbox, gateway, tmp_path):
    loose = sandbox.title == "UNSANDBOXED" or (
        isinstance(sandbox, Landlock) and not sandbox.own_network and abi() < TCP_ABI
    )
    assert visit(sandbox, gateway, tmp_path) == ["HELLO", "AGAIN", "reached" if loose else "refused"]


def test_without_a_network_namespace_landlock_refuses_every_other_port(gateway, tmp_path):
    if abi() < TCP_ABI:
        pytest.skip(f"this kernel's Landlock (version {abi()}) has no rules for TCP")
    sandbox = landlock.find()[0]
    assert sandbox is not None
    on_the_host = dataclasses.replace(sandbox, own_network=False)
    assert visit(on_the_host, gateway, tmp_path) == ["HELLO", "AGAIN", "refused"]


def test_the_network_of_the_host_can_be_granted(inside):
    code = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), timeout=10); print('reached')"
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = inside.run(code, server.getsockname()[1], network=True)
    assert result.stdout == "reached\n", result.stderr


def test_a_socket_needs_a_file():
    with pytest.raises(UsageError, match='network="socket"'):
        Rights(network="socket")
