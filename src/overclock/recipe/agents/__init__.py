"""Who does the work: coding agents by their command line, models by their API, people, scripts and recordings."""

import difflib
from collections.abc import Callable
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.agents.api import MAX_TURNS, ApiAgent
from overclock.recipe.agents.base import Agent, Ended, Endpoint, Task, Work
from overclock.recipe.agents.command import CommandAgent, Wrap
from overclock.recipe.agents.manual import ManualAgent
from overclock.recipe.agents.profile import BUILT_IN, Profile, built_in, load_profile
from overclock.recipe.agents.scripted import ReplayAgent

__all__ = ["Agent", "Ended", "Endpoint", "Profile", "Task", "Work", "Wrap", "by_name", "names"]


def names() -> list[str]:
    """What `by_name` understands, as a user would write it."""
    return [*built_in(), "api:openai:MODEL", "api:anthropic:MODEL", "manual", "replay:FOLDER", "PROFILE.toml"]


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
    """The agent that a user names; each takes the options that concern it.

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
    if name in built_in():
        profile = load_profile(BUILT_IN / f"{name}.toml")
    elif name.endswith(".toml"):
        profile = load_profile(Path(name))
    else:
        close = difflib.get_close_matches(name, names(), 1, cutoff=0.5)
        hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(names())}."
        raise UsageError(f"No agent is called '{name}'; {hint}")
    return CommandAgent(profile, home=home, logs=logs, model=model, program=program, wrap=wrap)
