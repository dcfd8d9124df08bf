"""`Plan`: what the supervisor needs to start and watch a command, passed as JSON in its arguments.

Imports the standard library only, because the supervisor reads it in a fresh interpreter.
"""

import dataclasses
import json
from typing import Literal

MARK = "overclock sandbox: stopped: "  # begins the line on stderr that says why a command was stopped
STOPPED_CODE = 137  # exit code of a stopped command, as after SIGKILL
NOT_STARTED_CODE = 126  # exit code when the sandbox could not be set up or the program is not there


@dataclasses.dataclass(frozen=True)
class LandlockRules:
    """Folders to read, folders whose entries may only be listed, folders to write, and the use of the network."""

    read: list[str]
    listed: list[str]
    write: list[str]
    network: bool
    port: int | None  # the only one that may be reached where TCP is fenced, at whatever address


@dataclasses.dataclass(frozen=True)
class Plan:
    """Environment, limits and restrictions of one command."""

    variables: list[str]  # names of environment variables that are kept; all others are dropped
    memory_bytes: int
    address_space: bool
    cpu_seconds: int
    processes: int
    file_bytes: int
    wall_seconds: float | None
    caller: int  # the process that starts the supervisor, and without which nothing goes on
    prefix: list[str] = dataclasses.field(default_factory=list)  # a program that sets up the sandbox, with arguments
    folder: str | None = None
    scratch: str | None = None  # where to make a temporary HOME; None: the sandbox brings its own
    landlock: LandlockRules | None = None
    new_namespaces: bool = False  # namespaces of its own for IPC and,
    new_network: bool = False  # for the network, with nothing in it but loopback
    system_calls: Literal["all", "filtered", "bubblewrap"] = "all"  # filtered by us, or by bubblewrap for us
    lasting: bool = True  # whether it may write files that last, or use a network: else the filter refuses more
    forward: tuple[int, str] | None = None  # a port of 127.0.0.1 that leads to a Unix socket
    cgroup: bool = True

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        values = json.loads(text)
        if values["landlock"] is not None:
            values["landlock"] = LandlockRules(**values["landlock"])
        return cls(**values)
