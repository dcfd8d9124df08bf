"""`Ways`: how a run is carried out. Nothing of this decides what is right."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from overclock.progress import Progress, silent
from overclock.recipe.agents import Agent
from overclock.recipe.gateway.backend import ModelBackend
from overclock.recipe.loop.parts import Options


@dataclasses.dataclass(frozen=True)
class Ways:
    """Sandboxes, addresses and programs; and who hears how far it is."""

    sandbox: str = "best"
    agent_sandbox: str = "best"
    upstream: str | None = None  # another address for every kind of model, on loopback say
    recorded: Path | None = None  # a run whose calls are answered from, instead of a model
    program: str | None = None  # where an agent's program lies
    prices: Path | None = None
    options: Options = Options()
    backend: ModelBackend | None = None  # instead of the providers' own addresses
    agent: Agent | None = None  # instead of the project's
    say: Callable[[str], None] = lambda sentence: None
    progress: Progress = silent
