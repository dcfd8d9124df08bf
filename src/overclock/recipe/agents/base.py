"""`Agent`: is given a prompt and a folder, and changes files in that folder.

`Work` says how a call ended and nothing about whether the files are right. That is the verifier's business, whatever
an agent says about itself and whatever its exit code is.
"""

import dataclasses
import urllib.parse
from pathlib import Path
from typing import Literal, Protocol

from overclock.recipe.gateway.usage import Usage

Ended = Literal["finished", "timeout", "crashed", "refused", "waiting"]


@dataclasses.dataclass(frozen=True)
class Task:
    """One call of an agent: a prompt and the folder (work tree) that it may change."""

    id: str  # one per call of a run; names the call's files
    purpose: str  # translate, repair, optimise ...
    prompt: str
    folder: Path
    wall_seconds: float
    session: str | None = None  # of an earlier call, whose conversation goes on where the agent can do that
    iteration: int = 0

    @property
    def file_stem(self) -> str:
        """The id as part of a file name; different ids never share one."""
        return urllib.parse.quote(self.id, safe=" +,=@")


@dataclasses.dataclass(frozen=True)
class Work:
    """How a call ended.

    `finished`: the agent stopped by itself (or at a limit of its own); `timeout`: it was stopped at the wall clock;
    `crashed`: its program or its model failed; `refused`: the model's side will take no further calls (budget spent,
    key wrong); `waiting`: somebody else goes on. In every case the folder is what it is, and is judged as such.
    """

    ended: Ended
    reason: str  # one sentence
    text: str = ""  # the agent's last words
    usage: Usage | None = None  # of this call alone; None = not reported
    seconds: float = 0.0
    session: str | None = None
    exit_code: int | None = None
    status: int | None = None  # the HTTP status with which the model's side refused or failed, where it is known


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """Where a gateway listens. `base_url` has no trailing `/v1`; the key is a placeholder that it hands out."""

    base_url: str
    api_key: str


class Agent(Protocol):
    """Anything that works on tasks. One that can be interrupted from another thread also has `stop()`."""

    name: str

    def work(self, task: Task, endpoint: Endpoint | None) -> Work:
        """Change the task's folder; models are called at the endpoint where there is one."""
        ...
