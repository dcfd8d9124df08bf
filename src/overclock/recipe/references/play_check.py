"""A reference that an agent wrote, played apart from us before it becomes one: does it work, and can it be matched?

The class runs only in the worker, inside a sandbox. What comes back is a list of sentences, and where there are none
the survey that `overclock new` would make (surveyor.py).
"""

import dataclasses
import math
import traceback
from pathlib import Path
from typing import Any

from overclock.errors import OverclockError
from overclock.recipe.references.static_check import ENTRY, LIMIT, time_limit
from overclock.recipe.references.surveyor import answer
from overclock.verify.sides.subject import SubjectSpec

EPISODES = 100
LONGEST = 10_000  # steps of one episode


def checker_spec(folder: Path) -> SubjectSpec:
    """The worker that plays the reference of a folder."""
    place = str(folder.resolve())
    spec = SubjectSpec.of(Checker, folder=place).with_environment(JAX_PLATFORMS="cpu")
    return dataclasses.replace(spec, files=(place,))


class Checker:
    """The worker's side of `check`; the reference is imported in the call, so that its errors are answers."""

    def __init__(self, num_envs: int, folder: str) -> None:
        self._folder = Path(folder)

    def describe(self) -> dict[str, Any]:
        return {"calls": ["check"]}

    def check(self) -> dict[str, Any]:
        """`problems`, and the `survey` where there are none."""
        problems = self._problems()
        if problems:
            return {"problems": problems, "survey": None}
        found = answer(str(self._folder / ENTRY), None, time_limit(self._folder))
        refused = found["refused"]
        return {"problems": [] if refused is None else [refused], "survey": None if refused else found}

    def _problems(self) -> list[str]:
        from overclock.recipe.survey.live.determinism import diverges
        from overclock.recipe.survey.live.loading import make
        from overclock.recipe.survey.static.obstacles import obstacles
        from overclock.recipe.survey.static.source import resolve

        try:
            source = resolve(str(self._folder / ENTRY), None, time_limit(self._folder))
            refused = [one.sentence for one in obstacles(source) if one.severity == "refuse"]
            if refused:
                return refused
            wrong = play(make(source), source.max_steps, self._folder)
            if wrong is None and (different := diverges(source)) is not None:
                wrong = different.sentence
        except OverclockError as error:
            return [str(error)]
        return [] if wrong is None else [wrong]


def play(env: Any, max_steps: int | None, folder: Path) -> str | None:
    """Play random episodes to their end; the first thing that is wrong in a sentence, None where nothing is."""
    import gymnasium

    if not isinstance(env, gymnasium.Env):
        return f"{type(env).__name__} is no gymnasium.Env; make that its base class."
    env.action_space.seed(0)
    found = (_episode(env, seed, max_steps, folder) for seed in range(EPISODES))
    return next((wrong for wrong in found if wrong is not None), None)


def _episode(env: Any, seed: int, max_steps: int | None, folder: Path) -> str | None:
    where = f"The reset of the episode with seed {seed}"
    try:
        obs, info = env.reset(seed=seed)
        for step in range(1, LONGEST + 1):
            if not env.observation_space.contains(obs):
                return f"{where} gave the observation {obs!r}, which lies outside of {env.observation_space}."
            action = env.action_space.sample(info.get("action_mask"))
            where = f"Step {step} (action {action!r}) of the episode with seed {seed}"
            obs, reward, terminated, truncated, info = env.step(action)
            if not math.isfinite(reward):
                return f"{where} gave the reward {reward!r}, which is no finite number."
            if truncated and step != max_steps:
                return f"{where} returned truncated; return False there: {_limit()}."
            if terminated or truncated:
                inside = env.observation_space.contains(obs)
                return None if inside else f"{where} gave a last observation outside of {env.observation_space}."
        return f"The episode with seed {seed} had no end after {LONGEST} steps; {_limit()}."
    except Exception as error:
        return f"{where} failed: {_words(error, folder)}."


def _limit() -> str:
    return f"a time limit is a constant `{LIMIT} = ...` of {ENTRY}, and is put around the class from outside"


def _words(error: Exception, folder: Path) -> str:
    frames = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename).is_relative_to(folder)]
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}".replace("\n", " ")
