"""Runs a command in isolation: an agent's program, or the worker process of a candidate.

`best()` is the strongest sandbox that works here; `candidate_rights` and `agent_rights` say what may be touched.
Names load on first use: supervisor.py starts with every command and imports this package.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.recipe.sandbox.base import Launch, Sandbox, stop, stopped_because
    from overclock.recipe.sandbox.choices import Finding, best, by_name, probe
    from overclock.recipe.sandbox.rights import Rights, agent_rights, candidate_rights
    from overclock.recipe.sandbox.worker import sandboxed

__all__ = [
    "Finding", "Launch", "Rights", "Sandbox", "agent_rights", "best", "by_name", "candidate_rights", "probe",
    "sandboxed", "stop", "stopped_because",
]  # fmt: skip

MODULES = {
    "base": ["Launch", "Sandbox", "stop", "stopped_because"], "choices": ["Finding", "best", "by_name", "probe"],
    "rights": ["Rights", "agent_rights", "candidate_rights"], "worker": ["sandboxed"],
}  # fmt: skip
__getattr__, __dir__ = lazy_names(__name__, {name: f"{__name__}.{m}" for m, names in MODULES.items() for name in names})
