"""A seccomp filter: system calls that a sandboxed command has no use for, and that pass the other walls.

Memory and messages that outlive a process (System V shared memory, semaphores and queues, POSIX queues, keyrings, files
in memory), socket families other than Unix and IP, namespaces of its own, and calls through which other calls escape a
filter (io_uring). Limits and priorities can be set of the calling process only: those of others need no more than the
same user. A command that writes nothing lasting and has no network opens no sockets either, and changes no owner,
permission, time or attribute of a file: Landlock restricts none of these.

seccomp(2) has the rules; the filter is a program of classic BPF, written here by hand because it is shorter than any
binding of libseccomp and needs no library. docs.kernel.org: userspace-api/seccomp_filter.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

from overclock.recipe.sandbox.linux import checked, prctl

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
# BPF_LD|W|ABS, BPF_JMP|JEQ, JGE, JSET, BPF_ALU|AND, BPF_RET
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
# Offsets in struct seccomp_data; of an argument the low 32 bits.
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
OTHER_ABI = 0x40000000  # numbers from here on are x86-64's x32 calls

# The numbers of the calls, x86-64 and arm64.
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH
REFUSED: dict[str, tuple[int, int]] = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182), "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "pidfd_getfd": (438, 438),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "setns": (308, 268), "open_by_handle_at": (304, 265),
    "clone3": (435, 435),  # its flags lie in memory, where a filter cannot look; C libraries then use clone
}  # fmt: skip
# Refused where nothing that lasts may be written: what changes a file without opening it, and what watches files.
MISSING = -1  # a call that arm64 never had
METADATA: dict[str, tuple[int, int]] = {
    "chmod": (90, MISSING), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, MISSING), "fchown": (93, 55), "lchown": (94, MISSING), "fchownat": (260, 54),
    "utime": (132, MISSING), "utimes": (235, MISSING), "futimesat": (261, MISSING), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16), "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "inotify_add_watch": (254, 27), "fanotify_init": (300, 262),
}  # fmt: skip
# Calls that name a process, and where: only 0, the calling one, is allowed.
OF_A_PROCESS: dict[str, tuple[tuple[int, int], int]] = {
    "prlimit64": ((302, 261), FIRST_ARGUMENT),
    "sched_setparam": ((142, 118), FIRST_ARGUMENT),
    "sched_setscheduler": ((144, 119), FIRST_ARGUMENT),
    "sched_setattr": ((314, 274), FIRST_ARGUMENT),
    "sched_setaffinity": ((203, 122), FIRST_ARGUMENT),
    "setpriority": ((141, 140), SECOND_ARGUMENT),
    "ioprio_set": ((251, 30), SECOND_ARGUMENT),
}
SOCKET, CLONE, UNSHARE = {"socket": (41, 198), "socketpair": (53, 199)}, (56, 220), (272, 97)
AF_UNIX, SOCK_STREAM, SOCK_SEQPACKET, KIND = 1, 1, 5, 0xF  # the kind of a socket without its flags
# Netlink is how C libraries ask for the machine's addresses; it reaches nothing outside of the network namespace.
FAMILIES = {"AF_UNIX": AF_UNIX, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
NAMESPACES = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
SIGNAL_OF_CLONE = 0xFF  # the low byte of clone's flags is a signal; CLONE_NEWTIME, which is in there, is for unshare

Instruction = tuple[int, int, int, int]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def filter_program(lasting: bool = True, machine: str | None = None) -> bytes | None:
    """The filter for a machine (`platform.machine()`), as bytes; None for one whose numbers are not known here.

    `lasting`: for a command that may write files or use a network; otherwise METADATA and sockets are refused as well.
    """
    if (machine or platform.machine()) not in MACHINES:
        return None
    column, architecture = MACHINES[machine or platform.machine()]
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUAL, 1, 0, architecture),
        _refuse(errno.ENOSYS),
        (LOAD, 0, 0, NUMBER),
        (AT_LEAST, 0, 1, OTHER_ABI),
        _refuse(errno.ENOSYS),
    ]
    for numbers in REFUSED.values():
        program += _call(numbers[column], [_refuse(errno.ENOSYS)])
    for numbers in () if lasting else METADATA.values():
        program += _call(numbers[column], [_refuse(errno.EPERM)])
    for numbers, argument in OF_A_PROCESS.values():
        own = (EQUAL, 0, 1, 0)
        program += _call(numbers[column], [(LOAD, 0, 0, argument), own, (RETURN, 0, 0, ALLOW), _refuse(errno.EPERM)])
    for name, numbers in SOCKET.items():
        program += _call(numbers[column], _families() if lasting else _no_sockets(name == "socketpair"))
    for numbers, flags in ((CLONE, NAMESPACES & ~SIGNAL_OF_CLONE), (UNSHARE, NAMESPACES)):
        asked = [(LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, flags), _refuse(errno.EPERM), (RETURN, 0, 0, ALLOW)]
        program += _call(numbers[column], asked)
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _families() -> list[Instruction]:
    allowed = [step for family in FAMILIES.values() for step in ((EQUAL, 0, 1, family), (RETURN, 0, 0, ALLOW))]
    return [(LOAD, 0, 0, FIRST_ARGUMENT), *allowed, _refuse(errno.EAFNOSUPPORT)]


def _no_sockets(pairs: bool) -> list[Instruction]:
    """None but, with `pairs`, two that are connected for good: one for datagrams sends to any other by its name.

    Rust's library starts every program with a pair of SOCK_SEQPACKET.
    """
    if not pairs:
        return [_refuse(errno.EACCES)]
    return [
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (EQUAL, 0, 5, AF_UNIX),
        (LOAD, 0, 0, SECOND_ARGUMENT),
        (AND, 0, 0, KIND),
        (EQUAL, 1, 0, SOCK_STREAM),
        (EQUAL, 0, 1, SOCK_SEQPACKET),
        (RETURN, 0, 0, ALLOW),
        _refuse(errno.EACCES),
    ]


def _refuse(number: int) -> Instruction:
    return RETURN, 0, 0, ERRNO | number


def _call(number: int, then: Sequence[Instruction]) -> list[Instruction]:
    """What becomes of one system call; every way through `then` ends in it."""
    return [] if number == MISSING else [(EQUAL, 0, len(then), number), *then]


def refuse_system_calls(lasting: bool = True) -> None:
    """Install the filter in this process and all its descendants, for good; OSError where that cannot be done."""
    program = filter_program(lasting)
    if program is None:
        raise OSError(errno.ENOSYS, f"no filter is known for {platform.machine()}")
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    described = _Program(len(program) // 8, program)
    libc = ctypes.CDLL(None, use_errno=True)
    checked(
        libc.prctl(
            PR_SET_SECCOMP,
            ctypes.c_ulong(SECCOMP_MODE_FILTER),
            ctypes.byref(described),
            ctypes.c_ulong(0),
            ctypes.c_ulong(0),
        )
    )


def as_inherited_file(lasting: bool = True) -> int:
    """A file descriptor from which a program that is started next can read the filter, as bubblewrap's --seccomp."""
    reading, writing = os.pipe()  # a filter is smaller than what a pipe holds
    os.write(writing, filter_program(lasting) or b"")
    os.close(writing)
    os.set_inheritable(reading, True)
    return reading
