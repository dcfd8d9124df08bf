"""Without isolation, shown as UNSANDBOXED: limits and a clean environment stop accidents, not intent."""

import dataclasses
import tempfile

from overclock.recipe.sandbox.base import Sandbox, limits_of
from overclock.recipe.sandbox.plan import Plan
from overclock.recipe.sandbox.rights import Rights

SENTENCE = (
    "UNSANDBOXED: memory, processor time, processes and file sizes are limited, the environment is cleared, HOME is "
    "temporary, and what it starts ends with it. It does not hold back files, the network or other processes: code "
    "that means harm can read, write and reach whatever this user can, and look up our environment."
)


@dataclasses.dataclass(frozen=True)
class Unsandboxed(Sandbox):
    """Only the supervisor with its limits; works on every Linux."""

    def _plan(self, rights: Rights, variables: list[str]) -> Plan:
        return Plan(
            variables,
            folder=str(rights.folder) if rights.folder else None,
            scratch=tempfile.gettempdir(),
            forward=(rights.port, str(rights.socket)) if rights.network == "socket" else None,
            **limits_of(rights),
        )


def find() -> tuple[Unsandboxed, str]:
    """The sandbox, and the words of `probe` about it."""
    return Unsandboxed("none", "UNSANDBOXED", SENTENCE), "always there"
