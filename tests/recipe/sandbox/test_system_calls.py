"""Which system calls a command in a sandbox can make: those that pass the other walls are refused, all others work."""

import errno
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from overclock.recipe.sandbox.system_calls import (
    CLONE,
    FAMILIES,
    METADATA,
    MISSING,
    OF_A_PROCESS,
    REFUSED,
    SOCKET,
    UNSHARE,
    filter_program,
)

HEADERS = {0: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 1: "/usr/include/asm-generic/unistd.h"}
UNNAMED_THERE = {"open_by_handle_at"}  # a macro of two names in the generic header
CALLS = """
import ctypes, json, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
column = ("x86_64", "aarch64").index(platform.machine())
def answer(numbers):
    ctypes.set_errno(0)
    result = libc.syscall(numbers[column], -1, -1, -1, -1, -1, -1)
    return ctypes.get_errno() if result < 0 else 0
print(json.dumps({name: answer(numbers) for name, numbers in json.loads(sys.argv[1]).items()}))
"""
SOCKETS = """
import json, socket, sys
def opened(family):
    kind = {17: socket.SOCK_RAW, 38: socket.SOCK_SEQPACKET}.get(family, socket.SOCK_DGRAM)
    try:
        socket.socket(family, kind).close()
        return 0
    except OSError as error:
        return error.errno
print(json.dumps([opened(int(family)) for family in sys.argv[1:]]))
"""
ORDINARY = """
import os, socket, subprocess, sys, tempfile, threading
worker = threading.Thread(target=lambda: print("a thread"))
worker.start(); worker.join()
child = os.fork()
if child == 0:
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(subprocess.run([sys.executable, "-I", "-S", "-c", "print('a program')"], capture_output=True, text=True).stdout)
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):  # the second is how Rust starts programs
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    ours.send(b"a message"); print(theirs.recv(9).decode())
with tempfile.TemporaryFile() as file:
    file.write(b"a file")
"""
NAMESPACE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(ctypes.get_errno() if libc.unshare(int(sys.argv[1])) < 0 else 0)
"""


@pytest.fixture
def filtered(sandbox):
    if not getattr(sandbox, "filtered", False):
        pytest.skip(f"{sandbox.title} has no filter of system calls here")
    return sandbox


@pytest.mark.parametrize("column", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(column):
    header = Path(HEADERS[column])
    if not header.exists():
        pytest.skip(f"there is no '{header}'")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)", header.read_text()))
    of_a_process = {name: numbers for name, (numbers, _) in OF_A_PROCESS.items()}
    ours = {**REFUSED, **METADATA, **of_a_process, **SOCKET, "clone": CLONE, "unshare": UNSHARE}
    there = {name: numbers[column] for name, numbers in ours.items() if numbers[column] != MISSING}
    wrong = {name: number for name, number in there.items() if known.get(name) != str(number)}
    # Calls that are younger than the headers are not in them.
    assert {name for name in wrong if name in known} - UNNAMED_THERE == set()
    assert len(wrong) <= 8


def test_a_machine_whose_numbers_are_not_known_has_no_filter():
    assert filter_program(machine="riscv64") is None
    for lasting in (True, False):
        assert len(filter_program(lasting, "aarch64")) <= len(filter_program(lasting, "x86_64")) < 4096


def test_calls_that_pass_other_walls_are_not_there(filtered, inside):
    done = inside.run(CALLS, json.dumps(REFUSED))
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout).values()) == {errno.ENOSYS}


def test_without_a_filter_they_are_there():
    """What the filter changes: the same calls outside fail for other reasons, or not at all."""
    calls = {name: REFUSED[name] for name in ("shmget", "semget", "msgget", "mq_open", "memfd_create")}
    done = subprocess.run([sys.executable, "-c", CALLS, json.dumps(calls)], capture_output=True, text=True, check=True)
    answers = json.loads(done.stdout)
    assert errno.ENOSYS not in (answers["shmget"], answers["memfd_create"])


def test_a_candidate_changes_no_metadata_and_opens_no_sockets(filtered, inside):
    calls = {name: numbers for name, numbers in METADATA.items() if MISSING not in numbers}
    done = inside.run(CALLS, json.dumps(calls))
    assert set(json.loads(done.stdout).values()) == {errno.EPERM}, done.stderr
    assert json.loads(inside.run(SOCKETS, *FAMILIES.values()).stdout) == [errno.EACCES] * len(FAMILIES)


def test_a_command_that_writes_files_may_change_their_metadata(filtered, inside, tmp_path):
    code = "import os, sys; os.chmod(sys.argv[1], 0o600); os.utime(sys.argv[1]); print('changed')"
    (tmp_path / "file").write_text("")
    done = inside.run(code, tmp_path / "file", write=(tmp_path,))
    assert done.stdout == "changed\n", done.stderr


@pytest.mark.parametrize("call", OF_A_PROCESS)
def test_limits_and_priorities_of_other_processes_cannot_be_set(filtered, inside, call, tmp_path):
    numbers, _ = OF_A_PROCESS[call]
    for changes in ({}, {"write": (tmp_path,)}):
        answers = json.loads(inside.run(CALLS, json.dumps({call: numbers}), **changes).stdout)
        assert answers == {call: errno.EPERM}


def test_only_unix_and_ip_sockets_can_be_opened(filtered, inside, tmp_path):
    odd = {"AF_ALG": 38, "AF_PACKET": 17, "AF_VSOCK": 40, "AF_BLUETOOTH": 31, "AF_RDS": 21, "AF_KEY": 15}
    answers = json.loads(inside.run(SOCKETS, *odd.values(), write=(tmp_path,)).stdout)
    assert dict(zip(odd, answers, strict=True)) == dict.fromkeys(odd, errno.EAFNOSUPPORT)
    done = inside.run(SOCKETS, FAMILIES["AF_UNIX"], FAMILIES["AF_INET"], write=(tmp_path,))
    assert json.loads(done.stdout) == [0, 0]


@pytest.mark.parametrize("flag", [0x20000, 0x8000000, 0x10000000, 0x40000000, 0x80])
def test_no_namespace_can_be_made(filtered, inside, flag):
    assert inside.run(NAMESPACE, flag).returncode == errno.EPERM


def test_ordinary_programs_notice_nothing(filtered, inside):
    done = inside.run(ORDINARY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["a thread", "3", "a program", "", "a message", "a message", ""]
