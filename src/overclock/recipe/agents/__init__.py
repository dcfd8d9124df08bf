"""Agents write and repair candidates: coding agents, models called by their API, people and recordings.

Coding agents: `command`, with `profile` and `profiles/` (how a program is called), `outputs` and `output_fields` (what
it prints), `processes` (running it), `private_home`, `sessions`. Models: `api`, `protocols`, `tools`, `transport`.
"""

import difflib
from collections.abc import Callable
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.agents.api import MAX_TURNS, ApiAgent
from overclock.recipe.agents.base import Agent, Ended, Endpoint, Task, Work
from overclock.recipe.agents.command import CommandAgent, Wrap
from overclock.recipe.agents.manual import ManualAgent
from overclock.recipe.agents.profile import BUILT_IN, Profile, built_in, load_profile
from overclock.recipe.agents.replay import ReplayAgent
from overclock.recipe.gateway.dialects import DialectName

__all__ = ["Agent", "Ended", "Endpoint", "Profile", "Task", "Work", "Wrap", "asks_in", "by_name", "names"]

# The wire dialect in which an agent asks its model, by the dialect of its own output or by the protocol of an API.
ASKED_IN: dict[str, DialectName] = {
    "claude": "anthropic", "codex": "responses", "gemini": "gemini", "qwen": "chat", "opencode": "chat",
    "api:anthropic": "anthropic", "api:openai": "chat",
}  # fmt: skip


def names() -> list[str]:
    """What `by_name` understands, as a user would write it."""
    return [*built_in(), "builtin", "api:openai:MODEL", "api:anthropic:MODEL", "manual", "replay:RUN", "PROFILE.toml"]


def asks_in(name: str) -> DialectName | None:
    """The wire dialect in which an agent asks its model; None where it asks none, or where that is not known."""
    if name in built_in() or name.endswith(".toml"):
        return ASKED_IN.get(_profile(name).dialect)
    return ASKED_IN.get(":".join(name.split(":")[:2]))


def by_name(
    name: str,
    *,
    run: str,
    logs: Path,
    home: Path,
    model: str | None = None,
    program: str | None = None,
    wrap: Wrap | None = None,
    check: Callable[[Task], str] | None = None,
    max_turns: int = MAX_TURNS,
) -> Agent:
    """The agent with this name; UsageError if there is none. Each kind of agent takes the options that concern it.

    `run` is what the user calls the run, `logs` keeps prompts and outputs, `home` is the private home of a command
    line agent. `model` and `program` override a profile's, `wrap` puts a sandbox around its command, `check` becomes a
    tool of a model that is called by its API.
    """
    kind, _, rest = name.partition(":")
    if name == "manual":
        return ManualAgent(run=run, logs=logs)
    if kind == "replay" and rest:
        return ReplayAgent(Path(rest))
    if kind == "api":
        protocol, _, written = rest.partition(":")
        return ApiAgent(protocol, model or written, logs=logs, check=check, max_turns=max_turns)
    if name in built_in() or name.endswith(".toml"):
        return CommandAgent(_profile(name), home=home, logs=logs, model=model, program=program, wrap=wrap)
    close = difflib.get_close_matches(name, names(), 1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(names())}."
    raise UsageError(f"No agent is called '{name}'; {hint}")


def _profile(name: str) -> Profile:
    return load_profile(BUILT_IN / f"{name}.toml" if name in built_in() else Path(name))
