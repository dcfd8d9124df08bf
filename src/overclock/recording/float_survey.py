"""What the floats of a reference are like, found out by playing it: sizes, whether they are whole, how far they stray.

How far two correct programs can be apart depends on the program: a difference of large numbers carries the rounding of
these. So the reference is asked. At some places of play it is copied; a copy takes the same step with every float of it
an ulp of float32 off, another one with its floats kept as float32. What changes by that is how far an element strays.
"""

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gymnasium
import numpy as np

from overclock.recording.floats import Floats
from overclock.recording.observations import flatten
from overclock.recording.rounded_copies import Strays, strays_at

STEPS, LONGEST = 300, 100  # of play, and of one episode of it
PLACES = 40
SIZES = 64  # moments from which the typical size of an element is taken
QUANTILE = 0.95  # of places: at the few others a copy may have come to the other side of a threshold
WHOLE = 2.0**24  # up to here float32 holds every whole number

Read = Callable[[Any], Mapping[str, np.ndarray]]
Choose = Callable[[Any, Any], Any]  # (environment, info) -> action


def survey_floats(env: gymnasium.Env, read: Read, choose: Choose | None = None, seed: int = 0) -> dict[str, Floats]:
    """Play `env` and describe its float fields by name; `read` gives the state, `choose` an action."""
    seen: dict[str, _Seen] = {}
    moments = _moments(env, read, choose or (lambda one, _: one.action_space.sample()), seed)
    places: list[Strays | None] = []
    for number, (values, action) in enumerate(moments):
        for name, value in values.items():
            if value.dtype.kind == "f":
                seen.setdefault(name, _Seen()).add(value)
        due = action is not None and number % (STEPS // PLACES) == 0
        if due and not all(np.all(one.whole) for one in seen.values()):
            places.append(strays_at(env, action, functools.partial(_shown, read)))
    return {name: _described(name, one, places) for name, one in seen.items()}


@dataclasses.dataclass
class _Seen:
    """The sizes of a field's elements so far."""

    count: int = 0
    whole: np.ndarray | bool = True
    largest: np.ndarray | None = None
    sizes: list[np.ndarray] = dataclasses.field(default_factory=list)

    def add(self, value: np.ndarray) -> None:
        flat = np.asarray(value, np.float64).reshape(-1)
        size = np.where(np.isfinite(flat), np.abs(flat), 0.0)
        self.whole = self.whole & ((size == np.round(size)) & (size < WHOLE))
        self.largest = size if self.largest is None else np.maximum(self.largest, size)
        if self.count % max(1, STEPS // SIZES) == 0:
            self.sizes.append(size)
        self.count += 1


def _moments(env: Any, read: Read, choose: Choose, seed: int) -> Iterator[tuple[dict[str, np.ndarray], Any]]:
    """What is shown at every moment of some episodes, and the action that follows; None at an episode's end."""
    env.action_space.seed(seed)
    number = episode = 0
    while number < STEPS:
        obs, info = env.reset(seed=seed + episode)
        episode += 1
        values = {**read(env), "obs": flatten(env.observation_space, obs)}
        for _ in range(LONGEST):
            action = choose(env, info)
            yield values, action
            number += 1
            obs, reward, terminated, truncated, info = env.step(action)
            values = _shown(read, env, obs, reward)
            if terminated or truncated or number >= STEPS:
                break
        yield values, None


def _shown(read: Read, env: Any, obs: Any, reward: Any) -> dict[str, np.ndarray]:
    paid = np.asarray(reward)
    paid = paid.astype(np.float64) if paid.dtype.kind in "iub" else paid  # a reward is a float by contract
    return {**read(env), "obs": flatten(env.observation_space, obs), "reward": paid}


def _described(name: str, seen: _Seen, places: list[Strays | None]) -> Floats:
    assert seen.largest is not None
    sizes = np.stack(seen.sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an element that is always zero
        typical = np.nan_to_num(np.nanmedian(np.where(sizes > 0, sizes, np.nan), axis=0))
    found = [one.rounded[name] for one in places if one is not None and name in one.rounded]
    strays = None
    if len(found) * 2 >= len(places) and found:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # an element that jumped at every place
            strays = tuple(np.nan_to_num(np.nanquantile(np.stack(found), QUANTILE, axis=0)).tolist())
    acted = [one.actions[name] for one in places if one is not None and name in one.actions]
    actions = tuple(np.nanmax(np.stack(acted), axis=0).tolist()) if acted else ()
    whole = tuple(np.asarray(seen.whole).tolist())
    return Floats(tuple(typical.tolist()), tuple(seen.largest.tolist()), whole, strays, actions)
