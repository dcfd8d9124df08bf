"""The practice episodes: episodes of the reference that the author of a cheat has seen."""

import dataclasses

import numpy as np

from overclock.verify.rollout.actions import uniform
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Observed, SubjectSpec

STEPS = 60  # random play of CartPole is over by then, but for one episode in a hundred


@dataclasses.dataclass(frozen=True)
class Episodes:
    """One episode per lane, under random actions: what the reference showed at its reset and after every step."""

    first: Observed
    actions: list[np.ndarray]
    shown: list[Observed]
    running: list[np.ndarray]  # per step, the lanes whose episode had not ended before it


def record_episodes(reference: SubjectSpec, lanes: int, seed: int, timeout: float) -> Episodes:
    """Play the reference from seeds `seed` and up."""
    generator = np.random.default_rng(seed)
    with ProcessSubject(reference, lanes, "the reference", timeout) as subject:
        act = uniform(subject.description)
        seen = subject.reset(np.ones(lanes, np.bool_), np.arange(seed, seed + lanes, dtype=np.int64))
        episodes, running = Episodes(seen, [], [], []), np.ones(lanes, np.bool_)
        while running.any() and len(episodes.shown) < STEPS:
            actions = act(generator, seen)
            seen = subject.step(actions)
            episodes.actions.append(actions)
            episodes.shown.append(seen)
            episodes.running.append(running)
            running = running & ~(seen.outputs["terminated"] | seen.outputs["truncated"])
    return episodes
