"""Any Gymnasium environment as a reference Subject, with every random draw of it recorded.

Gymnasium gives each environment a NumPy generator through `gymnasium.utils.seeding.np_random`; here that function
hands out a generator that remembers what it returned, so the same numbers can be replayed on the other side.
"""

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import gymnasium
import numpy as np
from gymnasium.utils import seeding

from overclock.errors import UsageError
from overclock.verify.branches import BranchTracer
from overclock.verify.calls import note_draw
from overclock.verify.subject import Arrays, Observed

# All public methods draw, so that none is missed in a later NumPy either.
DRAW_METHODS = tuple(
    name
    for name, value in inspect.getmembers(np.random.Generator, callable)
    if not name.startswith("_") and name != "spawn"
)

_drawn_by: "list[RecordingGenerator] | None" = None  # while an environment's own code runs: who drew


@contextlib.contextmanager
def _watched() -> "Iterator[list[RecordingGenerator]]":
    """Inside, an environment gets nothing from its generators that would not be recorded; gives those it drew from."""
    global _drawn_by
    _drawn_by = drawn_by = []
    try:
        yield drawn_by
    finally:
        _drawn_by = None


class RecordingGenerator(np.random.Generator):
    """A NumPy generator that keeps a copy of everything it returns.

    An environment that takes randomness past it (by the bit generator, by a copy or a child of it) is told so: what
    is not recorded cannot be replayed on the other side.
    """

    def __init__(self, bit_generator: np.random.BitGenerator) -> None:
        super().__init__(bit_generator)
        self.calls: list[tuple[str, Any]] = []
        self.inside = False

    @property
    def bit_generator(self) -> np.random.BitGenerator:
        """As NumPy's, for those who save and restore generators; not for environments."""
        if _drawn_by is not None:
            _refuse("the bit generator of np_random")
        return np.random.Generator.bit_generator.__get__(self)  # pyright: ignore[reportAttributeAccessIssue]

    def spawn(self, n_children: int) -> NoReturn:
        """Not recorded, so refused."""
        _refuse("np_random.spawn")

    def __str__(self) -> str:
        return type(self).__name__  # NumPy's names the bit generator

    def __reduce__(self) -> Any:
        if _drawn_by is not None:
            _refuse("a copy of np_random")
        return super().__reduce__()


def _refuse(what: str) -> NoReturn:
    raise UsageError(f"The environment uses {what}, whose draws are not recorded; draw by np_random itself.")


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
        drawn = np.array(value if name != "shuffle" else args[0] if args else kwargs["x"])
        self.calls.append((name, drawn))
        if _drawn_by is not None:
            _drawn_by.append(self)
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
                with _watched() as drawn_by, self._traced():
                    self._obs[lane], info = env.reset(seed=int(seeds[lane]))
                self._masks[lane] = info.get("action_mask")
                self._draws[lane] = self._name_reset_draws(_taken_calls(env, drawn_by))
        return Observed({"obs": np.stack(self._obs), **self._mask()}, self._state(), _stack(self._draws))

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`."""
        rows, step_draws, new_branches = [], [], np.zeros(self.num_envs, np.int32)
        for lane, env in enumerate(self._envs):
            action = actions[lane].item() if actions.ndim == 1 else actions[lane]
            known = self._reached()
            with _watched() as drawn_by, self._traced():
                obs, reward, terminated, truncated, info = env.step(action)
            new_branches[lane] = self._reached() - known
            self._obs[lane], self._masks[lane] = obs, info.get("action_mask")
            rows.append((np.asarray(obs), np.float64(reward), np.bool_(terminated), np.bool_(truncated)))
            step_draws.append(self._name_step_draws(_taken_calls(env, drawn_by)))
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


def _taken_calls(env: gymnasium.Env, drawn_by: list[RecordingGenerator]) -> list[tuple[str, Any]]:
    """What an environment drew since the last time; `drawn_by` are the generators that it drew from."""
    generator, name = env.unwrapped.np_random, type(env.unwrapped).__name__
    if not isinstance(generator, RecordingGenerator):
        raise UsageError(
            f"{name} has a generator of its own ({type(generator).__name__}), whose draws are not recorded; let "
            "Gymnasium make np_random: call super().reset(seed=seed) and set no other."
        )
    if any(one is not generator for one in drawn_by):
        raise UsageError(
            f"{name} draws from another generator than its np_random (that of a space, of an environment inside it, or "
            "the one before the reset), which nobody names; draw by np_random alone."
        )
    calls = list(generator.calls)
    generator.calls.clear()
    return calls


def no_draws(calls: list[tuple[str, Any]]) -> Arrays:
    """The namer of a reset or a step that draws nothing; it does not look away when it does."""
    if calls:
        drawn = ", ".join(name for name, _ in calls)
        raise UsageError(f"The environment drew ({drawn}) where nothing is expected; name these draws.")
    return {}


def _stack(rows: list[Arrays]) -> Arrays:
    return {name: np.stack([np.asarray(row[name]) for row in rows]) for name in rows[0]}
