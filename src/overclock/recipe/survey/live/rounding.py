"""What rounding can do to a reference, found out by asking it: how far it is from itself, and where its flag turns.

A float32 action makes a reference round to float32 what it computes from it alone; another program may round there
otherwise. And where a number decides `terminated`, two correct programs that round differently may decide differently
next to the threshold. Both are measured in a reference that can be put into a state; elsewhere nothing is known.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.survey.live.loading import make, playing
from overclock.recipe.survey.live.paths import innermost
from overclock.recipe.survey.live.restore import Outcome, Place, places
from overclock.recipe.survey.live.state_tracking import StateField
from overclock.recipe.survey.static.source import Source

ACTIONS = 16  # tried at every place
MOST_NUMBERS = 8  # of the state, whose thresholds are looked for
GRID, FINEST, EQUAL = 9, 1e-13, 1e-9
PLAIN = (type(None), bool, int, float, str)

Element = tuple[str, tuple[int, ...]]  # a field's path, and which of its numbers


@dataclasses.dataclass(frozen=True)
class Rounding:
    """`spread`: how far `state`, `obs` and `reward` moved when a float32 action came as float64.

    `limits`: the thresholds of `terminated`, by 'path' or 'path[0]' of the state after a step.
    """

    spread: Mapping[str, float] = dataclasses.field(default_factory=dict)
    limits: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)


def rounding(source: Source, fields: list[StateField], choose: Any, seed: int = 0) -> Rounding:
    """Measure spread and limits; `fields` are the whole state, and can be set. Empty where the reference refuses."""
    env = make(source)
    try:
        with playing(source):
            known = list(places(env, [one.path for one in fields], choose, seed))
            fresh = {name: one for name, one in vars(innermost(env)).items() if isinstance(one, PLAIN)}
            asked = _Asked(env, {name: one for name, one in fresh.items() if name not in {f.path for f in fields}})
            return Rounding(_spread(asked, known), _limits(asked, known, fields))
    except UsageError:  # it cannot take such an action or such a state
        return Rounding()
    finally:
        close(env)


@dataclasses.dataclass(frozen=True)
class _Asked:
    """An instance that is put from place to place; attributes that are no state are reset each time."""

    env: Any
    fresh: dict[str, Any]

    def step(self, place: Place, action: Any = None, fields: Mapping[str, Any] | None = None) -> Outcome:
        vars(innermost(self.env)).update(self.fresh)
        return place.step(self.env, action, fields)


def _spread(asked: _Asked, known: list[Place]) -> dict[str, float]:
    space = asked.env.action_space
    if getattr(space, "dtype", None) != np.float32:
        return {}
    found: dict[str, float] = {}
    for place in known:
        for action in [space.sample() for _ in range(ACTIONS)]:
            single, double = (asked.step(place, action.astype(dtype)) for dtype in (np.float32, np.float64))
            pairs = [("obs", single.obs, double.obs), ("reward", single.reward, double.reward)]
            pairs += [("state", value, double.fields[path]) for path, value in single.fields.items()]
            for group, one, other in pairs:
                apart = np.abs(np.asarray(one, np.float64) - np.asarray(other, np.float64))
                found[group] = max(found.get(group, 0.0), float(apart[np.isfinite(apart)].max(initial=0.0)))
    return {group: size for group, size in found.items() if size}


def _limits(asked: _Asked, known: list[Place], fields: list[StateField]) -> dict[str, tuple[float, ...]]:
    """Thresholds: numbers of the state that are the same wherever the flag turns, whatever else differs."""
    elements = [
        ((one.path, index), one)
        for one in fields
        if one.kind == "float"
        for index in np.ndindex(one.shape)
    ][:MOST_NUMBERS]  # fmt: skip
    seen: dict[Element, list[tuple[int, float]]] = {}  # the place, and the value where the flag turned
    for number, place in enumerate(known):
        for element, field in elements:
            for turned in _turns(asked, place, element, field, [one for one, _ in elements]):
                for which, value in turned.items():
                    seen.setdefault(which, []).append((number, value))
    found: dict[str, tuple[float, ...]] = {}
    for (path, index), values in seen.items():
        shared = [
            value
            for number, value in values
            if any(other != number and abs(again - value) <= EQUAL * max(1.0, abs(value)) for other, again in values)
        ]
        # Of values that are equal but for rounding, the first stands for all.
        distinct = [v for i, v in enumerate(shared) if all(abs(v - u) > EQUAL * max(1.0, abs(v)) for u in shared[:i])]
        if distinct:
            found[path + "".join(f"[{place}]" for place in index)] = tuple(sorted(map(_short, distinct)))
    return found


def _short(value: float) -> float:
    """As a person would have written it: a search ends beside a threshold, closer to it than EQUAL."""
    return round(float(f"{value:.9g}"), 9) + 0.0  # no -0.0


def _turns(
    asked: _Asked, place: Place, element: Element, field: StateField, elements: list[Element]
) -> Iterator[dict[Element, float]]:
    """The state after a step where `terminated` turns as one number grows; only numbers that grow or fall with it."""
    path, index = element
    half, own = max(field.high - field.low, 1.0), float(place.fields[path][index])
    grid = np.unique([own, *np.linspace(field.low - half, field.high + half, GRID)])  # play went on from its own
    outcomes = [_outcome(asked, place, element, value, elements) for value in grid]
    for low, high, before, after in zip(grid[:-1], grid[1:], outcomes[:-1], outcomes[1:], strict=True):
        if before[0] == after[0]:
            continue
        moving = [one for one in elements if before[1][one] != after[1][one]]
        while high - low > FINEST * max(1.0, abs(low), abs(high)):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            there = _outcome(asked, place, element, middle, elements)
            low, high = (middle, high) if there[0] == before[0] else (low, middle)
        _, state = _outcome(asked, place, element, low, elements)
        yield {one: state[one] for one in moving}


def _outcome(
    asked: _Asked, place: Place, element: Element, value: float, elements: list[Element]
) -> tuple[bool, dict[Element, float]]:
    path, index = element
    changed = np.array(place.fields[path], np.float64)
    changed[index] = value
    after = asked.step(place, fields={path: changed})
    return bool(after.terminated), {(of, at): float(np.asarray(after.fields[of])[at]) for of, at in elements}
