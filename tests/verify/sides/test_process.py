"""A subject in its own process: nothing it does leaves us waiting, and nothing that happens to us leaves it behind."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest

from overclock.verify.sides import process
from overclock.verify.sides.descendants import new_mark
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

HERE = (("PYTHONPATH", str(Path(__file__).parents[2])),)


linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="who detached itself is found in /proc")


def counting(fault: str = "") -> SubjectSpec:
    return SubjectSpec("verify.subjects:CountingSubject", (("fault", fault),), HERE)


def ended(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return not status.exists() or "State:\tZ" in status.read_text()


def test_a_side_that_stops_reading_does_not_keep_us_waiting():
    """It answers a step and then reads nothing more: the next request fills the pipe."""
    with ProcessSubject(counting("deaf"), 2, "the deaf side") as subject:
        for _ in range(3):
            subject.step(np.zeros(2, np.int32))
        subject.timeout = 0.5
        with pytest.raises(CouldNotVerifyError, match=r"the deaf side: `set_state` was not read within 0\.5 s"):
            subject.set_state({"steps": np.zeros(1 << 20)})
        assert ended(subject._process.pid)


def test_requests_larger_than_a_pipe_arrive_whole():
    with ProcessSubject(counting(), 2, "the reference") as subject:
        subject.set_state({"steps": np.full(1 << 20, 7, np.int32)})
        assert subject.step(np.zeros(2, np.int32)).state["steps"].tolist() == [8] * (1 << 20)


@linux
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("daemon", "gave no answer within"),
        ("daemon, crash", "its process ended during"),
        ("daemon, other environment", "gave no answer within"),
    ],
)
def test_what_a_side_started_in_a_session_of_its_own_ends_with_it(tmp_path, fault, said):
    number = tmp_path / "pid"
    spec = SubjectSpec("verify.subjects:CountingSubject", (("fault", fault), ("pid_file", str(number))), HERE)
    with ProcessSubject(spec, 2, "the reference") as subject:
        for _ in range(2):
            subject.step(np.zeros(2, np.int32))
        subject.timeout = 1.0
        with pytest.raises(CouldNotVerifyError, match=said):
            subject.step(np.zeros(2, np.int32))
    assert ended(int(number.read_text()))


@linux
def test_workers_of_workers_carry_the_marks_of_both(monkeypatch):
    outer = new_mark()
    monkeypatch.setattr(os, "environ", {**os.environ, **outer})
    with ProcessSubject(counting(), 2, "the reference") as subject:
        variables = Path(f"/proc/{subject._process.pid}/environ").read_bytes().split(b"\0")
        assert {f"{name}=1".encode() for name in {**outer, **(subject._mark or {})}} <= set(variables)
        assert len(subject._mark or {}) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_a_start_that_is_interrupted_leaves_no_process(monkeypatch, stop):
    started = []

    class Popen(process.subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self.pid)

    def interrupt(*_):
        raise stop

    monkeypatch.setattr(process.subprocess, "Popen", Popen)
    monkeypatch.setattr(ProcessSubject, "_read", interrupt)
    with pytest.raises(stop):
        ProcessSubject(counting(), 2, "the reference")
    (pid,) = started
    assert ended(pid)


def test_a_process_that_cannot_be_started_is_one_sentence(monkeypatch):
    monkeypatch.setattr(process, "WORKER", ("/nowhere/python",))
    with pytest.raises(
        CouldNotVerifyError, match=r"could not verify: the reference: it could not be started \("
    ) as caught:
        ProcessSubject(counting(), 2, "the reference")
    assert caught.value.side == "the reference"


def test_closing_twice_ends_no_other_process(monkeypatch):
    """By the second time, the number may belong to somebody else."""
    subject, killed = ProcessSubject(counting(), 2, "the reference"), []
    monkeypatch.setattr(os, "killpg", lambda pid, sign: killed.append(pid) or os.kill(pid, sign))
    subject.close()
    subject.close()
    assert killed == [subject._process.pid]


def test_a_call_on_a_closed_side_is_one_sentence():
    subject = ProcessSubject(counting(), 2, "the reference")
    subject.close()
    with pytest.raises(CouldNotVerifyError, match="its process ended before `step`"):
        subject.step(np.zeros(2, np.int32))


def test_a_side_closed_by_another_thread_ends_the_call(tmp_path):
    spec = SubjectSpec(
        "verify.subjects:CountingSubject", (("fault", "hang"), ("pid_file", str(tmp_path / "pid"))), HERE
    )
    subject = ProcessSubject(spec, 2, "the reference", timeout=60.0)
    for _ in range(2):
        subject.step(np.zeros(2, np.int32))
    threading.Timer(0.3, subject.close).start()
    with pytest.raises(CouldNotVerifyError, match="the reference: its process ended"):
        subject.step(np.zeros(2, np.int32))


def test_a_side_is_not_imported_from_the_current_folder(tmp_path, monkeypatch):
    """`python -m` looks there first, so any file there could take the place of a side's own module."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "verify").mkdir()
    (tmp_path / "verify" / "__init__.py").write_text("raise SystemExit('the wrong one')\n")
    with ProcessSubject(counting(), 2, "the reference") as subject:
        assert subject.describe()
    (tmp_path / "lonely.py").write_text("def make(num_envs): ...\n")
    with pytest.raises(CouldNotVerifyError, match="No module named 'lonely'"):
        ProcessSubject(SubjectSpec("lonely:make"), 2, "the reference")
