"""Small worlds with a Gymnasium reference, built inside worker processes (and tests) by entry point."""

import dataclasses
from pathlib import Path
from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np
from gymnasium.wrappers import TimeLimit

from overclock.env import Discrete, Environment, Params, Struct, registry
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.gymnasium_reference import GymnasiumSubject
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.subject import SubjectSpec

# ---- Frozen Lake without slipping: a walk over ice with holes ----

MAPS = {
    4: "SFFF FHFH FFFH HFFG",
    8: "SFFFFFFF FFFFFFFF FFFHFFFF FFFFFHFF FFFHFFFF FHHFFFHF FHFFHFHF FFFHFFFG",
}
LEFT, DOWN, RIGHT, UP = range(4)


class LakeParams(Params):
    max_steps: int | None = 100


class LakeState(Struct):
    cell: Any


@dataclasses.dataclass(frozen=True)
class Lake(Environment[LakeState, LakeParams]):
    """`bug`: 'shortcut' lets a step down from the cell left of the goal slide into it, through the wall."""

    size: int = 4
    bug: str = ""
    masked: bool = False

    def default_params(self):
        return LakeParams()

    def observation_space(self, params):
        return Discrete(self.size**2)

    def action_space(self, params):
        return Discrete(4)

    def init(self, draw, params):
        return LakeState(cell=jnp.int32(0))

    def transition(self, state, action, draw, params):
        cells = np.frombuffer(MAPS[self.size].replace(" ", "").encode(), np.uint8)
        row, column = state.cell // self.size, state.cell % self.size
        row = jnp.clip(row + (action == DOWN) - (action == UP), 0, self.size - 1)
        column = jnp.clip(column + (action == RIGHT) - (action == LEFT), 0, self.size - 1)
        cell = (row * self.size + column).astype(jnp.int32)
        goal = self.size**2 - 1
        if self.bug == "shortcut":
            cell = jnp.where((state.cell == goal - 1) & (action == DOWN), goal, cell).astype(jnp.int32)
        letter = jnp.asarray(cells)[cell]
        reward = (letter == ord("G")).astype(jnp.float32)
        return LakeState(cell=cell), reward, (letter == ord("G")) | (letter == ord("H"))

    def observe(self, state, params):
        return state.cell

    def action_mask(self, state, params):
        if not self.masked:
            return None
        row, column = state.cell // self.size, state.cell % self.size
        return jnp.stack([column > 0, row < self.size - 1, column < self.size - 1, row > 0])


def lake_performance(num_envs: int, **options: Any) -> JaxSubject:
    _register("lake-v0", "verify.worlds:Lake")
    return JaxSubject(num_envs, "lake-v0", **options)


def lake_reference(num_envs: int, size: int = 4, slippery: bool = False) -> GymnasiumSubject:
    def read(env):
        return {"cell": np.array(env.unwrapped.s, np.int32), "steps": _steps(env)}

    def write(env, values):
        env.unwrapped.s = int(values["cell"])
        _limit(env)._elapsed_steps = int(values["steps"])

    def step_draws(calls):
        return {"slip": calls[0][1]} if slippery else {}

    return GymnasiumSubject(
        "FrozenLake-v1", num_envs, read, write, lambda calls: {}, step_draws,
        map_name=f"{size}x{size}", is_slippery=slippery,
    )  # fmt: skip


def lake(
    size: int = 4, params: dict[str, Any] | None = None, slippery: bool = False, masks: str = "", **static: Any
) -> Twin:
    fields = ("obs", "reward", "terminated", "truncated", "state.cell", "state.steps")
    return Twin(
        "lake-v0",
        _spec("verify.worlds:lake_reference", size=size, slippery=slippery),
        _spec("verify.worlds:lake_performance", static={"size": size, **static}, params=params or {}),
        {"float32": Contract(tuple(Field(name) for name in fields), performance_masks=masks)},
    )


# ---- A combination lock: eight right digits in a row, one mistake ends it ----

COMBINATION = (2, 0, 3, 3, 1, 0, 2, 1)


class GymnasiumLock(gymnasium.Env):
    """Each stage is a branch of its own, as rare rules are in real code."""

    observation_space = gymnasium.spaces.Discrete(9)
    action_space = gymnasium.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.stage = 0
        return self.stage, {}

    def step(self, action):
        terminated = False
        if self.stage == 0 and action == 2:
            self.stage = 1
        elif self.stage == 1 and action == 0:
            self.stage = 2
        elif self.stage == 2 and action == 3:
            self.stage = 3
        elif self.stage == 3 and action == 3:
            self.stage = 4
        elif self.stage == 4 and action == 1:
            self.stage = 5
        elif self.stage == 5 and action == 0:
            self.stage = 6
        elif self.stage == 6 and action == 2:
            self.stage = 7
        elif self.stage == 7 and action == 1:
            self.stage = 8
            terminated = True
        else:
            terminated = True
        return self.stage, 1.0 if self.stage == 8 else 0.0, terminated, False, {}

    def render(self):
        return str(self.stage)


class LockState(Struct):
    stage: Any


@dataclasses.dataclass(frozen=True)
class Lock(Environment[LockState, Params]):
    """`bug`: 'prize' pays nothing for the open lock."""

    bug: str = ""

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Discrete(9)

    def action_space(self, params):
        return Discrete(4)

    def init(self, draw, params):
        return LockState(stage=jnp.int32(0))

    def transition(self, state, action, draw, params):
        right = action == jnp.asarray((*COMBINATION, -1), jnp.int32)[state.stage]
        stage = jnp.where(right, state.stage + 1, state.stage).astype(jnp.int32)
        reward = jnp.where((stage == 8) & (self.bug != "prize"), 1.0, 0.0).astype(jnp.float32)
        return LockState(stage=stage), reward, ~right | (stage == 8)

    def observe(self, state, params):
        return state.stage


def lock_performance(num_envs: int, **options: Any) -> JaxSubject:
    _register("lock-v0", "verify.worlds:Lock")
    return JaxSubject(num_envs, "lock-v0", **options)


def lock_reference(num_envs: int) -> GymnasiumSubject:
    if "Lock-v0" not in gymnasium.registry:
        gymnasium.register("Lock-v0", GymnasiumLock, max_episode_steps=50)

    def read(env):
        return {"stage": np.array(env.unwrapped.stage, np.int32), "steps": _steps(env)}

    def write(env, values):
        env.unwrapped.stage = int(values["stage"])
        _limit(env)._elapsed_steps = int(values["steps"])

    return GymnasiumSubject("Lock-v0", num_envs, read, write, lambda calls: {}, lambda calls: {})


def lock(bug: str = "") -> Twin:
    fields = ("obs", "reward", "terminated", "truncated", "state.stage", "state.steps")
    return Twin(
        "lock-v0",
        _spec("verify.worlds:lock_reference"),
        _spec("verify.worlds:lock_performance", static={"bug": bug}),
        {"float32": Contract(tuple(Field(name) for name in fields))},
    )


def _register(env_id: str, entry_point: str) -> None:
    if env_id not in registry._registry:
        registry.register(registry.Spec(env_id, entry_point))


def _spec(entry_point: str, **options: Any) -> SubjectSpec:
    return SubjectSpec(entry_point, tuple(options.items()), (("PYTHONPATH", str(Path(__file__).parents[1])),))


def _steps(env: gymnasium.Env) -> np.ndarray:
    return np.array(_limit(env)._elapsed_steps or 0, np.int32)


def _limit(env: gymnasium.Env) -> TimeLimit:
    while not isinstance(env, TimeLimit):
        assert isinstance(env, gymnasium.Wrapper)
        env = env.env
    return env
