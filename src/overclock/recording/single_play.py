"""Can float32 reproduce a reference's episodes? Found out by playing it beside copies whose floats are rounded.

A clock that adds 0.1 ends a step late in float32, and a chaotic system ends anywhere. Copies of the reference take the
same actions with their floats rounded to float32 after every step, to either neighbour at random. Where more than one
episode in a hundred ends differently, no program in float32 can be right, whoever writes it.
"""

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np

from overclock.recording.rounded_copies import change_floats

EPISODES, STEPS = 100, 24_000  # the reference plays no further episode after so many of either
ENOUGH = 6_000  # steps where no copy came out otherwise, and all ended beside the reference
BESIDE = 1e-3  # of an observation, relative: a copy that is further away has its own fate
LONGEST = 10_000  # steps of an episode that is compared, as many as in verify.contract
COPIES = 3
DIFFERING = 0.01  # of the episodes
REPEAT = 0.9  # of the actions of every other episode: long pushes in one direction
KINDS = 32  # rewards of so few different sizes are compared
CLOSE = 1e-5  # two rewards that are the same but for rounding, relative
BITS = 24

Step = tuple[float, bool, bool]  # reward and flags


@dataclasses.dataclass(frozen=True)
class Played:
    """An episode: its steps, and what was observed after the last one."""

    steps: list[Step]
    last: Any = None

    def beside(self, other: "Played") -> bool:
        """Whether both end with nearly the same observation."""
        try:
            return np.allclose(np.asarray(self.last, np.float64), np.asarray(other.last, np.float64), BESIDE, BESIDE)
        except (TypeError, ValueError):  # tuples and dicts
            return False


def lost_in_single(env: gymnasium.Env, seed: int = 0) -> str:
    """What float32 loses of this reference, as half a sentence; empty where it loses nothing that was seen."""
    kept = random.getstate(), np.random.get_state()
    try:
        with np.errstate(all="ignore"):
            return _sentence(_enough(_episodes(env, np.random.default_rng(seed))))
    except Exception:  # what cannot be copied or does not repeat itself is not judged here, whatever the reason
        return ""
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])


def _enough(episodes: Iterator[tuple[Played, list[Played]]]) -> list[tuple[Played, list[Played]]]:
    """All of them; fewer where nothing drifts."""
    seen, calm = [], True
    for played, copies in episodes:
        seen.append((played, copies))
        calm = calm and all(played.beside(copied) and not _otherwise(played, copied, True) for copied in copies)
        if calm and sum(len(one.steps) for one, _ in seen) >= ENOUGH:
            break
    return seen


def _sentence(episodes: list[tuple[Played, list[Played]]]) -> str:
    kinds = {reward for played, _ in episodes for reward, _, _ in played.steps}
    few = len(kinds) <= KINDS
    lengths = sum(any(len(copied.steps) != len(played.steps) for copied in copies) for played, copies in episodes)
    found = sum(any(_otherwise(played, copied, few) for copied in copies) for played, copies in episodes)
    if found <= DIFFERING * len(episodes):
        return ""
    what = "length" if lengths == found else "length or reward"
    return f"in float32 {found} of {len(episodes)} episodes have another {what}"


def _otherwise(played: Played, copied: Played, rewards: bool) -> bool:
    pairs = list(zip(played.steps, copied.steps, strict=False))
    if len(played.steps) != len(copied.steps) or any(one[1:] != other[1:] for one, other in pairs):
        return True
    return rewards and any(abs(one[0] - other[0]) > CLOSE * max(1.0, abs(one[0])) for one, other in pairs)


def _episodes(env: gymnasium.Env, generator: np.random.Generator) -> Iterator[tuple[Played, list[Played]]]:
    """Episodes of the reference, each with those of its copies."""
    env.action_space.seed(int(generator.integers(1 << 31)))
    steps = number = 0
    while number < EPISODES and steps < STEPS:
        seed, sticky = int(generator.integers(1 << 31)), bool(number % 2)
        actions: list[Any] = []

        def act(_: int, info: Any, actions: list[Any] = actions, sticky: bool = sticky) -> Any:
            again = sticky and actions and generator.random() < REPEAT
            mask = info.get("action_mask") if isinstance(info, dict) else None
            actions.append(actions[-1] if again else _sample(env, mask))
            return actions[-1]

        first = copy.deepcopy(env)
        played = _play(first, seed, act)

        def replay(place: int, _: Any, actions: list[Any] = actions) -> Any:
            return actions[place] if place < len(actions) else None

        if number < COPIES and _play(copy.deepcopy(env), seed, replay).steps != played.steps:
            raise ValueError("the reference does not repeat itself")
        copies = [_play(copy.deepcopy(env), seed, replay, _Rounding(generator)) for _ in range(COPIES)]
        number, steps = number + 1, steps + len(played.steps)
        yield played, copies


def _sample(env: gymnasium.Env, mask: Any) -> Any:
    if mask is not None and isinstance(env.action_space, gymnasium.spaces.Discrete):
        return env.action_space.sample(np.asarray(mask, np.int8))
    return env.action_space.sample()


def _play(
    env: Any, seed: int, act: Callable[[int, Any], Any], rounding: "Callable[[Any], Any] | None" = None
) -> Played:
    """One episode; one that goes on where the actions end has a step more."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    obs, info = env.reset(seed=seed)
    played: list[Step] = []
    while len(played) < LONGEST:
        if rounding is not None:
            change_floats(env.unwrapped, rounding)
        action = act(len(played), info)
        if action is None:
            return Played([*played, (0.0, False, False)], obs)
        obs, reward, terminated, truncated, info = env.step(action)
        played.append((float(np.sum(reward)), bool(terminated), bool(truncated)))
        if terminated or truncated:
            break
    return Played(played, obs)


class _Rounding:
    """Floats as float32 holds them, at either neighbour at random; what float32 holds stays as it is."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def __call__(self, value: Any) -> Any:
        wide = np.asarray(value, np.float64)
        unit = np.ldexp(1.0, np.frexp(wide)[1] - BITS)
        below = np.floor(wide / unit)
        up = self._generator.random(wide.shape) < wide / unit - below
        rounded = np.where(np.isfinite(wide) & (wide != 0.0), (below + up) * unit, wide)
        return rounded.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(rounded)
