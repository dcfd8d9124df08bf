"""Outcomes of the steps after an end that depend on what a reference remembers beside the state of its contract.

CartPole counts the steps since the pole fell; no state has that number, so no comparison can begin there. Runs in the
reference's process, which plays alone and steps on after every end.
"""

import ast
import contextlib
from collections.abc import Collection
from typing import Protocol

import numpy as np

from overclock.verify.reach.ledger import Outcome, Seen
from overclock.verify.rollout.actions import random_legal
from overclock.verify.sides.subject import Subject

PLAYED, STEPS = 1024, 3  # steps of every lane; of them beyond an end


class WatchedSubject(Subject, Protocol):
    """A subject whose branches can be watched."""

    def watch(self, lanes: np.ndarray) -> None:
        """Watch these lanes from now on."""
        ...

    def seen(self) -> Seen:
        """Which outcomes were taken while lanes were watched."""
        ...


def late_outcomes(subject: WatchedSubject, remembered: Collection[str], seed: int) -> list[Outcome]:
    """Those that steps beyond an end take, and that attributes decide of which none is `remembered` by the state."""
    generator, act = np.random.default_rng(seed), random_legal(subject.describe())
    lanes = subject.num_envs
    beyond = np.zeros(lanes, np.int64)
    shown = subject.reset(np.ones(lanes, np.bool_), generator.integers(2**31, size=lanes))
    with contextlib.suppress(Exception):  # whatever a reference raises beyond an end
        for _ in range(PLAYED):
            subject.watch(beyond > 0)
            shown = subject.step(act(generator, shown))
            ended = shown.outputs["terminated"] | shown.outputs["truncated"]
            beyond = np.where((beyond > 0) | ended, beyond + 1, 0)
            if (done := beyond > STEPS).any():
                subject.watch(np.zeros(lanes, np.bool_))
                shown = subject.reset(done, generator.integers(2**31, size=lanes))
                beyond[done] = 0
    taken = [one.outcome for one in subject.seen().outcomes if one.taken]
    return [one for one in taken if decided_by_others(one.condition, remembered)]


def decided_by_others(condition: str, remembered: Collection[str]) -> bool:
    """Whether a condition is made of constants and of attributes of `self` alone that the state does not have."""
    try:
        test = ast.parse(condition, mode="eval").body
    except SyntaxError:
        return False
    names = [node for node in ast.walk(test) if isinstance(node, ast.Name)]
    attributes = [node for node in ast.walk(test) if isinstance(node, ast.Attribute)]
    own = [one.attr for one in attributes if isinstance(one.value, ast.Name) and one.value.id == "self"]
    calls = any(isinstance(node, ast.Call | ast.Subscript) for node in ast.walk(test))
    return bool(own) and not calls and len(own) == len(names) and not {*own} & {*remembered}
