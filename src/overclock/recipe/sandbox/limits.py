"""Limits that the kernel enforces for each process (setrlimit). They are inherited, and cannot be raised again."""

import contextlib
import os
import resource
from pathlib import Path

from overclock.recipe.sandbox.plan import Plan

OPEN_FILES = 4096
NICENESS = 5  # the supervisor, and everybody else on the machine, comes first
# XLA starts several pools with a thread per core, and each thread reserves a stack and an arena that it hardly touches.
# With 16 cores that is more than 3 GiB of addresses; what is really used is the supervisor's business.
RESERVED_PER_CPU = 384 << 20
SPARE = 4  # other programs of the user start processes too while the command runs


def set_limits(plan: Plan) -> None:
    """Limit this process and all that it will start."""
    os.nice(NICENESS)
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: plan.cpu_seconds + 1,  # the supervisor comes first, and says why
        resource.RLIMIT_FSIZE: plan.file_bytes,
        resource.RLIMIT_NOFILE: OPEN_FILES,
    }
    if plan.address_space:
        wanted[resource.RLIMIT_AS] = plan.memory_bytes + (os.cpu_count() or 1) * RESERVED_PER_CPU
    if os.geteuid() != 0:  # counted per user, and not at all for root
        wanted[resource.RLIMIT_NPROC] = _tasks_of_user() + SPARE * plan.processes
    for kind, value in wanted.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _tasks_of_user() -> int:
    """How many processes and threads this user has at the moment."""
    count = 0
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == os.geteuid():
                count += len(os.listdir(folder / "task"))
    return count
