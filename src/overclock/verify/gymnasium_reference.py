"""Any Gymnasium environment as a reference Subject, with every random draw of it recorded.

Gymnasium gives each environment a NumPy generator through `gymnasium.utils.seeding.np_random`; here that function
hands out a generator that remembers what it returned, so the same numbers can be replayed on the other side.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from overclock.verify.branches import BranchTracer
from overclock.verify.calls import note_draw
from overclock.verify.subject import Arrays, Observed

DRAW_METHODS = (
    "random", "uniform", "normal", "standard_normal", "integers", "choice", "permutation", "shuffle", "exponential",
    "poisson", "binomial", "beta", "gamma", "triangular", "multinomial", "geometric", "laplace", "logistic",
    "lognormal", "multivariate_normal", "standard_exponential", "standard_gamma", "permuted", "bytes",
)  # fmt: skip


class RecordingGenerator(np.random.Generator):
    """A NumPy generator that keeps a copy of everything it returns."""

    def __init__(self, bit_generator: np.random.BitGenerator) -> None:
        super().__init__(bit_generator)
        self.calls: list[tuple[str, Any]] = []
        self.inside = False


def _recording(name: str) -> Callable[..., Any]:
    original = getattr(np.random.Generator, name)

    @functools.wraps(original)
    def method(self: RecordingGenerator, *args: Any, **kwargs: Any) -> Any:
        if self.inside:  # `choice` calls `integers` by itself; the outer call is the draw
            return original(self, *args, **kwargs)
        self.inside = True
        try:
            value = original(self, *args, **kwargs)
        finally:
            self.inside = False
        # shuffle works in place and returns None: what it did to its argument is the draw. Copies, because the
        # environment may change a drawn array afterwards.
        drawn = np.array(args[0] if name == "shuffle" else value)
        self.calls.append((name, drawn))
        note_draw(name, args, kwargs, drawn)
        return value

    return method


for _name in DRAW_METHODS:
    setattr(RecordingGenerator, _name, _recording(_name))


def _recorded_np_random(seed: int | None = None) -> tuple[np.random.Generator, int]:
    generator, used_seed = _plain_np_random(seed)
    return RecordingGenerator(generator.bit_generator), used_seed


_plain_np_random = seeding.np_random

OUTPUTS: tuple[str, ...] = ("obs", "reward", "terminated", "truncated")
NOT_THE_RULES = {"gymnasium.core", "typing", "builtins"}  # bases that every environment has

StateReader = Callable[[gymnasium.Env], Arrays]
StateWriter = Callable[[gymnasium.Env, Arrays], None]
DrawNamer = Callable[[list[tuple[str, Any]]], Arrays]


class GymnasiumSubject:
    """`num_envs` separate instances of one Gymnasium id, stepped one after the other.

    - `read_state(env)` / `write_state(env, values)`: the named state fields of one instance;
    - `name_reset_draws(calls)` / `name_step_draws(calls)`: recorded generator calls -> named draws of one instance.
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int,
        read_state: StateReader,
        write_state: StateWriter,
        name_reset_draws: DrawNamer,
        name_step_draws: DrawNamer,
        **make_arguments: Any,
    ) -> None:
        seeding.np_random = _recorded_np_random
        self.num_envs = num_envs
        self._envs = [gymnasium.make(env_id, **make_arguments) for _ in range(num_envs)]
        self._read_state, self._write_state = read_state, write_state
        self._name_reset_draws, self._name_step_draws = name_reset_draws, name_step_draws
        self._draws: list[Arrays] = [{} for _ in range(num_envs)]
        self._obs: list[Any] = [None] * num_envs
        self._masks: list[Any] = [None] * num_envs
        self._tracer: BranchTracer | None = None

    @property
    def instances(self) -> list[gymnasium.Env]:
        """The environments themselves, for checks that put one into a given situation."""
        return self._envs

    def describe(self) -> dict[str, Any]:
        """As `Subject.describe`."""
        space, calls = self._envs[0].action_space, ["trace", "branches"]
        if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0:
            return {"kind": "discrete", "n": int(space.n), "calls": calls}
        if isinstance(space, gymnasium.spaces.Box):
            return {"kind": "box", "low": space.low, "high": space.high, "calls": calls}
        raise NotImplementedError(f"no action source for {space}")

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`; a Gymnasium reference starts from seeds and reports the draws they led to."""
        for lane, env in enumerate(self._envs):
            if mask[lane]:
                with self._traced():
                    self._obs[lane], info = env.reset(seed=int(seeds[lane]))
                self._masks[lane] = info.get("action_mask")
                self._draws[lane] = self._name_reset_draws(self._taken_calls(env))
        return Observed({"obs": np.stack(self._obs), **self._mask()}, self._state(), _stack(self._draws))

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`."""
        rows, step_draws, new_branches = [], [], np.zeros(self.num_envs, np.int32)
        for lane, env in enumerate(self._envs):
            action = actions[lane].item() if actions.ndim == 1 else actions[lane]
            known = self._reached()
            with self._traced():
                obs, reward, terminated, truncated, info = env.step(action)
            new_branches[lane] = self._reached() - known
            self._obs[lane], self._masks[lane] = obs, info.get("action_mask")
            rows.append((np.asarray(obs), np.float64(reward), np.bool_(terminated), np.bool_(truncated)))
            step_draws.append(self._name_step_draws(self._taken_calls(env)))
        columns = (np.stack(column) for column in zip(*rows, strict=True))
        outputs: Arrays = {**dict(zip(OUTPUTS, columns, strict=True)), **self._mask()}
        if self._tracer is not None:
            outputs["new_branches"] = new_branches
        return Observed(outputs, self._state(), _stack(step_draws))

    def set_state(self, state: Arrays) -> None:
        """As `Subject.set_state`."""
        for lane, env in enumerate(self._envs):
            self._write_state(env, {name: values[lane] for name, values in state.items()})

    def trace(self) -> None:
        """From now on, watch the environment's own code: steps also show `new_branches`, those a lane was first at."""
        classes = [cls for cls in type(self._envs[0].unwrapped).__mro__ if cls.__module__ not in NOT_THE_RULES]
        self._tracer = BranchTracer(sorted({inspect.getfile(cls) for cls in classes}))

    def branches(self) -> dict[str, list[str]]:
        """What `trace` has seen so far, in words: branch outcomes reached and missed, functions never entered."""
        return {} if self._tracer is None else self._tracer.report()

    def _traced(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if self._tracer is None else self._tracer

    def _reached(self) -> int:
        return 0 if self._tracer is None else len(self._tracer.reached)

    def _mask(self) -> Arrays:
        """Legal actions, where the environment reports them in `info` as Gymnasium's Taxi does."""
        if any(mask is None for mask in self._masks):
            return {}
        return {"action_mask": np.stack(self._masks).astype(np.bool_)}

    def _state(self) -> Arrays:
        return _stack([self._read_state(env) for env in self._envs])

    def _taken_calls(self, env: gymnasium.Env) -> list[tuple[str, Any]]:
        generator = env.unwrapped.np_random
        calls = list(generator.calls) if isinstance(generator, RecordingGenerator) else []
        if isinstance(generator, RecordingGenerator):
            generator.calls.clear()
        return calls


def _stack(rows: list[Arrays]) -> Arrays:
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
