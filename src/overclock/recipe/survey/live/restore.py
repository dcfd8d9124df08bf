"""Whether a reference can be put into a state: its fields are written into an instance that is in another state.

If the next step then does what it did in the episode the state was taken from, the fields are the whole state. The
generators are put back as well, so that both steps draw the same numbers.
"""

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.survey.live.attribute_leaves import number
from overclock.recipe.survey.live.loading import make, playing
from overclock.recipe.survey.live.paths import innermost, read, write
from overclock.recipe.survey.static.source import Source
from overclock.recording.shapes import equal_arrays
from overclock.verify.property.captured import captured

PROBES = (1, 3, 8, 20)  # steps into an episode at which states are taken
ATTEMPTS = 20  # episodes that may end before such a step
FAR = 100_000  # seeds of the instance that is in another state
OUTPUTS = ("obs", "reward", "terminated", "truncated")
UNWRITABLE = "set_state"  # in the place of a field: nothing could be written at all


@dataclasses.dataclass(frozen=True)
class Restored:
    """The result: which outputs and fields a step from a written state got wrong, and how many states were tried."""

    tried: int
    wrong: tuple[str, ...]
    sentence: str

    @property
    def works(self) -> bool:
        return self.tried > 0 and not self.wrong

    @property
    def incomplete(self) -> bool:
        """Whether the fields were shown not to be the whole state."""
        return bool(self.wrong) and self.wrong != (UNWRITABLE,)


@dataclasses.dataclass(frozen=True)
class Place:
    """A state of play with the generators' states and the action that followed: all that repeats a step."""

    fields: Mapping[str, Any]  # by path
    generators: Mapping[str, Any]
    action: Any

    def step(self, env: Any, action: Any = None, fields: Mapping[str, Any] | None = None) -> "Outcome":
        """One step of an instance that is put here; `action` and `fields` replace those of the place."""
        write(env, {**self.fields, **(fields or {})})
        for name, state in self.generators.items():
            vars(innermost(env))[name].bit_generator.state = state
        return _outcome(env, self.action if action is None else action, list(self.fields))


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a step returned, and the fields after it."""

    obs: Any
    reward: Any
    terminated: bool
    truncated: bool
    fields: Mapping[str, Any]

    def differences(self, other: "Outcome") -> list[str]:
        """The names of the outputs and the fields that are not the same."""
        names = [name for name in OUTPUTS if not _same(getattr(self, name), getattr(other, name))]
        return names + [path for path, value in self.fields.items() if not _same(value, other.fields[path])]


def places(env: Any, paths: list[str], choose: Any, seed: int = 0) -> Iterator[Place]:
    """Some states of play, each in another episode; `choose(env, info)` gives actions."""
    for number_of, depth in enumerate(PROBES):
        info = _lead(env, seed + ATTEMPTS * number_of, depth, choose)
        if info is not None:
            yield Place({path: number(read(env, path)) for path in paths}, _generators(env), choose(env, info))


def check_restore(source: Source, paths: list[str], choose: Any, seed: int = 0) -> Restored:
    """Write several states and take a step from each; `choose(env, info)` gives actions."""
    if not paths:
        return Restored(0, (), "it has no state fields that could be set.")
    one, other = make(source), make(source)
    wrong: dict[str, None] = {}
    tried = 0
    try:
        with playing(source):
            for place in places(one, paths, choose, seed):
                if _lead(other, seed + FAR + ATTEMPTS * tried, tried % 3 + 1, choose) is None:
                    continue
                outcome = _outcome(one, place.action, paths)
                write(other, place.fields)
                wrong.update(dict.fromkeys(p for p in paths if not _same(number(read(other, p)), place.fields[p])))
                wrong.update(dict.fromkeys(outcome.differences(place.step(other))))
                tried += 1
    except UsageError as error:
        return Restored(tried, (UNWRITABLE,), f"it cannot be put into a state: {error}")
    finally:
        for env in (one, other):
            close(env)
    return Restored(tried, tuple(wrong), _sentence(tried, list(wrong)))


def _sentence(tried: int, wrong: list[str]) -> str:
    if not tried:
        return "not checked: its episodes end too soon."
    if not wrong:
        return f"a step from a state that was set is the step that was seen from it ({tried} states tried)."
    return f"its fields are not its whole state: a step from the same fields gives another {', '.join(wrong)}."


def _lead(env: Any, first_seed: int, steps: int, choose: Any) -> dict[str, Any] | None:
    """Play some steps, from the first seed whose episode lasts longer; the last info, None where no seed does."""
    for seed in range(first_seed, first_seed + ATTEMPTS):
        _, info = env.reset(seed=seed)
        for _ in range(steps):
            _, _, terminated, truncated, info = env.step(choose(env, info))
            if terminated or truncated:
                break
        else:
            return info
    return None


def _outcome(env: Any, action: Any, paths: list[str]) -> Outcome:
    obs, reward, terminated, truncated, _ = innermost(env).step(action)
    return Outcome(captured(obs), reward, terminated, truncated, {path: number(read(env, path)) for path in paths})


def _generators(env: Any) -> dict[str, Any]:
    found = {name: value for name, value in vars(innermost(env)).items() if isinstance(value, np.random.Generator)}
    return {name: copy.deepcopy(value.bit_generator.state) for name, value in found.items()}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return equal_arrays(np.asarray(a), np.asarray(b))
