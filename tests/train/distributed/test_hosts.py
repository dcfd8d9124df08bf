"""Several hosts train one run together: equal parameters on all, files on the first; who does not come is named."""

import json
import os
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from overclock import cli
from overclock.errors import MissingError, UsageError
from overclock.train import load_policy
from overclock.train.distributed import hosts
from overclock.train.distributed.rendezvous import meet

TWO = """
import hashlib, json, signal, sys
from pathlib import Path
import jax, numpy as np, overclock
from overclock.train import PPOConfig, command, hosts, loop, make_train

host, coordinator = int(sys.argv[1]), sys.argv[2]
hosts.connect(coordinator, 2, host, 60)
assert jax.process_count() == 2 and len(jax.devices()) == 2
config = PPOConfig(total_steps=6 * 8 * 8, num_envs=8, num_steps=8, num_minibatches=2, num_epochs=1, hidden=(8,))
env, params = overclock.make("cartpole")
trainer = make_train(env, params, config, devices=jax.devices())
command.make_train = lambda *_, **__: trainer  # compiled once
runs, kept = [], command.train
command.train = lambda *given, **options: runs.append(kept(*given, **options)) or runs[-1]
loop.CHUNK_SECONDS = 1e-9  # one update at a time

def interrupt(progress):
    if progress.update == 2 and host == 1:
        signal.raise_signal(signal.SIGINT)

with hosts.clean_stdout():
    first = command.train_and_report("cartpole", config, [3], Path(f"host-{host}"), False, interrupt)
    second = command.train_and_report("cartpole", config, [3], Path(f"host-{host}"), True)
params = b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(runs[-1].state.learner.params))
lanes = runs[-1].state.obs.sharding
print(json.dumps({
    "params": hashlib.sha256(params).hexdigest(), "steps": [first.steps, second.steps],
    "evaluated": len(second.seeds), "hosts": second.hosts, "lanes": [len(lanes.device_set), lanes.spec[1]],
}))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def coordinator():
    return f"127.0.0.1:{free_port()}"


@pytest.mark.long  # a minute: two processes compile a training each, and once more to resume
def test_two_hosts_end_with_equal_parameters_and_the_first_writes(coordinator, tmp_path):
    """Through Ctrl-C on one of them and a resume of both."""
    environment = {
        **os.environ, "XLA_FLAGS": "--xla_backend_optimization_level=0", "JAX_PLATFORMS": "cpu",
        "OVERCLOCK_COMPILE_CACHE": "off",
    }  # fmt: skip
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(host), coordinator], cwd=tmp_path, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for host in range(2)
    ]  # fmt: skip
    try:
        said = [program.communicate(timeout=240) for program in programs]
    finally:
        for program in programs:
            program.kill()
    assert [program.returncode for program in programs] == [0, 0], said[0][1][-2000:] + said[1][1][-2000:]
    first, second = (json.loads(out) for out, _ in said)  # and nothing else on stdout
    assert first["params"] == second["params"]  # bit for bit
    assert first["steps"] == second["steps"] == [2 * 64, 6 * 64]  # Ctrl-C on one host stopped both
    assert (first["evaluated"], second["evaluated"]) == (1, 0)
    assert first["hosts"] == second.hosts == 2
    assert first["lanes"] == second["lanes"] == [2, "lanes"]
    assert not (tmp_path / "host-1").exists()
    report = json.loads((tmp_path / "host-0" / "curve.json").read_text())
    assert report["steps"] == 6 * 64
    assert np.isfinite(report["seeds"][0]["evaluation"]["return_mean"])
    load_policy(tmp_path / "host-0" / "seed-3")


def test_hosts_meet_and_go_on_together(coordinator):
    others = [threading.Thread(target=meet, args=(coordinator, 3, host, 30)) for host in (1, 2)]
    others[0].start()  # before anybody listens
    stranger = threading.Thread(target=_knock, args=(coordinator,))
    stranger.start()
    others[1].start()
    meet(coordinator, 3, 0, 30)
    for thread in (*others, stranger):
        thread.join(30)
        assert not thread.is_alive()


def _knock(coordinator):
    """Somebody else's program at the port: it says what nobody asked for."""
    name, port = coordinator.split(":")
    for _ in range(100):
        try:
            with socket.create_connection((name, int(port)), timeout=1) as line:
                line.sendall(b"GET / HTTP/1.1\r\n\r\n")
            return
        except OSError:
            threading.Event().wait(0.05)


def test_a_host_that_does_not_come_is_named_everywhere(coordinator):
    failures = []

    def second():
        with pytest.raises(UsageError) as caught:
            meet(coordinator, 3, 1, 30)
        failures.append(str(caught.value))

    thread = threading.Thread(target=second)
    thread.start()
    with pytest.raises(MissingError, match=r"Host 2 of 3 did not come to .* in time; start the same command"):
        meet(coordinator, 3, 0, 1.5)
    thread.join(30)
    assert failures
    assert "Host 2 of 3 did not come" in failures[0]


def test_without_a_first_host_the_others_give_up(coordinator):
    with pytest.raises(MissingError, match=r"No first host \(--host 0\) answered at 127"):
        meet(coordinator, 2, 1, 0.3)


def test_a_port_that_is_taken_is_one_sentence():
    with socket.create_server(("127.0.0.1", 0)) as server:
        coordinator = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UsageError, match=r"Cannot listen at .*in use.*; give --coordinator this host's name and a"):
            meet(coordinator, 2, 0, 1)


@pytest.mark.parametrize(("host", "count", "part"), [(1, 2, "expects 3 hosts, this one 2"), (2, 3, "a host 2 already")])
def test_hosts_that_disagree_are_told(coordinator, host, count, part):
    answers = []

    def first():
        with pytest.raises(MissingError):  # in the end nobody else came
            meet(coordinator, 3, 0, 2)

    def waiting():
        with pytest.raises(UsageError):
            meet(coordinator, 3, 2, 30)

    threads = [threading.Thread(target=first), threading.Thread(target=waiting)]
    for thread in threads:
        thread.start()
        threading.Event().wait(0.3)
    with pytest.raises(UsageError) as caught:
        meet(coordinator, count, host, 30)
    answers.append(str(caught.value))
    for thread in threads:
        thread.join(30)
    assert part in answers[0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--hosts", "2"], "--hosts needs --coordinator"),
        (["--coordinator", "127.0.0.1:1234"], "belong to --hosts N"),
        (["--host", "1"], "belong to --hosts N"),
        (["--hosts", "2", "--coordinator", "127.0.0.1"], "name:port"),
        (["--hosts", "2", "--coordinator", "127.0.0.1:x"], "name:port"),
        (["--hosts", "2", "--coordinator", "127.0.0.1:1234", "--host", "2"], "a number from 0 to 1, got 2"),
        (["--hosts", "2", "--coordinator", "127.0.0.1:1234", "--devices", "2"], "leave --devices out"),
        (["--hosts", "2", "--coordinator", "no.such.host.invalid:1234", "--host", "1"], "No host is called"),
    ],
)
def test_wrong_requests_are_one_sentence_and_write_nothing(words, part, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "cartpole", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_peer_is_one_sentence_of_the_command(coordinator, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["train", "cartpole", "--hosts", "2", "--coordinator", coordinator, "--wait", "1"]
    for host, part in ((0, "Host 1 of 2 did not come"), (1, "No first host")):
        assert cli.main([*words, "--host", str(host)]) == 2
        err = capsys.readouterr().err
        assert part in err
        assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_alone_everything_is_what_it_says():
    assert hosts.first()
    assert hosts.agree(7, True) == (7, True)
    assert hosts.on_first(lambda: 3) == 3
    assert hosts.fetch({"a": 1}, None) == hosts.from_first({"a": 1}) == {"a": 1}
