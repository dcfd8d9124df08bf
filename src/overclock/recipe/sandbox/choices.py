"""Which kinds of sandbox work on this machine, found by trying them, strongest first."""

import dataclasses
import functools
import sys
from collections.abc import Callable

from overclock.errors import MissingError, UsageError
from overclock.recipe.sandbox import bubblewrap, landlock, unsandboxed
from overclock.recipe.sandbox.base import Sandbox

FINDERS: dict[str, tuple[Callable[[], tuple[Sandbox | None, str]], str]] = {  # name -> (finder, remedy)
    "bubblewrap": (bubblewrap.find, "install bubblewrap, and allow unprivileged user namespaces"),
    "landlock": (landlock.find, "use Linux 5.13 or newer with Landlock among its security modules"),
    "none": (unsandboxed.find, ""),
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """Whether one kind of sandbox works on this machine."""

    name: str
    works: bool
    found: str
    sentence: str  # what it prevents and what it does not; empty where it does not work
    remedy: str


@functools.cache
def _find(name: str) -> tuple[Sandbox | None, str]:
    if not sys.platform.startswith("linux"):
        return None, "sandboxes need Linux"
    return FINDERS[name][0]()


def probe() -> list[Finding]:
    """Try every kind of sandbox on this machine, strongest first."""
    findings = []
    for name, (_, remedy) in FINDERS.items():
        sandbox, found = _find(name)
        findings.append(Finding(name, sandbox is not None, found, sandbox.sentence if sandbox else "", remedy))
    return findings


def best() -> Sandbox:
    """The strongest sandbox that works here, at worst the one titled UNSANDBOXED; MissingError without Linux."""
    for name in FINDERS:
        sandbox, _ = _find(name)
        if sandbox is not None:
            return sandbox
    raise MissingError("Running agents and candidates apart needs Linux; use a Linux machine, container or WSL.")


def by_name(name: str) -> Sandbox:
    """The sandbox "bubblewrap", "landlock" or "none", or "best" for `best()`; MissingError if it does not work here."""
    if name == "best":
        return best()
    if name not in FINDERS:
        raise UsageError(f"There is no sandbox called '{name}'; there are: best, {', '.join(FINDERS)}.")
    sandbox, found = _find(name)
    if sandbox is None:
        raise MissingError(f"The sandbox '{name}' does not work here ({found}): {FINDERS[name][1]}.")
    return sandbox
