"""Calls a compiled candidate on NumPy arrays of many lanes. Loaded in worker processes only, never by the grader."""

import ctypes
import dataclasses
import functools
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np

from overclock.errors import UsageError
from overclock.recipe.contract.file import ContractFile, load_contract
from overclock.recipe.judging.rust.build import build
from overclock.recipe.judging.rust.contract_source import draw_dtype, state_dtype
from overclock.verify.sides.subject import Arrays

ROOM = 1 << 12


@dataclasses.dataclass(frozen=True)
class Space:
    """A space that the candidate describes: `n` of a discrete one, `low` and `high` of a box."""

    kind: Literal["discrete", "box"]
    dtype: np.dtype
    n: int = 0
    low: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(()))
    high: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(()))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one value of this space."""
        return self.low.shape


class RulesError(UsageError):
    """The candidate's rules panicked; the message is that of the panic."""


@functools.cache
def load_library(folder: str, contract: str, root: str) -> "Library":
    """Compile a candidate with the toolchain at `root`, once per process, and load it."""
    with tempfile.TemporaryDirectory() as place:
        made = build(Path(folder), Path(contract), Path(root), Path(place))
        return Library(ctypes.CDLL(str(made)), load_contract(Path(contract)))


class Library:
    """The functions of a candidate's rules on a batch. States and draws are structured arrays (contract_source.py)."""

    def __init__(self, library: ctypes.CDLL, contract: ContractFile) -> None:
        self._library = library
        self.state_dtype = state_dtype(contract)
        self.reset_dtype, self.step_dtype = draw_dtype(contract.reset_draws), draw_dtype(contract.step_draws)
        told = self._told("overclock_describe").splitlines()
        if not told:
            raise RulesError(f"The candidate cannot describe itself: {self._told('overclock_complaint')}")
        observations, actions, element, action, limit, masked, sizes = told
        self.observations = _space(observations, element)
        self.actions = _space(actions, action)
        self.max_steps = None if limit == "never" else int(limit)
        self.masked = masked == "1"
        self.action_dtype = np.dtype((self.actions.dtype, self.actions.shape))
        known = (self.state_dtype, self.reset_dtype, self.step_dtype, self.action_dtype)
        _require_sizes(list(map(int, sizes.split())), [dtype.itemsize for dtype in known])

    def streams(self, seeds: np.ndarray) -> np.ndarray:
        """A random stream for every seed: (k0, k1, event), as `Rng.of(seed)` has it."""
        keys = np.zeros((len(seeds), 3), np.uint32)
        self._call("overclock_streams", len(seeds), np.ascontiguousarray(seeds, np.int64).view(np.uint64), keys)
        return keys

    def draw_reset(self, keys: np.ndarray, threads: int = 1) -> np.ndarray:
        """The randomness of resets from streams."""
        draws = np.zeros(len(keys), self.reset_dtype)
        self._call("overclock_draw_reset", len(keys), threads, np.ascontiguousarray(keys), draws)
        return draws

    def draw_step(self, keys: np.ndarray, states: np.ndarray, threads: int = 1) -> np.ndarray:
        """The randomness of steps from streams."""
        draws = np.zeros(len(keys), self.step_dtype)
        self._call("overclock_draw_step", len(keys), threads, np.ascontiguousarray(keys), states, draws)
        return draws

    def init(self, draws: np.ndarray, threads: int = 1) -> np.ndarray:
        states = np.zeros(len(draws), self.state_dtype)
        self._call("overclock_init", len(draws), threads, draws, states)
        return states

    def transition(
        self, states: np.ndarray, actions: np.ndarray, draws: np.ndarray, threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One step of every lane: (states afterwards, rewards, terminated)."""
        after, count = states.copy(), len(states)
        rewards, terminated = np.zeros(count, np.float64), np.zeros(count, np.uint8)
        given = self._actions(actions, count)
        self._call("overclock_transition", count, threads, after, given, draws, rewards, terminated)
        return after, rewards, terminated.astype(np.bool_)

    def observe(self, states: np.ndarray, threads: int = 1) -> np.ndarray:
        seen = np.zeros((len(states), *self.observations.shape), self.observations.dtype)
        self._call("overclock_observe", len(states), threads, states, seen, int(np.prod(self.observations.shape)))
        return seen

    def action_mask(self, states: np.ndarray, threads: int = 1) -> np.ndarray | None:
        """Which actions are legal; None where the candidate has no masks."""
        if not self.masked:
            return None
        masks = np.zeros((len(states), self.actions.n), np.uint8)
        self._call("overclock_action_mask", len(states), threads, states, masks, self.actions.n)
        return masks.astype(np.bool_)

    def runner(self, lanes: int, seed: int, threads: int) -> ctypes.c_void_p:
        """Lanes for `run`, which measures speed; they live as long as the process."""
        made = ctypes.c_void_p()
        self._call("overclock_runner", lanes, ctypes.c_uint64(seed), threads, ctypes.byref(made))
        return made

    def run(self, runner: ctypes.c_void_p, steps: int) -> float:
        """Take `steps` steps in every lane of a runner; returns the sum of all rewards and final observations."""
        total = ctypes.c_double()
        self._call("overclock_run", runner, steps, ctypes.byref(total))
        return total.value

    def _actions(self, actions: np.ndarray, count: int) -> np.ndarray:
        if actions.shape != (count, *self.actions.shape):
            raise ValueError(f"actions of the shape {actions.shape} do not fit {count} times {self.actions.shape}")
        return np.ascontiguousarray(actions.astype(self.actions.dtype, casting="same_kind"))

    def _call(self, name: str, *arguments: Any) -> None:
        passed = [_passed(one) for one in arguments]
        if getattr(self._library, name)(*passed) != 0:
            raise RulesError(f"The candidate's rules panicked: {self._told('overclock_complaint')}")

    def _told(self, name: str) -> str:
        """The text that a function of the library writes into a buffer."""
        tell = getattr(self._library, name)
        tell.restype = ctypes.c_size_t
        room = ROOM
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = tell(buffer, ctypes.c_size_t(room))
            if length <= room:
                return buffer.raw[:length].decode(errors="replace")
            room = length


def named(rows: np.ndarray) -> Arrays:
    """The fields of a structured array by name."""
    return {name: np.array(rows[name]) for name in rows.dtype.names or ()}


def rows(arrays: Arrays, dtype: np.dtype, count: int, what: str) -> np.ndarray:
    """The inverse of `named` for the fields of `dtype`; ValueError if one is missing or does not fit."""
    made = np.zeros(count, dtype)
    for name in dtype.names or ():
        if name not in arrays:
            raise ValueError(f"no value was given for {what} '{name}'")
        values = np.asarray(arrays[name])
        if values.shape != made[name].shape:
            raise ValueError(f"{what} '{name}' has the shape {values.shape}, the contract says {made[name].shape}")
        if not np.can_cast(values.dtype, made[name].dtype, "same_kind"):
            raise ValueError(f"{what} '{name}' is of the type {values.dtype}, the contract says {made[name].dtype}")
        made[name] = values
    return made


def _passed(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return argument.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_size_t(argument) if isinstance(argument, int) else argument


def _space(text: str, dtype: str) -> Space:
    kind, _, rest = text.partition(" ")
    if kind == "discrete":
        return Space("discrete", np.dtype(dtype), n=int(rest))
    shape, low, high = (part.split() for part in text.removeprefix("box").split(";"))
    lengths = tuple(map(int, shape))
    if not len(low) == len(high) == int(np.prod(lengths)):
        raise UsageError(f"A box of the shape {lengths} has {len(low)} lower and {len(high)} upper bounds.")
    bounds = [np.array([float(one) for one in part]).astype(dtype).reshape(lengths) for part in (low, high)]
    return Space("box", np.dtype(dtype), low=bounds[0], high=bounds[1])


def _require_sizes(told: list[int], known: list[int]) -> None:
    for what, theirs, ours in zip(("State", "ResetDraw", "StepDraw", "Action"), told, known, strict=True):
        if theirs != ours:
            raise UsageError(f"The candidate's {what} has {theirs} bytes, its contract and spaces say {ours}.")
