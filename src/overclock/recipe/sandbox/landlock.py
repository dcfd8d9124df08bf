"""Landlock: the kernel restricts files and TCP of a process, for systems where bubblewrap is missing or not allowed."""

import dataclasses
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.sandbox.base import Sandbox, limits_of, own_program
from overclock.recipe.sandbox.landlock_rules import SCOPE_ABI, TCP_ABI, abi
from overclock.recipe.sandbox.places import system_places
from overclock.recipe.sandbox.plan import LandlockRules, Plan
from overclock.recipe.sandbox.rights import Rights

PROBE_TIMEOUT_S = 20.0


@dataclasses.dataclass(frozen=True)
class Landlock(Sandbox):
    """Through system calls between fork and exec."""

    own_network: bool  # whether namespaces of the network and of IPC can be had
    filtered: bool  # whether a filter of system calls can be installed

    def _plan(self, rights: Rights, variables: list[str]) -> Plan:
        _check_nesting(rights)
        roots = [*system_places(), *rights.read]
        shown = [place for root in roots for place in _around(root, rights.hidden)]
        return Plan(
            variables,
            folder=str(rights.folder) if rights.folder else None,
            scratch=tempfile.gettempdir(),
            landlock=LandlockRules(
                read=[str(path) for path, whole in shown if whole],
                # In a folder on Python's path nothing is found unless it can be listed.
                listed=[*(str(path) for path, whole in shown if not whole), *_python_path(rights)],
                write=[str(path) for path in rights.write],
                network=rights.network is True,
                port=rights.port if rights.network == "socket" else None,
            ),
            new_namespaces=self.own_network,
            new_network=self.own_network and rights.network is not True,
            system_calls="filtered" if self.filtered else "all",
            forward=(rights.port, str(rights.socket)) if rights.network == "socket" else None,
            **limits_of(rights),
        )


def _python_path(rights: Rights) -> list[str]:
    return list(filter(None, rights.environment.get("PYTHONPATH", "").split(os.pathsep)))


def find() -> tuple[Landlock | None, str]:
    """The sandbox if it works here, and what was found."""
    version = abi()
    if version == 0:
        return None, "this kernel has no Landlock, or it is switched off"
    namespaces, filtered = _works("namespaces"), system_calls_work()
    found = ", ".join([
        f"ABI {version}",
        f"{'with' if namespaces else 'without'} network and IPC namespaces",
        f"{'with' if filtered else 'without'} a filter of system calls",
    ])  # fmt: skip
    return Landlock("landlock", "Landlock", _sentence(version, namespaces, filtered), namespaces, filtered), found


def system_calls_work() -> bool:
    """Whether a filter of system calls can be installed on this machine."""
    return _works("system calls")


def _works(wall: str) -> bool:
    """Tried in another process, because there is no way back out of a namespace or a filter."""
    command = [*own_program("overclock.recipe.sandbox.landlock"), wall]
    done = subprocess.run(command, capture_output=True, timeout=PROBE_TIMEOUT_S, check=False)
    return done.returncode == 0


def main() -> None:
    """The probe of one wall, named by the last argument."""
    from overclock.recipe.sandbox.linux import new_namespaces
    from overclock.recipe.sandbox.system_calls import refuse_system_calls

    try:
        if sys.argv[-1] == "namespaces":
            new_namespaces(network=True)
        else:
            refuse_system_calls()
    except OSError as error:
        sys.exit(str(error))


def _sentence(version: int, network: bool, filtered: bool) -> str:
    held = ["reads and writes only the files it was granted", "has no capabilities and none of our environment"]
    loose = [
        "the names of hidden files",
        "the total of temporary files",
    ]
    if filtered:
        held.append(
            "has no shared memory, semaphores, queues, keyrings or files in memory, no socket families but Unix and "
            "IP, makes no namespaces, and sets no limits or priorities of other processes; a candidate opens no "
            "sockets and changes no owner, permission or time of a file"
        )
        loose.append("for an agent, Unix sockets in the file system, and owners, permissions and times of our files")
    else:
        loose += ["Unix sockets that lie in the file system", "owners, permissions and times of our files"]
        loose += [
            "limits of our processes",
            "user namespaces of its own",
            "unusual socket families",
            "keyrings",
            "io_uring",
        ]
        if not network:
            loose.append("shared memory and queues that outlive it")
    if network:
        held.append("has no network unless granted")
    elif version >= TCP_ABI:
        held.append("has no TCP unless granted")
        # A rule of Landlock names a port and no machine.
        loose += ["UDP", "TCP to other machines at the gateway's port, for an agent"]
    else:
        loose.append("the network")
    (held if version >= SCOPE_ABI else loose).append(
        "cannot signal our processes" if version >= SCOPE_ABI else "signals to our processes"
    )
    return (
        f"Landlock: {', '.join(held)}; memory, processor time, processes and file sizes are limited, and nothing "
        f"survives its end. It does not hold back: {', '.join(loose)}, nor attacks on the Linux kernel itself."
    )


def _check_nesting(rights: Rights) -> None:
    """UsageError for a protected path inside a writable folder: Landlock's rules can only grant whole subtrees."""
    for path in (*rights.read, *rights.hidden):
        for tree in rights.write:
            if path != tree and path.is_relative_to(tree):
                raise UsageError(
                    f"Landlock cannot protect '{path}' inside '{tree}', which may be written; "
                    "install bubblewrap, or keep the two apart."
                )


def _around(root: Path, hidden: tuple[Path, ...]) -> Iterator[tuple[Path, bool]]:
    """(path, whether the whole subtree or only the listing may be read), for a folder with hidden paths in it."""
    real = root.resolve()
    if real in hidden:
        return
    if not any(path.is_relative_to(real) for path in hidden):
        yield root, True
        return
    yield root, False
    for entry in os.scandir(real):
        if not entry.is_symlink():  # where it leads decides, and that has a rule of its own or none
            yield from _around(Path(entry.path), hidden)
