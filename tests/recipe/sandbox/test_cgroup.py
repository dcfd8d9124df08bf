"""Control groups are found in both versions, and done without where this user cannot have them."""

import os
from pathlib import Path

from overclock.recipe.sandbox import cgroup


def machine(folder: Path, own: str, mount: str) -> Path:
    """A /proc/self that tells of one hierarchy."""
    proc = folder / "proc"
    proc.mkdir()
    (proc / "cgroup").write_text(f"{own}\n")
    (proc / "mountinfo").write_text(f"24 1 0:22 / {folder / 'fs'} rw,nosuid - {mount}\n")
    return proc


def test_version_1_makes_a_group_below_its_own(tmp_path):
    (tmp_path / "fs" / "mine").mkdir(parents=True)
    assert cgroup.make(7, machine(tmp_path, "8:pids:/mine", "cgroup cgroup rw,pids")) is not None
    assert (tmp_path / "fs" / "mine" / f"overclock-{os.getpid()}" / "pids.max").read_text() == "7"


def test_version_2_makes_a_group_where_processes_can_be_counted(tmp_path):
    (tmp_path / "fs" / "slice" / "scope").mkdir(parents=True)
    (tmp_path / "fs" / "slice" / "cgroup.subtree_control").write_text("memory pids\n")
    (tmp_path / "fs" / "slice" / "scope" / "cgroup.subtree_control").write_text("\n")
    assert cgroup.make(7, machine(tmp_path, "0::/slice/scope", "cgroup2 cgroup2 rw")) is not None
    assert (tmp_path / "fs" / "slice" / f"overclock-{os.getpid()}" / "pids.max").read_text() == "7"


def test_there_is_none_where_nothing_is_delegated(tmp_path):
    (tmp_path / "fs" / "scope").mkdir(parents=True)
    (tmp_path / "fs" / "scope" / "cgroup.subtree_control").write_text("memory\n")
    assert cgroup.make(7, machine(tmp_path, "0::/scope", "cgroup2 cgroup2 rw")) is None
    assert cgroup.make(7, tmp_path / "nowhere") is None


def test_a_refused_fork_is_noticed(tmp_path):
    group = cgroup.Cgroup(tmp_path)
    assert not group.refused
    (tmp_path / "pids.events").write_text("max 0\n")
    assert not group.refused
    (tmp_path / "pids.events").write_text("max 3\n")
    assert group.refused
