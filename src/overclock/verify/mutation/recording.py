"""What every mutant is compared with: the reference's calls, scenarios and episodes, recorded once and played again."""

import dataclasses
from collections.abc import Callable

import numpy as np

from overclock.env import registry
from overclock.errors import UnknownEnvironmentError
from overclock.progress import Progress
from overclock.verify.contract import Twin
from overclock.verify.interaction.playback import Playback, play_reference
from overclock.verify.interaction.scenario import Scenario, load_scenarios
from overclock.verify.property import level as level1
from overclock.verify.property.module import Cases
from overclock.verify.rollout.actions import SourceMaker, controlled, uniform
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Arrays, Observed, Subject

LANES_WITHOUT_SCENARIOS = 16
LONGEST = 1_000  # steps of an episode: one without an end is cut, since every mutant has to play it again
CONTROLLED_SHARE = 10  # one controlled (long) episode for this many random ones


@dataclasses.dataclass(frozen=True)
class Event:
    """One moment of lanes that run episodes back to back: a reset of some of them, or a step of all."""

    seen: Observed
    counted: np.ndarray  # lanes whose episode belongs to the comparison
    reset: np.ndarray | None = None  # the lanes that began a new episode
    actions: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Recording:
    """The reference as levels 1, 2 and 3 saw it. All lanes of levels 2 and 3 have one width, so a mutant is compiled
    once for both.
    """

    lanes: int
    cases: dict[str, Cases]
    scenarios: list[Scenario]
    playback: Playback
    episodes: dict[str, list[Event]]  # by where the actions came from


def record(twin: Twin, episodes: int, seed: int, progress: Progress, timeout: float) -> Recording:
    """Let the reference play everything once."""
    cases = level1.record(twin, seed, progress, timeout=timeout).cases if twin.modules is not None else {}
    scenarios = [] if twin.scenarios is None else load_scenarios(twin.scenarios)
    playback = play_reference(twin, scenarios, timeout)
    lanes = len(scenarios) or LANES_WITHOUT_SCENARIOS
    played = {}
    for name, (source, count) in _sources(twin, episodes).items():
        with ProcessSubject(twin.reference, lanes, "the reference", timeout) as reference:

            def heard(done: int, name: str = name, count: int = count) -> None:
                progress(f"recording episodes, {name} actions", done, count)

            played[name] = _episodes(reference, source, count, seed, longest(twin), heard)
    return Recording(lanes, cases, scenarios, playback, played)


def longest(twin: Twin) -> int:
    """How many steps an episode may have."""
    return min([LONGEST, *(c.step_limit for c in twin.contracts.values() if c.step_limit is not None)])


def play_episodes(subject: Subject, events: list[Event], forced: bool) -> list[Observed]:
    """The same events on another side, with the reference's randomness (and, `forced`, from its states)."""
    seeds = np.zeros(len(events[0].counted), np.int64)
    shown, before = [], events[0].seen
    for event in events:
        if event.reset is not None:
            shown.append(subject.reset(event.reset, seeds, event.seen.draws))
        else:
            assert event.actions is not None
            if forced:
                subject.set_state(before.state)
            shown.append(subject.step(event.actions, event.seen.draws))
        before = event.seen
    return shown


def joined(seen: list[Observed]) -> Observed:
    """Many moments as one with more lanes; draws are left out."""
    return Observed(_joined([moment.outputs for moment in seen]), _joined([moment.state for moment in seen]), {})


def _joined(parts: list[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _sources(twin: Twin, episodes: int) -> dict[str, tuple[SourceMaker, int]]:
    """Those of `verify`: random actions, and fewer but longer episodes of a scripted player where there is one."""
    sources: dict[str, tuple[SourceMaker, int]] = {"uniform": (uniform, episodes)}
    try:
        controller = registry.spec(twin.name).controller
    except UnknownEnvironmentError:
        controller = None
    if controller is not None:
        sources["controlled"] = (controlled(registry.load(controller)), max(1, episodes // CONTROLLED_SHARE))
    return sources


def _episodes(
    reference: ProcessSubject,
    source: SourceMaker,
    episodes: int,
    seed: int,
    steps: int,
    progress: Callable[[int], None],
) -> list[Event]:
    """Episodes of at most `steps` steps, back to back in every lane, until enough have ended.

    Lanes that are through are no longer counted.
    """
    lanes = reference.num_envs
    generator, act = np.random.default_rng(seed), source(reference.description)
    seeds, counted = np.arange(seed, seed + lanes, dtype=np.int64), np.arange(lanes) < episodes
    started, ended_so_far = int(counted.sum()), 0
    everyone = np.ones(lanes, np.bool_)
    seen = reference.reset(everyone, seeds)
    events = [Event(seen, counted.copy(), reset=everyone)]
    while counted.any():
        actions = act(generator, seen)
        seen = reference.step(actions)
        events.append(Event(seen, counted.copy(), actions=actions))
        ended = seen.outputs["terminated"] | seen.outputs["truncated"] | (seen.state["steps"] >= steps)
        ended_so_far += int((ended & counted).sum())
        progress(ended_so_far)
        if not ended.any():
            continue
        for lane in np.flatnonzero(ended & counted):
            counted[lane] = started < episodes
            started += int(counted[lane])
        seeds = np.where(ended, seeds + lanes, seeds)
        seen = reference.reset(ended, seeds)
        events.append(Event(seen, counted & ended, reset=ended))
    return events
