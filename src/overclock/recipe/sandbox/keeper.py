"""The process beside every sandboxed command: it starts it, watches what it uses, and leaves nothing of it behind.

There are two of them. The *front* is what the caller started and may kill at any moment, with its process group; the
*keeper*, in a session of its own, notices and cleans up. Both adopt orphans, so a double fork or a new session is no
way out, and if one of the two is killed the other one ends the command. If the caller itself is killed, the front ends
everything: nobody would be left to do so. Run as `PLAN_JSON COMMAND...`.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time

from overclock.recipe.sandbox import cgroup, forward, kernel, landlock_rules, limits, system_calls, tree
from overclock.recipe.sandbox.plan import MARK, NOT_STARTED_CODE, STOPPED_CODE, Plan

WATCH_S = 0.05
CALLER_WATCH_S = 0.25  # the kernel tells of a parent's end only to the child of the thread that ends
EVENTS = {signal.SIGTERM, signal.SIGCHLD}
UNITS = 1 << 20


def main() -> None:
    """The front: runs until the keeper ends, or until it is told or forced to end."""
    plan, command = Plan.from_json(sys.argv[1]), sys.argv[2:]
    for name in set(os.environ) - set(plan.variables):
        del os.environ[name]
    kernel.adopt_orphans()
    group = cgroup.make(plan.processes) if plan.cgroup else None
    scratch = tempfile.mkdtemp(prefix="overclock-sandbox-", dir=plan.scratch) if plan.scratch else None
    signal.pthread_sigmask(signal.SIG_BLOCK, EVENTS)
    front, keeper = os.getpid(), os.fork()
    if keeper == 0:
        os._exit(_keep(plan, command, group, scratch, front))
    _leave_streams(0, 1, 2)
    code = _await(keeper, plan.caller)
    _clean_up(group, scratch)  # the keeper did so, unless it was killed
    os._exit(code if code >= 0 else STOPPED_CODE)


def _await(keeper: int, caller: int) -> int:
    """The keeper's exit code; it is asked to end when we are, and when the caller is no more."""
    while True:
        ended, status = os.waitpid(keeper, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        event = signal.sigtimedwait(EVENTS, CALLER_WATCH_S)
        if os.getppid() != caller or (event is not None and event.si_signo == signal.SIGTERM):
            with contextlib.suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGTERM)


def _clean_up(group: cgroup.Cgroup | None, scratch: str | None) -> None:
    tree.end_all(group.members if group else lambda: ())
    if group:
        group.remove()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)


def _keep(plan: Plan, command: list[str], group: cgroup.Cgroup | None, scratch: str | None, front: int) -> int:
    os.setsid()
    kernel.adopt_orphans()
    kernel.die_with_parent(signal.SIGTERM)
    child = os.fork()
    if child == 0:
        _become(plan, command, group, scratch)
    _leave_streams(0, 1)
    try:
        return _watch(plan, child, group, front)
    finally:
        _clean_up(group, scratch)


def _watch(plan: Plan, child: int, group: cgroup.Cgroup | None, front: int) -> int:
    """The command's exit code; that of a stopped one if it has to be stopped."""
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
    """Which limit was passed, if any."""
    load = tree.weigh(tree.descendants(os.getpid()))
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
            kernel.new_namespaces(plan.new_network)
        if plan.forward:
            forward.start(*plan.forward)
        limits.set_limits(plan)  # before the fences: it counts what the user has running
        if plan.fences:
            kernel.give_up_privileges()
            if scratch:
                plan.fences.write.append(scratch)
            landlock_rules.restrict(plan.fences)
        kernel.die_with_parent(signal.SIGKILL)
        prefix = plan.prefix
        if plan.system_calls == "filtered":
            system_calls.refuse_system_calls()
        elif plan.system_calls == "bubblewrap":
            prefix = [prefix[0], "--seccomp", str(system_calls.as_inherited_file()), *prefix[1:]]
        os.execvp((prefix + command)[0], prefix + command)
    except BaseException as error:
        os.write(2, f"overclock sandbox: could not start {command[0]}: {error}\n".encode())
    finally:
        os._exit(NOT_STARTED_CODE)


def _leave_streams(*streams: int) -> None:
    """Let go of the command's streams, so that their other ends see when the command itself has closed them."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(null, stream)
    os.close(null)
