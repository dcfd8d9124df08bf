"""The levels of verification as one table: what each is called, what a twin must describe for it, how it is run."""

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from overclock.env import registry
from overclock.progress import Progress
from overclock.verify.contract import Twin
from overclock.verify.interaction.level import check_interactions
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.property.level import Recording, check_recorded, modules_of
from overclock.verify.reach.ledger import Ledger
from overclock.verify.result import RunLevel
from overclock.verify.rollout.level import Diverging, check_rollouts


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the levels are run with besides the twin.

    `recording` gives what the reference did for level 1, `controller` is the entry point of the environment's scripted
    player, and `attempt` counts how often level 4 was asked about this twin. The `ledger` gathers which branches of the
    reference the levels take; level 3 judges by it, and does not without one.
    """

    recording: Callable[[Twin], Recording]
    episodes: int
    seed: int
    timeout: float
    progress: Progress
    controller: str | None = None
    attempt: int = 1
    ledger: Ledger | None = None


@dataclasses.dataclass(frozen=True)
class Answer:
    """The result of a level, and the first episode of level 3 that diverged."""

    result: RunLevel
    diverging: Diverging | None = None


@dataclasses.dataclass(frozen=True)
class Level:
    """One level; `field` is the field of `Twin` that describes what it runs, `load` reads that description."""

    name: str
    run: Callable[[Twin, Settings], Answer]
    field: str | None = None
    load: Callable[[Twin], Any] = lambda twin: None


def _properties(twin: Twin, settings: Settings) -> Answer:
    recording = settings.recording(twin)
    if settings.ledger is not None and recording.seen is not None:
        settings.ledger.add(recording.seen)
    return Answer(check_recorded(twin, recording, progress=settings.progress, timeout=settings.timeout))


def _interactions(twin: Twin, settings: Settings) -> Answer:
    settings.progress("scenarios", 0, 1)
    result = check_interactions(twin, settings.timeout, ledger=settings.ledger)
    settings.progress("scenarios", 1, 1)
    return Answer(result)


def _rollouts(twin: Twin, settings: Settings) -> Answer:
    return Answer(
        *check_rollouts(
            twin,
            settings.controller,
            settings.episodes,
            settings.seed,
            settings.timeout,
            settings.progress,
            settings.ledger,
        )
    )


def _transfer(twin: Twin, settings: Settings) -> Answer:
    from overclock.verify.transfer.level import check_transfer  # networks take long to import

    plan = None
    if settings.attempt > 1:
        plan = dataclasses.replace(registry.load(twin.transfer or ""), attempt=settings.attempt)
    return Answer(check_transfer(twin, plan, seed=settings.seed, timeout=settings.timeout, progress=settings.progress))


LEVELS: Mapping[int, Level] = MappingProxyType(
    {
        1: Level("property", _properties, "modules", modules_of),
        2: Level("interaction", _interactions, "scenarios", lambda twin: load_scenarios(str(twin.scenarios))),
        3: Level("rollout", _rollouts),
        4: Level("transfer", _transfer, "transfer", lambda twin: registry.load(twin.transfer or "")),
    }
)
