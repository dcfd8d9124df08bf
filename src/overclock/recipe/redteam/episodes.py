"""Episodes of the reference, recorded once and played by every candidate."""

import dataclasses

import numpy as np

from overclock.verify.actions import uniform
from overclock.verify.compare import judge
from overclock.verify.contract import Contract, Mode
from overclock.verify.process import ProcessSubject
from overclock.verify.subject import Observed, Subject, SubjectSpec

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


def first_difference(subject: Subject, episodes: Episodes, contract: Contract, mode: Mode) -> str | None:
    """Play the same episodes on a candidate; where it leaves the contract first, in words."""
    lanes = len(episodes.actions[0])
    played = subject.reset(np.ones(lanes, np.bool_), np.zeros(lanes, np.int64), episodes.first.draws)
    wrong = _wrong(contract, mode, episodes.first, played, np.ones(lanes, np.bool_))
    before = episodes.first
    for number, (actions, shown, running) in enumerate(
        zip(episodes.actions, episodes.shown, episodes.running, strict=True), start=1
    ):
        if wrong is not None:
            return f"{wrong} after step {number - 1}, {mode}"
        if mode == "per_step":
            subject.set_state(before.state)
        wrong = _wrong(contract, mode, shown, subject.step(actions, shown.draws), running)
        before = shown
    return None if wrong is None else f"{wrong} after step {len(episodes.shown)}, {mode}"


def _wrong(contract: Contract, mode: Mode, ref: Observed, perf: Observed, counted: np.ndarray) -> str | None:
    for field in contract.compared:
        judged = judge(contract, field, field.tolerance(mode), ref, perf)
        if judged is not None and (judged.wrong & counted).any():
            lane = int(np.flatnonzero(judged.wrong & counted)[0])
            return f"{field.name} is {judged.performance[lane].tolist()} for {judged.reference[lane].tolist()}"
    return None
