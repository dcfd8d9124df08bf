"""Counters in the state of a reference: whole numbers that steps count up, tried where counters fail.

A number counts if some steps add one to it (or take one away), and all others leave it as it is. Nothing is said of
where an episode cannot get to: a counter goes as far as the time limit, or to beyond what float32 counts where there is
none; one that counts down begins where play was seen to.
"""

import contextlib
from collections.abc import Sequence

import numpy as np

from overclock.verify.property.variations import counts
from overclock.verify.reach.search import Attempt, SearchedInstance, limited
from overclock.verify.sides.subject import Arrays

LOOKED_AT = 96  # steps of play that counters are looked for in
VARIED = 3  # states in which a counter is tried: those whose step counts it
MOST = 2**24 + 1  # beyond it float32 has no odd numbers
CASES = 1536  # recorded steps

Steps = Sequence[tuple[Attempt, Arrays]]  # and the state after each


def steps_of(instance: SearchedInstance, states: Sequence[Arrays]) -> list[tuple[Attempt, Arrays]]:
    """A step from some of the states that play met, without those that ended an episode or raised an error."""
    chosen = [states[place] for place in np.unique(np.linspace(0, len(states) - 1, LOOKED_AT).astype(int))]
    found = []
    for choice, state in enumerate(chosen if states else ()):
        with contextlib.suppress(Exception), limited():  # whatever a reference raises
            attempt = Attempt(instance.write(state), choice, played=True)
            if not instance.step(choice):
                found.append((attempt, instance.read()))
    return found


def counters_of(steps: Steps, names: Sequence[str]) -> dict[str, int]:
    """The whole numbers that count, and by what: 1 or -1."""
    found = {}
    for name in names:
        if not steps or steps[0][1][name].ndim or steps[0][1][name].dtype.kind not in "iu":
            continue
        changes = {int(after[name]) - int(attempt.state[name]) for attempt, after in steps} - {0}
        if changes in ({1}, {-1}):
            found[name] = changes.pop()
    return found


def attempts_at_counts(steps: Steps, names: Sequence[str], limit: int | None) -> list[Attempt]:
    """Steps in which one number that counts is where counters fail, and all else as it was; at most `CASES`."""
    found: list[Attempt] = []
    for name, by in counters_of(steps, names).items():
        farthest = max(int(attempt.state[name]) for attempt, _ in steps) if by < 0 else MOST if limit is None else limit
        varied = [attempt for attempt, after in steps if after[name] != attempt.state[name]][:VARIED]
        for attempt in varied:
            for value in counts(attempt.state[name].dtype, farthest):
                state = {**attempt.state, name: np.asarray(value, attempt.state[name].dtype)}
                found.append(Attempt(state, attempt.choice, played=False))
    return found[:CASES]
