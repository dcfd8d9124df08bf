"""Landlock through its three system calls: what this process and all its descendants may do with files and TCP.

https://docs.kernel.org/userspace-api/landlock.html. Rules only ever allow, for whole subtrees; what the kernel is not
yet able to restrict stays allowed, so `abi()` decides what can be promised.
"""

import contextlib
import ctypes
import os
import stat
from pathlib import Path

from overclock.recipe.sandbox.linux import syscall
from overclock.recipe.sandbox.plan import LandlockRules

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # on every architecture but Alpha
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH, RULE_NET_PORT = 1, 2

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
BASIC = (1 << 13) - 1  # the rights of the first version
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15  # since versions 2, 3 and 5
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1  # since version 4
ABSTRACT_SOCKETS, SIGNALS = 1 << 0, 1 << 1  # since version 6

TCP_ABI, SCOPE_ABI = 4, 6

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Facts about the machine that numerical libraries ask for. /proc/self is this very process, by its number.
FACTS = ("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/filesystems", "/sys/devices/system/cpu")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_, _layout_ = 1, "ms"  # Python 3.14 wants the layout of packed structures named
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


class _Port(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


def abi() -> int:
    """The version of Landlock in this kernel, 0 where there is none."""
    try:
        return syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(CREATE_RULESET_VERSION))
    except OSError:
        return 0


def restrict(rules: LandlockRules) -> None:
    """Restrict this process irrevocably. It must have given up its privileges before."""
    version = abi()
    everything = BASIC
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        everything |= right if version >= since else 0
    ruleset = _Ruleset(
        everything,
        BIND_TCP | CONNECT_TCP if version >= TCP_ABI and not rules.network else 0,
        ABSTRACT_SOCKETS | SIGNALS if version >= SCOPE_ABI else 0,
    )
    size = 24 if version >= SCOPE_ABI else 16 if version >= TCP_ABI else 8
    handle = syscall(CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    reading = READ_FILE | READ_DIR | EXECUTE
    for paths, rights in (
        (rules.read, reading),
        (rules.listed, READ_DIR),
        (rules.write, everything),
        (FACTS, reading),
        (DEVICES, READ_FILE | WRITE_FILE | TRUNCATE),
    ):
        for path in paths:
            _allow(handle, Path(path), rights & everything)
    if rules.port is not None and ruleset.network:
        rule = _Port(CONNECT_TCP, rules.port)
        syscall(ADD_RULE, ctypes.c_int(handle), ctypes.c_int(RULE_NET_PORT), ctypes.byref(rule), ctypes.c_uint32(0))
    syscall(RESTRICT_SELF, ctypes.c_int(handle), ctypes.c_uint32(0))
    os.close(handle)


def _allow(handle: int, path: Path, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError):  # what is not there needs no permission
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(folder).st_mode):
                rights &= OF_FILES
            rule = _Beneath(rights, folder)
            kind = ctypes.c_int(RULE_PATH_BENEATH)
            syscall(ADD_RULE, ctypes.c_int(handle), kind, ctypes.byref(rule), ctypes.c_uint32(0))
        finally:
            os.close(folder)
