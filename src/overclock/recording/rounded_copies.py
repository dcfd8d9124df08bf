"""How far one step of an environment strays when its numbers are rounded to float32: copies of it take the same step.

One copy has every float an ulp of float32 off, one has its floats as float32, so that it computes in float32 as far as
Python and NumPy let it. An element that jumps where another one is nudged has no error there: a threshold lies between.
"""

import copy
import dataclasses
import enum
import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

ULP = 2.0**-24  # of float32, relative: what rounding to it moves a number by at most
FINER = 8  # a second nudge is so many times smaller: what is smooth moves as much less, what jumps does not
DEPTH = 6  # of objects inside objects
NOISE = 2.0**-46  # of float64, relative: differences below this say nothing about smoothness

Values = dict[str, np.ndarray]
Show = Callable[[Any, Any, Any], Values]  # (environment, observation, reward) -> everything by name


@dataclasses.dataclass(frozen=True)
class Strays:
    """By field, how far every element strayed at one place: `rounded` to float32, and by a float32 action as float64.

    NaN where an element jumped.
    """

    rounded: Values
    actions: Values


def strays_at(env: Any, action: Any, show: Show) -> Strays | None:
    """Take the step of `action` in copies of an environment; None where it cannot be copied or repeats nothing."""
    drawn = random.getstate(), np.random.get_state()

    def step(change: Callable[[Any], Any] | None, given: Any = action) -> tuple[Values, Values]:
        """The floats, and all that must be as it was, the flags included."""
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])
        one = copy.deepcopy(env)
        if change is not None:
            change_floats(one.unwrapped, change)
        obs, reward, terminated, truncated, _ = one.step(given)
        shown = show(one, obs, reward)
        floats = {name: np.asarray(v, np.float64).reshape(-1) for name, v in shown.items() if v.dtype.kind == "f"}
        others = {name: v for name, v in shown.items() if v.dtype.kind != "f"}
        return floats, {**others, "flags": np.array([bool(terminated), bool(truncated)])}

    def apart(change: Callable[[Any], Any] | None, given: Any = action) -> Values | None:
        """Errors by field, None where the copy went another way or fails."""
        try:
            floats, others = step(change, given)
        except Exception:  # a reference that does not take such numbers
            return None
        same = others.keys() == expected.keys() and all(np.array_equal(expected[name], v) for name, v in others.items())
        alike = {name: v.shape for name, v in floats.items()} == {name: v.shape for name, v in base.items()}
        return {name: np.abs(v - base[name]) for name, v in floats.items()} if same and alike else None

    try:
        with np.errstate(all="ignore"):
            base, expected = step(None)
            again = apart(None)
            if again is None or any(np.any(error > 0) for error in again.values()):
                return None  # it draws from what a copy does not have
            rounded = _rounded(base, apart)
            moved = None
            if isinstance(action, np.ndarray) and action.dtype == np.float32:
                moved = apart(None, action.astype(np.float64))
            return None if rounded is None else Strays(rounded, moved or {})
    except Exception:  # what cannot be copied, stepped or read is not measured, whatever the reason
        return None
    finally:
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])


def _rounded(base: Values, apart: Callable[[Callable[[Any], Any]], Values | None]) -> Values | None:
    """The largest error of the copies by element; NaN where one of them jumped."""
    found: Values = {}
    for sign in (1.0, -1.0):
        coarse, fine = apart(_Nudge(sign * ULP)), apart(_Nudge(sign * ULP / FINER))
        if coarse is None or fine is None:
            return None
        for name, value in base.items():
            size = NOISE * np.abs(np.nan_to_num(value))
            smooth = (fine[name] <= coarse[name] / 2 + size) & (coarse[name] <= 4 * FINER * (fine[name] + size))
            error = np.where(smooth, coarse[name], np.nan)
            found[name] = np.maximum(found.get(name, 0.0), error)
    if (single := apart(to_single)) is not None:
        found = {name: np.fmax(error, single[name]) + 0.0 * error for name, error in found.items()}
    return {name: np.where(np.isfinite(error), error, np.nan) for name, error in found.items()}


class _Nudge:
    """Every float by the same part of itself, up or down by turns of a fixed sequence."""

    def __init__(self, part: float) -> None:
        self._part, self._signs = part, np.random.default_rng(0)

    def __call__(self, value: Any) -> Any:
        signs = self._signs.choice([-1.0, 1.0], np.shape(value))
        moved = value * (1.0 + self._part * signs)
        return moved.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(moved)


def to_single(value: Any) -> Any:
    """A float or an array of floats as float32."""
    return value.astype(np.float32) if isinstance(value, np.ndarray) else np.float32(value)


def change_floats(rules: Any, change: Callable[[Any], Any]) -> None:
    """Replace every float and array of floats that an object holds, also inside its objects, lists and dicts."""
    _change(rules, change, {}, DEPTH)


def _change(value: Any, change: Callable[[Any], Any], known: dict[int, Any], depth: int) -> Any:
    if isinstance(value, float | np.floating):  # also NumPy's own
        return change(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            known.setdefault(id(value), (value, change(value)))  # kept alive, so that its id stays its own
            return known[id(value)][1]
        return value
    if depth == 0 or id(value) in known:
        return value
    if type(value) is tuple:
        return tuple(_change(item, change, known, depth - 1) for item in value)
    if isinstance(value, list):
        into, items = value, list(enumerate(value))
    elif isinstance(value, dict):
        into, items = value, list(value.items())
    elif _is_plain(value):
        into, items = vars(value), list(vars(value).items())
    else:
        return value
    known[id(value)] = (value, value)  # each object once, also where it holds itself
    for key, item in items:
        changed = _change(item, change, known, depth - 1)
        if changed is not item:
            into[key] = changed
    return value


def _is_plain(value: Any) -> bool:
    """Whether it is an object of the reference's own, and no tool: a space, a generator, a window."""
    foreign = isinstance(value, gymnasium.Space | np.random.Generator | random.Random | enum.Enum | type)
    return not foreign and hasattr(value, "__dict__") and type(value).__module__ not in ("builtins", "types")
