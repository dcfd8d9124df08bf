"""Nothing of a command is left, however it tries to stay and however it ends."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from overclock.recipe.sandbox import Sandbox, stop
from overclock.recipe.sandbox.plan import STOPPED_CODE
from overclock.recipe.sandbox.process_tree import descendants

# A daemon as it is in the book: two forks and a session of its own, deaf to polite signals.
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        print("ready", flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
"""
STAY = "import time; time.sleep(60)"
DEADLINE_S = 20.0


def living(mark: str) -> list[int]:
    """Processes with `mark` among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def nothing_left(mark: str) -> bool:
    until = time.monotonic() + DEADLINE_S
    while living(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def supervisor_of(process) -> int:
    return min(descendants(process.pid))


@pytest.fixture
def mark():
    mark = f"mark-{uuid.uuid4()}"
    yield mark
    for pid in living(mark):  # a failing test must not leave anything either
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(params=["control groups", "no control groups"])
def daemon(request, inside, mark):
    """With and without a control group in which the supervisor finds what is left."""
    if request.param == "no control groups":
        request.getfixturevalue("without_control_groups")
    process = inside.start(DAEMON + STAY, mark)
    assert process.stdout.readline() == "ready\n"
    assert len(living(mark)) >= 3  # the front, the supervisor and the daemon at least: the search finds them
    yield process
    stop(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_a_daemon_ends_with_the_command(inside, mark):
    assert inside.run(DAEMON, mark).returncode == 0
    assert living(mark) == []


def test_a_daemon_ends_at_the_wall_clock(inside, mark):
    assert inside.run(DAEMON + STAY, mark, wall_seconds=0.5).stdout == "ready\n"
    assert living(mark) == []


def test_a_daemon_ends_when_the_command_is_stopped(daemon, mark):
    stop(daemon)
    assert living(mark) == []


def test_a_daemon_ends_when_its_process_group_is_killed(daemon, mark):
    os.killpg(daemon.pid, signal.SIGKILL)  # as the verifier does
    assert nothing_left(mark)


def test_a_daemon_ends_when_the_supervisor_is_killed(daemon, mark):
    os.kill(supervisor_of(daemon), signal.SIGKILL)
    assert nothing_left(mark)
    assert daemon.wait() == STOPPED_CODE


# What starts the daemon, and is killed: by another thread than its first one, which may end long before.
CALLER = """
import subprocess, sys, threading, time
from overclock.recipe.sandbox import Rights, by_name
from overclock.recipe.sandbox.places import python_places, python_variables
rights = Rights(read=python_places(), environment=python_variables())
def start():
    by_name(sys.argv[1]).popen([sys.executable, "-I", "-S", "-c", sys.stdin.read(), sys.argv[2]], rights)
thread = threading.Thread(target=start)
thread.start()
thread.join()
time.sleep(60)
"""


def test_a_daemon_ends_when_whoever_started_it_is_killed(sandbox: Sandbox, mark):
    command = [sys.executable, "-c", CALLER, sandbox.name, mark]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdin is not None
        assert caller.stdout is not None
        caller.stdin.write(DAEMON + STAY)
        caller.stdin.close()
        assert caller.stdout.readline() == "ready\n"
        caller.kill()
    assert nothing_left(mark)


def test_the_temporary_home_is_taken_away(inside):
    result = inside.run("import os; open(os.environ['HOME'] + '/x', 'w').close(); print(os.environ['HOME'])")
    assert not Path(result.stdout.strip()).exists()


@pytest.mark.parametrize("victim", ["front", "supervisor"])
def test_the_temporary_home_is_taken_away_after_a_kill(inside, victim):
    process = inside.start("import os, time; print(os.environ['HOME'], flush=True); time.sleep(60)")
    home = Path(process.stdout.readline().strip())
    os.kill(process.pid if victim == "front" else supervisor_of(process), signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + DEADLINE_S
    while home.exists() and time.monotonic() < until:
        time.sleep(0.01)
    assert not home.exists()
