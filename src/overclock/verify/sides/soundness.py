"""Is what a reference shows fit to be compared with? Names, shapes and dtypes that stay, one row per lane, no NaN."""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from overclock.verify.contract import FLAGS, OUTPUTS
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.subject import Observed, Subject

AFTER_RESET = ("obs", "state.steps")
AFTER_STEP = (*OUTPUTS, "state.steps")


class Form:
    """Names, shapes and dtypes as they were first seen; whatever deviates from them is said in one sentence."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._resets: dict[str, tuple[Any, ...]] = {}  # name -> shape, dtype
        self._steps: dict[str, tuple[Any, ...]] = {}

    def after_reset(self, shown: Observed) -> Observed:
        """What was shown after a reset, if it is sound; raises CouldNotVerifyError."""
        self._require(shown, "a reset", AFTER_RESET, self._resets)
        return shown

    def after_step(self, shown: Observed) -> Observed:
        """What was shown after a step, if it is sound; raises CouldNotVerifyError."""
        self._require(shown, "a step", AFTER_STEP, self._steps)
        return shown

    def _require(
        self, shown: Observed, after: str, wanted: tuple[str, ...], before: dict[str, tuple[Any, ...]]
    ) -> None:
        values = dict(named(shown))
        for name in wanted:
            if name not in values:
                fail(f"it does not show {name} after {after}")
        for name, value in values.items():
            if not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) != self._lanes:
                fail(f"{name} is not an array with one row per lane after {after}")
        now = {name: (value.shape[1:], value.dtype.name) for name, value in values.items()}
        if not before:
            before.update(now)
        step = f"at step {shown.state['steps'].max()}"
        for name in sorted(before.keys() | now.keys()):
            if (name in before) != (name in now):
                fail(f"{name} {'turned up' if name in now else 'is missing'} {step}")
        for name, (shape, dtype) in now.items():
            if (shape, dtype) != before[name]:
                old_shape, old_dtype = before[name]
                what = f"{old_dtype} to {dtype}" if dtype != old_dtype else f"shape {old_shape} to shape {shape}"
                fail(f"{name} changed from {what} {step}")
            if name in FLAGS and dtype != "bool":
                fail(f"{name} is {dtype}, not bool")
            if np.issubdtype(values[name].dtype, np.inexact) and np.isnan(values[name]).any():
                lane = int(np.flatnonzero(np.isnan(values[name]).reshape(self._lanes, -1).any(axis=1))[0])
                fail(f"{name} is NaN at step {int(shown.state['steps'][lane])}")


def require_same_actions(reference: Subject, performance: Subject) -> None:
    """Both sides must offer as many actions; raises CouldNotVerifyError."""
    one, other = (_offered(side.describe()) for side in (reference, performance))
    if one != other:
        who = "the performance side"
        raise CouldNotVerifyError(f"could not verify: {who}: it takes {other}, the reference takes {one}.", side=who)


def _offered(description: dict[str, Any]) -> str:
    return f"{description['n']} actions" if description["kind"] == "discrete" else "actions that are arrays"


def named(shown: Observed) -> Iterator[tuple[str, Any]]:
    """Everything a subject shows, by the names that contracts use."""
    yield from shown.outputs.items()
    yield from ((f"state.{name}", values) for name, values in shown.state.items())
    yield from ((f"draws.{name}", values) for name, values in shown.draws.items())


def fail(what: str) -> NoReturn:
    """The sentence for a reference that is not sound."""
    raise CouldNotVerifyError(f"could not verify: the reference is not sound: {what}.", side="the reference")
