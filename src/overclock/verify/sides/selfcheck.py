"""Before anything else: is the reference the same as itself? Nothing can be compared with one that is not.

It plays some episodes, then plays them again with the same seeds and actions: once more in the same process, and in
another process with other string hashes and its lanes in reverse order. Everything it shows must be equal bit for bit,
must keep its names, shapes and dtypes, and must not be NaN. Whether it can be put into a state is tried as well.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from overclock.errors import UsageError
from overclock.verify.contract import Twin
from overclock.verify.rollout.actions import ActionSource, SourceMaker, mask_uniform, uniform
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.soundness import Form, fail, named
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec

AGAIN = "in a second run of the same process"
ELSEWHERE = "in another process with other string hashes and the lanes in reverse order"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReferenceCheck:
    """What was compared of a reference with itself; `set_state` says whether it can be put into a state."""

    name: Literal["reference against itself"] = "reference against itself"
    passed: bool = True
    runs: int = 3
    steps: int
    episodes: int
    fields: list[str]
    set_state: str
    seed: int


@dataclasses.dataclass
class _Event:
    """A reset of some lanes or a step of all, and what the reference showed then."""

    seeds: np.ndarray
    mask: np.ndarray | None = None  # lanes that were reset
    actions: np.ndarray | None = None
    shown: Observed = dataclasses.field(default_factory=lambda: Observed({}, {}, {}))


def check_reference(
    twin: Twin,
    lanes: int = 8,
    steps: int = 200,
    seed: int = 0,
    timeout: float = 120.0,
    source: SourceMaker | None = None,
) -> ReferenceCheck:
    """Run the reference three times; raises CouldNotVerifyError where it is not reproducible or not sound.

    `source` chooses the actions: uniform (among the legal ones, where there is a mask) if it is not given.
    """
    if lanes < 1 or steps < 1:
        raise UsageError(f"lanes and steps must be at least 1, got {lanes} and {steps}.")
    with ProcessSubject(_with_hashes(twin.reference, "1"), lanes, "the reference", timeout) as reference:
        events, choose = _record(reference, steps, seed, source)
        _require_same(events, _repeat(reference, events, slice(None)), AGAIN)
    with ProcessSubject(_with_hashes(twin.reference, "2"), lanes, "the reference", timeout) as other:
        backwards = slice(None, None, -1)
        _require_same(events, _repeat(other, events, backwards), ELSEWHERE)
        set_state = _check_set_state(other, events, choose, seed)
    ends = sum(int(_ended(event.shown).sum()) for event in events if event.actions is not None)
    fields = [name for name, _ in named(events[1].shown)]
    return ReferenceCheck(steps=lanes * steps, episodes=ends, fields=fields, set_state=set_state, seed=seed)


def _with_hashes(spec: SubjectSpec, hash_seed: str) -> SubjectSpec:
    """Fix the string hashes of a Python reference, unless it fixes them itself."""
    pinned = "PYTHONHASHSEED" in dict(spec.environment)
    return spec if pinned else spec.with_environment(PYTHONHASHSEED=hash_seed)


def _record(
    reference: ProcessSubject, steps: int, seed: int, source: SourceMaker | None
) -> tuple[list[_Event], ActionSource]:
    """Episodes back to back in every lane, and where their actions came from."""
    lanes = reference.num_envs
    generator, seeds = np.random.default_rng(seed), np.arange(seed, seed + lanes, dtype=np.int64)
    form = Form(lanes)
    mask = np.ones(lanes, np.bool_)
    shown = form.after_reset(reference.reset(mask, seeds))
    events = [_Event(seeds, mask=mask, shown=shown)]
    maker = source or (mask_uniform if "action_mask" in shown.outputs else uniform)
    choose = maker(reference.description)
    for _ in range(steps):
        actions = choose(generator, shown)
        shown = form.after_step(reference.step(actions))
        events.append(_Event(seeds, actions=actions, shown=shown))
        ended = _ended(shown)
        if ended.any():
            seeds = np.where(ended, seeds + lanes, seeds)
            shown = form.after_reset(reference.reset(ended, seeds))
            events.append(_Event(seeds, mask=ended, shown=shown))
    return events, choose


def _repeat(reference: ProcessSubject, events: list[_Event], order: slice) -> Iterator[Observed]:
    """The same resets and steps again, with the lanes in another order; shown in the first order."""
    for event in events:
        if event.mask is not None:
            shown = reference.reset(event.mask[order], event.seeds[order])
        else:
            assert event.actions is not None
            shown = reference.step(event.actions[order])
        parts = (shown.outputs, shown.state, shown.draws)
        yield Observed(*({name: values[order] for name, values in part.items()} for part in parts))


def _require_same(events: list[_Event], again: Iterator[Observed], how: str) -> None:
    for event, shown in zip(events, again, strict=True):
        found = _difference(event.shown, shown)
        if found is not None:
            lane, name, one, other = found
            raise CouldNotVerifyError(
                f"could not verify: reference diverges from itself at step {_step(event.shown, lane)}, field {name} "
                f"(seed {event.seeds[lane]}: {one}, but {other} {how}); it depends on more than seed and actions."
            )


def _difference(first: Observed, second: Observed, lanes: np.ndarray | None = None) -> tuple[int, str, Any, Any] | None:
    """The first lane and field that are not equal bit for bit, with both values."""
    one, other = dict(named(first)), dict(named(second))
    for name in one:
        a, b = one[name], other.get(name)
        if b is None or a.shape != b.shape or a.dtype != b.dtype:
            return 0, name, _about(a), _about(b)
        for lane in range(len(a)) if lanes is None else np.flatnonzero(lanes):
            if a[lane].tobytes() != b[lane].tobytes():
                return int(lane), name, a[lane].tolist(), b[lane].tolist()
    return None


def _check_set_state(reference: ProcessSubject, events: list[_Event], choose: ActionSource, seed: int) -> str:
    """Whether a step from a state that was set is the step that was seen from it.

    The reference is first led elsewhere by other actions, as many as before so that a generator inside it has drawn as
    often; lanes in which it still draws other numbers cannot be compared.
    """
    stretch = [event.mask is None for event in events[1:]].index(False) if _restarted(events) else len(events) - 1
    before, then = events[stretch - 1].shown, events[stretch]
    assert then.actions is not None
    generator, everyone = np.random.default_rng(seed + 1), np.ones(reference.num_envs, np.bool_)
    shown = reference.reset(everyone, then.seeds)
    for _ in range(max(1, stretch - 1)):
        shown = reference.step(choose(generator, shown))
        if (ended := _ended(shown)).any():
            shown = reference.reset(ended, then.seeds)
    try:
        reference.set_state(before.state)
    except CouldNotVerifyError as error:
        if "NotImplementedError" not in str(error):
            raise
        return "not offered"
    shown = reference.step(then.actions, then.shown.draws)
    comparable = _equal_draws(then.shown.draws, shown.draws, len(then.actions))
    if not comparable.any():
        return "not checked: its steps draw numbers that do not follow from the state"
    found = _difference(then.shown, shown, comparable)
    if found is not None:
        lane, name, one, other = found
        fail(
            f"set_state does not restore it: a step from the same state with the same action gives {name} = {other}, "
            f"in the episode it was {one} (seed {then.seeds[lane]}, step {_step(then.shown, lane)})"
        )
    return "restores"


def _restarted(events: list[_Event]) -> bool:
    return any(event.mask is not None for event in events[1:])


def _equal_draws(first: Arrays, second: Arrays, lanes: int) -> np.ndarray:
    """The lanes in which two steps drew the same numbers."""
    if first.keys() != second.keys() or any(first[name].shape != second[name].shape for name in first):
        return np.zeros(lanes, np.bool_)
    rows = [(first[name] == second[name]).reshape(lanes, -1).all(axis=1) for name in first]
    return np.all([np.ones(lanes, np.bool_), *rows], axis=0)


def _ended(shown: Observed) -> np.ndarray:
    return shown.outputs["terminated"] | shown.outputs["truncated"]


def _step(shown: Observed, lane: int) -> int:
    return int(shown.state["steps"][lane])


def _about(value: np.ndarray | None) -> str:
    return "nothing" if value is None else f"{value.dtype} of shape {value.shape[1:]}"
