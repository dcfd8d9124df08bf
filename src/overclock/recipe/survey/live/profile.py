"""A reference, watched while it plays: its state, its draws, its spaces, its episodes.

found = profile(resolve("gymnasium:CartPole-v1"))
found.fields, found.unrepresented, found.reset_draws, found.step_draws, found.restores
"""

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.survey.live.attribute_leaves import Leaves
from overclock.recipe.survey.live.draws import Draws, GlobalGenerators, Watch, summarise
from overclock.recipe.survey.live.loading import gymnasium, make
from overclock.recipe.survey.live.paths import innermost, parse, read
from overclock.recipe.survey.live.restore import Restored, check_restore
from overclock.recipe.survey.live.rounding import Rounding, rounding
from overclock.recipe.survey.live.state_tracking import StateField, StateTracker, Unrepresented
from overclock.recipe.survey.static.attribute_writes import reads, writes
from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.rule_selection import own_nodes
from overclock.recipe.survey.static.source import Source
from overclock.recipe.survey.static.uses import foreign_bases
from overclock.recording.float_survey import survey_floats
from overclock.recording.floats import Floats
from overclock.recording.single_play import lost_in_single

STEPS = 400
FEWEST_RESETS = 12  # what differs from reset to reset shows only in several


@dataclasses.dataclass(frozen=True)
class Profile:
    """What was seen of a reference. `oddities` are sentences about outputs that surprise, and about float32."""

    fields: tuple[StateField, ...]
    unrepresented: tuple[Unrepresented, ...]
    constants: dict[str, float | int | bool]
    reset_draws: Draws
    step_draws: Draws
    unrecorded: tuple[str, ...]  # generators of the whole process that it used: "random", "numpy.random"
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    has_mask: bool
    max_steps: int | None
    reward_low: float
    reward_high: float
    rounded_rewards: bool  # whether one of them is no float32
    largest_observation: float | None  # by size; None where observations are whole numbers
    truncates_itself: bool
    oddities: tuple[str, ...]
    episode_lengths: tuple[int, ...]  # of those that ended
    steps: int
    restored: Restored
    rounding: Rounding
    floats: Mapping[str, Floats] = dataclasses.field(default_factory=dict)  # 'state.<path>', 'obs', 'reward'


def profile(source: Source, steps: int = STEPS, seed: int = 0) -> Profile:
    """Play random actions for about `steps` steps and describe what was seen."""
    with Watch().watching() as watch:
        session = _Session(source, watch, seed)
        try:
            session.play(steps)
        finally:
            close(session.env)
        used = _read_names(source)
        fields = [dataclasses.replace(one, used=_used(one.path, used)) for one in session.tracker.fields()]
        state = [one for one in fields if one.used]
        restored = check_restore(source, [one.path for one in state], session.choose, seed)
        floats = _floats(source, state, session.choose, seed)
        asked = rounding(source, state, session.choose, seed) if restored.works else Rounding()
    return Profile(
        fields=tuple(
            dataclasses.replace(one, restores=one.path not in restored.wrong if restored.tried and one.used else None)
            for one in fields
        ),
        unrepresented=tuple(
            dataclasses.replace(one, used=_used(one.path, used)) for one in session.tracker.unrepresented()
        ),
        constants=session.tracker.constants(),
        reset_draws=summarise(session.reset_draws),
        step_draws=summarise(session.step_draws),
        unrecorded=tuple(session.globals.used()),
        observation_space=session.env.observation_space,
        action_space=session.env.action_space,
        has_mask=session.has_mask,
        max_steps=source.max_steps,
        reward_low=min(session.rewards, default=0.0),
        reward_high=max(session.rewards, default=0.0),
        rounded_rewards=any(float(np.float32(reward)) != reward for reward in session.rewards),
        largest_observation=session.largest_observation,
        truncates_itself=session.truncates_itself,
        oddities=(*session.oddities, *_lost(source, state, seed)),
        episode_lengths=tuple(session.lengths),
        steps=len(session.step_draws),
        restored=restored,
        rounding=asked,
        floats=floats,
    )


def _lost(source: Source, state: list[StateField], seed: int) -> tuple[str, ...]:
    """What a program in float32 cannot do as the reference does, and the remedy."""
    if not any(field.kind == "float" for field in state):
        return ()
    env = make(source)
    try:
        lost = lost_in_single(env, seed)
    finally:
        close(env)
    remedy = "decide by whole numbers of steps, or put x64 = 'the reason' at the head of contract.toml for [float32]"
    return (f"With all floats rounded, {lost}: {remedy}.",) if lost else ()


def _floats(source: Source, state: list[StateField], choose: Any, seed: int) -> dict[str, Floats]:
    """The float fields of another instance that is played; none where it cannot be read all the time."""
    env = make(source)

    def look(one: Any) -> dict[str, np.ndarray]:
        return {f"state.{field.path}": np.array(read(one.unwrapped, field.path), field.dtype) for field in state}

    try:
        return survey_floats(env, look, choose, seed)
    except Exception:  # whatever a field is at a moment at which it was not looked at before
        return {}
    finally:
        close(env)


class _Session:
    def __init__(self, source: Source, watch: Watch, seed: int) -> None:
        self.source, self.watch, self.seed = source, watch, seed
        self.globals = GlobalGenerators()
        self.env = make(source)
        for name in ("observation_space", "action_space"):
            if not hasattr(self.env, name):
                raise UsageError(f"'{source.text}' has no {name}; an environment declares both spaces.")
        self.env.action_space.seed(seed)
        self.tracker, self.leaves = StateTracker(writes(rules(source))), Leaves()
        self.reset_draws, self.step_draws = [], []
        self.lengths: list[int] = []
        self.rewards: list[float] = []
        self.largest_observation: float | None = None
        self.oddities: dict[str, None] = {}
        self.has_mask = self.truncates_itself = False

    def play(self, steps: int) -> None:
        longest = max(1, steps // FEWEST_RESETS)
        while len(self.step_draws) < steps or len(self.reset_draws) < FEWEST_RESETS:
            self._play_episode(longest)
        # Random episodes that never end within `longest` steps: one is followed as far as the steps allow.
        if not self.lengths:
            self._play_episode(max(steps, self.source.max_steps or 0))

    def _play_episode(self, longest: int) -> None:
        info = self._reset()
        for length in range(1, longest + 1):
            info, ended = self._step(info, length)
            if ended:
                self.lengths.append(length)
                break

    def choose(self, env: Any, info: Any) -> Any:
        """A random action, a legal one where `info` says which are."""
        mask = info.get("action_mask") if isinstance(info, dict) else None
        if mask is None:
            return self.env.action_space.sample()
        self.has_mask = True
        return self.env.action_space.sample(np.asarray(mask, np.int8))

    def _reset(self) -> Any:
        seed = self.seed + len(self.reset_draws)
        with self._failing_in(f"reset(seed={seed})"):
            result, draws = self.watch.reset(self.env, seed)
        if not (isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict)):
            raise UsageError(f"'{self.source.text}' must return (observation, info) from reset, as Gymnasium does.")
        self.reset_draws.append(draws)
        self._check_observation(result[0], "reset")
        self.tracker.see(self.leaves.of(innermost(self.env)), "reset")
        return result[1]

    def _step(self, info: Any, length: int) -> tuple[Any, bool]:
        action = self.choose(self.env, info)
        with self._failing_in(f"step {length} of an episode"):
            result, draws = self.watch.step(self.env, action)
        if not (isinstance(result, tuple) and len(result) == 5):
            raise UsageError(
                f"'{self.source.text}' must return (observation, reward, terminated, truncated, info) from step."
            )
        obs, reward, terminated, truncated, info = result
        self.step_draws.append(draws)
        self._check_observation(obs, "step")
        self._check_outputs(reward, terminated, truncated)
        self.truncates_itself |= bool(truncated) and length != self.source.max_steps
        ended = bool(terminated) or bool(truncated)
        self.tracker.see(self.leaves.of(innermost(self.env)), "step", ended)
        return info if isinstance(info, dict) else {}, ended

    @contextlib.contextmanager
    def _failing_in(self, what: str) -> Iterator[None]:
        """Around a call of the reference: whatever it raises becomes one sentence."""
        try:
            yield
        except Exception as error:
            raise UsageError(f"'{self.source.text}' failed in {what}: {type(error).__name__}: {error}.") from error

    def _check_observation(self, obs: Any, after: str) -> None:
        try:
            inside = bool(self.env.observation_space.contains(obs))
        except Exception:  # a space may fail on a value that it was not made for
            inside = False
        values = np.asarray(obs) if isinstance(obs, np.ndarray | np.generic | float) else np.zeros(0)
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else np.zeros(0)
        if (finite != np.round(finite)).any() or self.largest_observation is not None:
            self.largest_observation = max(self.largest_observation or 0.0, float(np.abs(finite).max(initial=0.0)))
        if not inside:
            self.oddities[f"An observation after {after} lies outside of the observation space."] = None

    def _check_outputs(self, reward: Any, terminated: Any, truncated: Any) -> None:
        if np.ndim(reward) != 0 or not isinstance(reward, bool | int | float | np.generic):
            self.oddities[f"The reward is {type(reward).__name__}, not a number."] = None
        value = float(np.sum(reward)) if np.size(reward) else 0.0
        if not np.isfinite(value):
            self.oddities["A reward is not finite."] = None
        else:
            self.rewards.append(value)
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(flag, bool | np.bool_):
                self.oddities[f"The flag {name} is {type(flag).__name__}, not bool."] = None


def _read_names(source: Source) -> set[str] | None:
    """The attributes that the rules read; None where code that is not here may read any."""
    kept = rules(source)
    cls = next(one for one in kept.definitions if one.qualified == source.class_name and one.kind == "class")
    for base in kept.program.bases(cls):
        if any(name.rpartition(".")[2] != "Env" for name in foreign_bases(kept.program, base)):
            return None
    return reads(node for one in kept.definitions for node in own_nodes(one))


def _used(path: str, names: set[str] | None) -> bool:
    """Whether the rules look at it; of something that they take apart, nobody knows which part they look at."""
    return names is None or parse(path)[0] in names
