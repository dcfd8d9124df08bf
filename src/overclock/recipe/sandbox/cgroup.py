"""A control group that limits how many processes a command can have: the kernel itself refuses the next fork.

Used where this user may make one (version 1 as root, version 2 where systemd or a container delegates it). Elsewhere
the supervisor counts processes.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


class Cgroup:
    """One control group: a folder of the `pids` controller."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def join(self) -> None:
        """Put this process, and what it will start, into the group; where that is refused, the supervisor counts."""
        with contextlib.suppress(OSError):
            (self._folder / "cgroup.procs").write_text("0")

    def members(self) -> list[int]:
        """The ids of its processes without zombies; empty if it cannot be read."""
        try:
            return [int(pid) for pid in (self._folder / "cgroup.procs").read_text().split()]
        except OSError:
            return []

    @property
    def refused(self) -> bool:
        """Whether the kernel has refused a fork because of the limit."""
        try:
            events = (self._folder / "pids.events").read_text().split()
        except OSError:
            return False
        return dict(zip(events[::2], events[1::2], strict=True)).get("max", "0") != "0"

    def remove(self) -> None:
        """Delete the group, which must be empty; a failure is ignored."""
        with contextlib.suppress(OSError):
            self._folder.rmdir()


def make(limit: int, proc: Path = Path("/proc/self")) -> Cgroup | None:
    """A new group for at most `limit` processes and threads, or None where this user cannot make one."""
    for parent in _parents(proc):
        folder = parent / f"overclock-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / "pids.max").write_text(str(limit))
            return Cgroup(folder)
        except OSError:
            Cgroup(folder).remove()
    return None


def _parents(proc: Path) -> Iterator[Path]:
    """Groups of this process (and, in version 2, the one above it) in which a group with `pids.max` can be made."""
    try:
        mounts = [line.split() for line in (proc / "mountinfo").read_text().splitlines()]
        own = [line.split(":", 2) for line in (proc / "cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in own:
        for mount in mounts:
            kind, _, options = mount[mount.index("-") + 1 :][:3]
            here = Path(mount[4]) / path.lstrip("/")
            if kind == "cgroup" and "pids" in controllers.split(",") and "pids" in options.split(","):
                yield here
            elif kind == "cgroup2" and not controllers:
                # A group with processes of its own cannot have groups with controllers below it; its parent may.
                for folder in (here, here.parent):
                    with contextlib.suppress(OSError):
                        if "pids" in (folder / "cgroup.subtree_control").read_text().split():
                            yield folder
