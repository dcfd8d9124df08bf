"""Any Gymnasium environment as a reference Subject, with every random draw of it recorded.

How it is recorded is exchangeable: by the calls of its `np_random` in their order (`recording_generator.py`), which
suits an environment that always draws alike, or by a recorder that knows the draws by other names.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import seeding

from overclock.verify.reach.comparisons import comparisons, constants_of
from overclock.verify.reach.late import late_outcomes
from overclock.verify.reach.ledger import Seen
from overclock.verify.reach.mutations import Layout
from overclock.verify.reach.rule_files import rule_files
from overclock.verify.reach.subject_search import FoundStates, search_subject
from overclock.verify.reach.watcher import Watcher
from overclock.verify.sides.recording_generator import (
    RecordingGenerator,
    no_draws,
    recorded_np_random,
    taken_calls,
    watched,
)
from overclock.verify.sides.subject import Arrays, Observed

__all__ = ["GymnasiumSubject", "RecordingGenerator", "no_draws"]

OUTPUTS: tuple[str, ...] = ("obs", "reward", "terminated", "truncated")

StateReader = Callable[[gymnasium.Env], Arrays]
StateWriter = Callable[[gymnasium.Env, Arrays], None]
DrawNamer = Callable[[list[tuple[str, Any]]], Arrays]


class DrawRecorder(Protocol):
    """Another way to record draws than by the calls of `np_random`, in their order."""

    def making(self, lane: int) -> contextlib.AbstractContextManager[None]:
        """Inside, a lane's instance is made."""
        ...

    def recording(self, lane: int, seed: int | None) -> contextlib.AbstractContextManager[Arrays]:
        """Inside, a lane's instance is reset (with a seed) or steps; its named draws are in the dict afterwards."""
        ...


class Border(Protocol):
    """How observations become arrays, and arrays actions, where they are not single arrays by themselves."""

    def shown(self, space: gymnasium.Space[Any], obs: Any) -> np.ndarray:
        """An observation as an array."""
        ...

    def taken(self, space: gymnasium.Space[Any], action: np.ndarray) -> Any:
        """A row of actions as an instance takes it."""
        ...

    def described(self, space: gymnasium.Space[Any]) -> dict[str, Any]:
        """The action space, as `Subject.describe` has it."""
        ...


class PlainBorder:
    """For observations that are arrays, and actions that are arrays or single numbers."""

    def shown(self, space: gymnasium.Space[Any], obs: Any) -> Any:
        """Show the observation as the environment returned it."""
        return obs

    def taken(self, space: gymnasium.Space[Any], action: np.ndarray) -> Any:
        """A number where it is one."""
        return action.item() if action.ndim == 0 else action

    def described(self, space: gymnasium.Space[Any]) -> dict[str, Any]:
        """Discrete from zero, or a box."""
        if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0:
            return {"kind": "discrete", "n": int(space.n)}
        if isinstance(space, gymnasium.spaces.Box):
            return {"kind": "box", "low": space.low, "high": space.high}
        raise NotImplementedError(f"no action source for {space}")


class GymnasiumSubject:
    """`num_envs` separate instances of one Gymnasium id, stepped one after the other.

    - `read_state(env)` / `write_state(env, values)`: the named state fields of one instance;
    - `name_reset_draws(calls)` / `name_step_draws(calls)`: recorded generator calls -> named draws of one instance;
    - `recorder` names draws in another way instead; `border` stands between arrays and what instances show and take;
    - `layout` tells the search for branches which parts of the state belong together, `goes_on(state)` in which states
      an episode can be that has not ended: after an end there may be more to a reference than `write_state` sets;
    - `remembered` names the attributes of an instance that the state has, where that is known.
    """

    def __init__(
        self,
        env_id: str | EnvSpec,
        num_envs: int,
        read_state: StateReader,
        write_state: StateWriter,
        name_reset_draws: DrawNamer,
        name_step_draws: DrawNamer,
        recorder: DrawRecorder | None = None,
        border: Border = PlainBorder(),
        layout: Layout | None = None,
        goes_on: Callable[[Arrays], bool] = lambda state: True,
        remembered: Collection[str] | None = None,
        **make_arguments: Any,
    ) -> None:
        self.num_envs, self._recorder, self._border = num_envs, recorder, border
        if recorder is None:
            seeding.np_random = recorded_np_random
        self._envs: list[gymnasium.Env] = []
        for lane in range(num_envs):
            with contextlib.nullcontext() if recorder is None else recorder.making(lane):
                self._envs.append(gymnasium.make(env_id, **make_arguments))
        self._read_state, self._write_state = read_state, write_state
        self._name_reset_draws, self._name_step_draws = name_reset_draws, name_step_draws
        self._draws: list[Arrays] = [{} for _ in range(num_envs)]
        self._obs: list[Any] = [None] * num_envs
        self._masks: list[Any] = [None] * num_envs
        self._watcher: Watcher | None = None
        self._watched, self._guides = np.zeros(num_envs, np.bool_), False
        self._layout, self._goes_on, self._remembered = layout, goes_on, remembered

    @property
    def instances(self) -> list[gymnasium.Env]:
        """The environments themselves, for checks that put one into a given situation."""
        return self._envs

    def describe(self) -> dict[str, Any]:
        calls = ["watch", "seen", "trace", "branches", "search", *(["late"] if self._remembered is not None else [])]
        return {**self._border.described(self._envs[0].action_space), "calls": calls}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`; a Gymnasium reference starts from seeds and reports the draws they led to."""
        for lane, env in enumerate(self._envs):
            if mask[lane]:
                with self._recording(lane, int(seeds[lane])) as drawn, self._traced(lane):
                    obs, info = env.reset(seed=int(seeds[lane]))
                self._obs[lane] = self._border.shown(env.observation_space, obs)
                self._masks[lane] = info.get("action_mask")
                self._draws[lane] = drawn
        return Observed({"obs": np.stack(self._obs), **self._mask()}, self._state(), _stack(self._draws))

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        rows, step_draws, new_branches = [], [], np.zeros(self.num_envs, np.int32)
        for lane, env in enumerate(self._envs):
            action = self._border.taken(env.action_space, actions[lane])
            known = self._reached()
            with self._recording(lane) as drawn, self._traced(lane):
                obs, reward, terminated, truncated, info = env.step(action)
            new_branches[lane] = self._reached() - known
            self._obs[lane] = self._border.shown(env.observation_space, obs)
            self._masks[lane] = info.get("action_mask")
            flags = np.bool_(terminated), np.bool_(truncated)
            rows.append((np.asarray(self._obs[lane]), reward_of(reward), *flags))
            step_draws.append(drawn)
        columns = (np.stack(column) for column in zip(*rows, strict=True))
        outputs: Arrays = {**dict(zip(OUTPUTS, columns, strict=True)), **self._mask()}
        if self._guides:
            outputs["new_branches"] = new_branches
        return Observed(outputs, self._state(), _stack(step_draws))

    def set_state(self, state: Arrays) -> None:
        for lane, env in enumerate(self._envs):
            self._write_state(env, {name: values[lane] for name, values in state.items()})

    def watch(self, lanes: np.ndarray) -> None:
        """From now on, watch the branches of the environment's own code in these lanes, which are compared."""
        if self._watcher is None:
            self._watcher = Watcher(self)
        self._watched = lanes

    def seen(self) -> Seen:
        """What was watched so far; nothing is watched any more until `watch` is called again."""
        self._watched = np.zeros(self.num_envs, np.bool_)
        return Seen([], [], visible=False) if self._watcher is None else self._watcher.seen()

    def trace(self) -> None:
        """Watch every lane from now on; steps also show `new_branches`, those a lane was first at."""
        self.watch(np.ones(self.num_envs, np.bool_))
        self._guides = True

    def branches(self) -> dict[str, list[str]]:
        """What was watched so far, in words: branch outcomes reached and missed, functions never entered."""
        return {} if self._watcher is None else self._watcher.report()

    def search(self, seed: int, tries: int, seconds: float, steps: int) -> FoundStates:
        """States from which a step takes branches that play does not, and `steps` actions; needs a single lane."""
        env = self._envs[0]
        constants = constants_of(comparisons([type(env.unwrapped)], env.unwrapped))
        return search_subject(
            self, self._searchable, rule_files(env), constants, self._layout, seed, tries, seconds, steps
        )

    def late(self, seed: int) -> list[dict[str, Any]]:
        """Outcomes that steps beyond an end take by what the state does not have, as JSON objects."""
        return [dataclasses.asdict(one) for one in late_outcomes(self, self._remembered or (), seed)]

    @contextlib.contextmanager
    def _recording(self, lane: int, seed: int | None = None) -> Iterator[Arrays]:
        """Inside, a lane's instance is reset or steps; what it drew is in the dict afterwards."""
        if self._recorder is not None:
            with self._recorder.recording(lane, seed) as drawn:
                yield drawn
            return
        drawn = {}
        with watched() as drawn_by:
            yield drawn
        name = self._name_step_draws if seed is None else self._name_reset_draws
        drawn.update(name(taken_calls(self._envs[lane], drawn_by)))

    def _traced(self, lane: int) -> contextlib.AbstractContextManager[Any]:
        watched = self._watcher is not None and self._watched[lane]
        return self._watcher if watched and self._watcher is not None else contextlib.nullcontext()

    def _reached(self) -> int:
        return 0 if self._watcher is None else self._watcher.known

    def _mask(self) -> Arrays:
        """Legal actions, where the environment reports them in `info` as Gymnasium's Taxi does."""
        if any(mask is None for mask in self._masks):
            return {}
        return {"action_mask": np.stack(self._masks).astype(np.bool_)}

    def _searchable(self) -> Arrays:
        state = self._state()
        if not self._goes_on({name: value[0] for name, value in state.items()}):
            raise ValueError("the episode has ended in this state")
        return state

    def _state(self) -> Arrays:
        return _stack([self._read_state(env) for env in self._envs])


def reward_of(reward: Any) -> np.ndarray | np.float64:
    """A number as float64; several rewards at once as they are."""
    return np.float64(reward) if np.ndim(reward) == 0 else np.asarray(reward)


def _stack(rows: list[Arrays]) -> Arrays:
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
