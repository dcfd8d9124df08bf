"""`Rights`: what a command may read, write, reach and use. Everything that is not granted is refused.

Two profiles: a *candidate* sees itself, Python and Overclock, and nothing of the reference; an *agent* writes its
work tree, reads what it is given, and reaches a model through the gateway's socket only.
"""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from overclock.errors import UsageError
from overclock.recipe.sandbox.places import hidden_paths, lookups, package_parent, python_places, python_variables

GIB = 1 << 30
GATEWAY_PORT = 8402
# JAX on the CPU starts a few threads per core; they count, because the kernel counts them.
CPUS = os.cpu_count() or 1


@dataclasses.dataclass(frozen=True)
class Rights:
    """What a command may do. `hidden` lies inside what may be read, and is not to be seen nevertheless.

    `network`: True is the host's, False is none, "socket" is none but 127.0.0.1:`port`, which leads to `socket`.
    """

    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()  # without symbolic links
    network: bool | Literal["socket"] = False
    socket: Path | None = None
    port: int = GATEWAY_PORT
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    folder: Path | None = None  # where it starts; None: its temporary HOME
    memory_bytes: int = 4 * GIB  # of all its processes together; of each process's address space as well where
    address_space: bool = True  # this is set (not for Node or CUDA, which reserve far more than they use)
    cpu_seconds: int = 3600  # of all its processes together
    processes: int = 64 + 32 * CPUS  # processes and threads together
    file_bytes: int = GIB  # the largest file, and the size of each temporary storage that a sandbox brings
    wall_seconds: float | None = None

    def __post_init__(self) -> None:
        if (self.network == "socket") != (self.socket is not None):
            raise UsageError('A socket is needed with network="socket", and only with it.')
        for path in (*self.read, *self.write, *filter(None, [self.folder, self.socket])):
            if not path.is_absolute() or not path.exists():
                raise UsageError(f"The sandbox cannot grant '{path}': give the absolute path of something that exists.")


def candidate_rights(
    candidate: Path,
    *,
    readable: Iterable[Path] = (),
    hidden_packages: Iterable[str] = (),
    hidden: Iterable[Path] = (),
    environment: Mapping[str, str] | None = None,
    plain: bool = False,
    **limits: Any,
) -> Rights:
    """For a candidate's code: it reads itself, Python and Overclock; no network; nothing that lasts is written.

    `hidden_packages` are import names ("gymnasium", "overclock.envs.pong") of the reference and its relatives.
    `plain`: with the environment variables of a user, none of ours. `limits` are further fields of `Rights`.
    """
    candidate = candidate.resolve()
    variables = {**python_variables(), **(environment or {})}
    # Without the candidate: a numpy.py or json.py of its own would be imported by the worker that runs it.
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [package_parent(), variables.get("PYTHONPATH")]))
    if plain:
        variables.pop("PYTHONDONTWRITEBYTECODE")
    else:  # a cache shared with the grader could be poisoned; one of its own would be lost
        variables.setdefault("OVERCLOCK_COMPILE_CACHE", "off")
    return Rights(
        read=(*python_places(), candidate, *(path.resolve() for path in readable)),
        hidden=(*hidden_paths(hidden_packages), *(path.resolve() for path in hidden)),
        environment=variables,
        **limits,
    )


def agent_rights(
    work_tree: Path,
    *,
    readable: Iterable[Path] = (),
    gateway_socket: Path | None = None,
    environment: Mapping[str, str] | None = None,
    **limits: Any,
) -> Rights:
    """For a coding agent: it starts in its work tree, writes that, and reads Python, Overclock and what it is given.

    With `gateway_socket`, 127.0.0.1:`port` leads there and nowhere else; without it there is no network, unless
    `network=True` is among the `limits` (further fields of `Rights`).
    """
    work_tree = work_tree.resolve()
    chosen: dict[str, Any] = {"address_space": False, "processes": 512 + 32 * CPUS, "folder": work_tree}
    if gateway_socket is not None:
        chosen |= {"network": "socket", "socket": gateway_socket.resolve()}
    variables = {**python_variables(), **(environment or {})}
    return Rights(
        read=(*lookups(), *python_places(), *(path.resolve() for path in readable)),
        write=(work_tree,),
        environment=variables,
        **{**chosen, **limits},
    )
