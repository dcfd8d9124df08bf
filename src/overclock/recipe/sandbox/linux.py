"""The few calls of the Linux kernel that Python does not offer, through the C library.

Used between fork and exec, in a process with one thread.
"""

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x8000000, 0x10000000, 0x40000000
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
CAPABILITIES = 64  # more than any kernel has

_libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> int:
    """The result of a C function; OSError with `errno` if it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, *arguments: int) -> None:
    """Call prctl(2) with up to four integer arguments; OSError if it fails."""
    padded = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    checked(_libc.prctl(option, *padded))


def syscall(number: int, *arguments: object) -> int:
    """Call syscall(2) with ctypes values as arguments; OSError if it fails."""
    return checked(_libc.syscall(ctypes.c_long(number), *arguments))


def die_with_parent(signal: int) -> None:
    """Ask the kernel to send this process a signal when its parent ends."""
    prctl(PR_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that none of them can get lost."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def give_up_privileges() -> None:
    """Drop all capabilities from the next exec on, so that no program can regain one."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    with contextlib.suppress(OSError):  # without privileges there is nothing to drop
        for capability in range(CAPABILITIES):
            prctl(PR_CAPBSET_DROP, capability)


def new_namespaces(network: bool) -> None:
    """Enter an IPC namespace of its own (shared memory, semaphores, queues), and with `network` one of the network.

    In a new network namespace nothing but loopback is to be seen.
    """
    user, group = os.getuid(), os.getgid()
    wanted = CLONE_NEWIPC | (CLONE_NEWNET if network else 0)
    if _libc.unshare(CLONE_NEWUSER | wanted) == 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    else:
        checked(_libc.unshare(wanted))  # root may do without a user namespace
    if network:
        _start_loopback()


def _start_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
