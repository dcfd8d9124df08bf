"""Starts a sandboxed command, watches what it uses, and leaves no process or file of it behind.

Two processes do this. The *front* is what the caller started and may kill at any moment, with its process group. The
*supervisor* runs in a session of its own, notices this and cleans up. Both adopt orphans (they are subreapers), so a
double fork or a new session is no way out. If one of the two is killed, the other one ends the command. If the caller
itself is killed, the front ends everything. Run as `PLAN_JSON COMMAND...`.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time

from overclock.recipe.sandbox import cgroup, forward, landlock_rules, limits, linux, process_tree, system_calls
from overclock.recipe.sandbox.plan import MARK, NOT_STARTED_CODE, STOPPED_CODE, Plan

WATCH_S = 0.05
CALLER_WATCH_S = 0.25  # the kernel tells of a parent's end only to the child of the thread that ends
EVENTS = {signal.SIGTERM, signal.SIGCHLD}
UNITS = 1 << 20


def main() -> None:
    """Run the front process until the supervisor ends, or until it is asked or forced to end."""
    plan, command = Plan.from_json(sys.argv[1]), sys.argv[2:]
    for name in set(os.environ) - set(plan.variables):
        del os.environ[name]
    linux.adopt_orphans()
    group = cgroup.make(plan.processes) if plan.cgroup else None
    scratch = tempfile.mkdtemp(prefix="overclock-sandbox-", dir=plan.scratch) if plan.scratch else None
    signal.pthread_sigmask(signal.SIG_BLOCK, EVENTS)
    front, supervisor = os.getpid(), os.fork()
    if supervisor == 0:
        os._exit(_supervise(plan, command, group, scratch, front))
    _leave_streams(0, 1, 2)
    code = _await(supervisor, plan.caller)
    _clean_up(group, scratch)  # the supervisor did so, unless it was killed
    os._exit(code if code >= 0 else STOPPED_CODE)


def _await(supervisor: int, caller: int) -> int:
    """The supervisor's exit code. It is asked to end when this process is, or when the caller has ended."""
    while True:
        ended, status = os.waitpid(supervisor, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        event = signal.sigtimedwait(EVENTS, CALLER_WATCH_S)
        if os.getppid() != caller or (event is not None and event.si_signo == signal.SIGTERM):
            with contextlib.suppress(ProcessLookupError):
                os.kill(supervisor, signal.SIGTERM)


def _clean_up(group: cgroup.Cgroup | None, scratch: str | None) -> None:
    process_tree.end_all(group.members if group else lambda: ())
    if group:
        group.remove()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


def _supervise(plan: Plan, command: list[str], group: cgroup.Cgroup | None, scratch: str | None, front: int) -> int:
    os.setsid()
    linux.adopt_orphans()
    linux.die_with_parent(signal.SIGTERM)
    child = os.fork()
    if child == 0:
        _become(plan, command, group, scratch)
    _leave_streams(0, 1)
    try:
        return _watch(plan, child, group, front)
    finally:
        _clean_up(group, scratch)


def _watch(plan: Plan, child: int, group: cgroup.Cgroup | None, front: int) -> int:
    """The command's exit code, or STOPPED_CODE if it passed a limit."""
    started = time.monotonic()
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == child:
                    code = os.waitstatus_to_exitcode(ended[1])
                    return code if code >= 0 else 128 - code
        event = signal.sigtimedwait(EVENTS, WATCH_S)
        if os.getppid() != front or (event is not None and event.si_signo == signal.SIGTERM):
            return STOPPED_CODE  # the caller wants it so, and needs no explanation
        if reason := _excess(plan, group, time.monotonic() - started):
            os.write(2, f"\n{MARK}{reason}\n".encode())
            return STOPPED_CODE


def _excess(plan: Plan, group: cgroup.Cgroup | None, seconds: float) -> str | None:
    """The limit that was passed, in words; None if none was."""
    load = process_tree.measure(process_tree.descendants(os.getpid()))
    if (group and group.refused) or load.tasks > plan.processes:
        return f"more than {plan.processes} processes and threads"
    if load.memory_bytes > plan.memory_bytes:
        return f"more than {plan.memory_bytes // UNITS} MiB of memory"
    if load.cpu_seconds > plan.cpu_seconds:
        return f"more than {plan.cpu_seconds} s of processor time"
    if plan.wall_seconds is not None and seconds > plan.wall_seconds:
        return f"not finished after {plan.wall_seconds:g} s"
    return None


def _become(plan: Plan, command: list[str], group: cgroup.Cgroup | None, scratch: str | None) -> None:
    """In the child: fence it in, then exec. Never returns."""
    try:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, EVENTS)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the command would inherit that
            signal.signal(number, signal.SIG_DFL)
        if group:
            group.join()
        if scratch:
            for name in ("HOME", "TMPDIR"):
                os.environ.setdefault(name, scratch)
            os.chdir(scratch)
        if plan.folder:
            os.chdir(plan.folder)
        if plan.new_namespaces:
            linux.new_namespaces(plan.new_network)
        if plan.forward:
            forward.start(*plan.forward)
        limits.set_limits(plan)  # before the rules: it counts what the user has running
        if plan.landlock:
            linux.give_up_privileges()
            if scratch:
                plan.landlock.write.append(scratch)
            landlock_rules.restrict(plan.landlock)
        linux.die_with_parent(signal.SIGKILL)
        prefix = plan.prefix
        if plan.system_calls == "filtered":
            system_calls.refuse_system_calls(plan.lasting)
        elif plan.system_calls == "bubblewrap":
            inherited = str(system_calls.as_inherited_file(plan.lasting))
            prefix = [prefix[0], "--seccomp", inherited, *prefix[1:]]
        os.execvp((prefix + command)[0], prefix + command)
    except BaseException as error:
        os.write(2, f"overclock sandbox: could not start {command[0]}: {error}\n".encode())
    finally:
        os._exit(NOT_STARTED_CODE)


def _leave_streams(*streams: int) -> None:
    """Close our copies of the command's streams, so that readers see the end when the command has closed its own."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(null, stream)
    os.close(null)
