"""`call_apart`: whatever a reference does to its process, the caller gets a result, its error, or one sentence."""

import os
import signal
import sys
import textwrap

import psutil
import pytest

from overclock.errors import UsageError
from overclock.verify.sides.apart import ReferenceEndedError, call_apart
from overclock.verify.sides.descendants import DEAD

CODE = """
import ctypes, os, signal, subprocess, sys, time
from overclock.errors import UsageError

def add(one, other): return one + other
def refuse(): raise UsageError("no such thing")
def fail(): raise ValueError("a bug")
def end(): os._exit(0)
def leave(): sys.exit(3)
def interrupt(): raise KeyboardInterrupt
def crash(): ctypes.string_at(0)
def hang(): time.sleep(600)
def spin():
    while True: pass
def close(): os.closerange(0, 1000); return "closed"
def deafen():
    for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)
    return "deaf"
def speak(): print("to stdout"); os.write(1, b"raw"); sys.stderr.write("to stderr"); return "said"
def fork_and_wait():
    if (child := os.fork()): os.waitpid(child, 0)
    return os.getpid()
def start(place):
    if os.fork() == 0:
        os.setsid()
        open(place, "w").write(str(os.getpid()))
        time.sleep(600)
    while not os.path.exists(place) or not open(place).read(): time.sleep(0.01)
    return int(open(place).read())
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A module as a user's own: the worker finds it by the same path."""
    (tmp_path / "somebodys_code.py").write_text(textwrap.dedent(CODE))
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("somebodys_code")
    sys.modules.pop("somebodys_code")


def test_a_result_and_an_error_come_back(code):
    assert call_apart(code.add, 1, other=2, of="The reference 'x.py'") == 3
    with pytest.raises(UsageError, match="no such thing"):
        call_apart(code.refuse, of="The reference 'x.py'")
    with pytest.raises(RuntimeError, match="ValueError: a bug"):
        call_apart(code.fail, of="The reference 'x.py'")


@pytest.mark.parametrize(
    ("name", "sentence"),
    {
        "end": r"'x.py' ended its own process with exit code 0",
        "leave": r"'x.py' raised SystemExit \(3\)",
        "interrupt": r"'x.py' raised KeyboardInterrupt",
        "crash": r"'x.py' crashed \(Segmentation fault in somebodys_code.py, line \d+, crash\)",
        "hang": r"did not come back within 1 s \(somebodys_code.py, line \d+, hang\)",
        "spin": r"did not come back within 1 s \(somebodys_code.py, line \d+, spin\)",
    }.items(),
)
def test_whatever_ends_or_stops_the_process_is_one_sentence_and_exit_code_4(code, name, sentence):
    with pytest.raises(ReferenceEndedError, match=sentence) as raised:
        call_apart(getattr(code, name), of="The reference 'x.py'", patience=1.0)
    assert raised.value.exit_code == 4
    assert "\n" not in str(raised.value)


def test_closed_descriptors_prints_and_signal_handlers_stay_in_the_process(code, capfd):
    before = signal.getsignal(signal.SIGINT)
    assert call_apart(code.close, of="The reference 'x.py'") == "closed"
    assert call_apart(code.deafen, of="The reference 'x.py'") == "deaf"
    assert call_apart(code.speak, of="The reference 'x.py'") == "said"
    assert signal.getsignal(signal.SIGINT) is before
    assert capfd.readouterr() == ("", "")


def test_a_process_that_is_forked_off_does_not_return_as_well(code):
    assert call_apart(code.fork_and_wait, of="The reference 'x.py'") != os.getpid()


def test_nothing_that_was_started_is_left(code, tmp_path):
    pid = call_apart(code.start, str(tmp_path / "pid"), of="The reference 'x.py'")
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() in DEAD
