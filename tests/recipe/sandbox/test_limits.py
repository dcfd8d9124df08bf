"""Memory, processor time, processes, files and wall clock: what goes beyond is refused or stopped, with the reason.

The fork bombs here are small and end by themselves: at most 256 sleeping processes, for some seconds.
"""

import os

import pytest

from overclock.recipe.sandbox import cgroup, stopped_because
from overclock.recipe.sandbox.plan import STOPPED_CODE

MIB = 1 << 20
BOMBS = {
    "a parent of many": "import os, time\nfor _ in range(200):\n    if os.fork() == 0: break\ntime.sleep(20)",
    "everybody a parent": "import os, time\nfor _ in range(8): os.fork()\ntime.sleep(20)",  # 256
    "each the parent of the next": "import os, time\nfor _ in range(200):\n    if os.fork(): break\ntime.sleep(20)",
}
FAMILY = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        block = bytearray(100 << 20)
        time.sleep(20)
        os._exit(0)
time.sleep(20)
"""


def test_more_memory_than_allowed_is_refused(inside):
    result = inside.run("bytearray(64 << 30)", memory_bytes=2 << 30)
    assert result.returncode == 1
    assert "MemoryError" in result.stderr


def test_memory_counts_for_all_processes_together(inside):
    result = inside.run(FAMILY, memory_bytes=256 * MIB)
    assert result.returncode == STOPPED_CODE
    assert stopped_because(result.stderr) == "more than 256 MiB of memory"


def test_a_program_that_reserves_much_and_uses_little_can_be_allowed(inside):
    code = "import mmap; mmap.mmap(-1, 3 << 30); print('reserved')"
    result = inside.run(code, memory_bytes=256 * MIB, address_space=False)
    assert (result.returncode, result.stdout) == (0, "reserved\n")


def test_burning_the_processor_ends(inside):
    result = inside.run("while True: pass", cpu_seconds=1)
    assert result.returncode == STOPPED_CODE
    assert stopped_because(result.stderr) == "more than 1 s of processor time"


def test_processor_time_counts_for_all_processes_together(inside):
    code = "import os\nfor _ in range(4): os.fork()\nwhile True: pass"  # 16 processes
    result = inside.run(code, cpu_seconds=1)
    assert stopped_because(result.stderr) == "more than 1 s of processor time"


def test_a_fork_bomb_is_stopped(inside):
    result = inside.run(BOMBS["everybody a parent"], processes=60)
    assert result.returncode == STOPPED_CODE
    assert stopped_because(result.stderr) == "more than 60 processes and threads"


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_fork_bomb_is_stopped_where_there_are_no_control_groups(inside, bomb, without_control_groups):
    result = inside.run(BOMBS[bomb], processes=60)
    assert stopped_because(result.stderr) == "more than 60 processes and threads"


def test_the_kernel_refuses_forks_beyond_the_cap(inside):
    group = cgroup.make(1)
    if group is None:
        pytest.skip("this user may not make control groups")
    group.remove()
    code = """
import os, time
for made in range(200):
    try:
        if os.fork() == 0: time.sleep(20)
    except OSError as error:
        print(made < 60, error.strerror, flush=True)
        break
time.sleep(20)
"""
    result = inside.run(code, processes=60)
    assert result.stdout == f"True {os.strerror(11)}\n"
    assert result.returncode == STOPPED_CODE


def test_threads_count_too(inside):
    code = "import threading, time\nfor _ in range(80): threading.Thread(target=time.sleep, args=(20,)).start()"
    assert stopped_because(inside.run(code, processes=60).stderr) == "more than 60 processes and threads"


def test_a_huge_file_is_refused(inside):
    code = (
        "import os\nwith open(os.environ['HOME'] + '/big', 'wb') as f:\n    for _ in range(64): f.write(bytes(1 << 20))"
    )
    result = inside.run(code, file_bytes=16 * MIB)
    assert result.returncode == 1
    assert "OSError" in result.stderr


def test_many_files_together_are_refused_where_the_sandbox_brings_the_storage(inside):
    code = """
import os
for folder in (os.environ["HOME"], "/dev/shm"):
    for number in range(4):
        with open(f"{folder}/{number}", "wb") as file:
            try:
                for _ in range(6): file.write(bytes(1 << 20)); file.flush()
            except OSError as error:
                print(error.strerror)
                os.truncate(file.name, 0); break
"""
    if inside.sandbox.name != "bubblewrap":
        assert "total of temporary files" in inside.sandbox.sentence or inside.sandbox.title == "UNSANDBOXED"
        return
    result = inside.run(code, file_bytes=16 * MIB)
    assert result.stdout.splitlines() == [os.strerror(28)] * 2, result.stderr


def test_hanging_ends_at_the_wall_clock(inside):
    result = inside.run("import time; time.sleep(60)", wall_seconds=0.3)
    assert result.returncode == STOPPED_CODE
    assert stopped_because(result.stderr) == "not finished after 0.3 s"


def test_the_exit_code_and_the_streams_are_those_of_the_command(inside):
    process = inside.start("import sys; print(sys.stdin.read().upper()); print('oops', file=sys.stderr); sys.exit(7)")
    out, err = process.communicate("hello", timeout=60)
    assert (out, err, process.returncode) == ("HELLO\n", "oops\n", 7)


def test_a_command_that_crashes_has_the_code_of_its_signal(inside):
    assert inside.run("import os; os.kill(os.getpid(), 11)").returncode == 128 + 11


def test_a_program_that_is_not_there_is_said_to_be_missing(inside):
    process = inside.sandbox.popen(["no-such-program"], inside.rights(), stderr=-1, text=True)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "no-such-program" in err
