"""A walk in the wind, which every step draws anew; its translation, and wrong ones that look right."""

REFERENCE = '''"""A walk in the wind."""

import gymnasium
import numpy as np


class Walk(gymnasium.Env):
    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(-100.0, 100.0, (1,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = float(self.np_random.uniform(-1.0, 1.0))
        return np.array([self.x], np.float32), {}

    def step(self, action):
        wind = self.np_random.uniform(-0.5, 0.5)
        self.x = float(self.x + (1.0 if action == 1 else -1.0) + wind)
        return np.array([self.x], np.float32), -abs(self.x), abs(self.x) > 5.0, False, {}


class Storm(Walk):
    """The farther out, the stronger the wind."""

    def step(self, action):
        strength = 0.1 + 0.4 * abs(self.x)
        wind = self.np_random.uniform(-strength, strength)
        self.x = float(self.x + (1.0 if action == 1 else -1.0) + wind)
        return np.array([self.x], np.float32), -abs(self.x), abs(self.x) > 5.0, False, {}
'''

CANDIDATE = '''"""A walk in the wind."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct


class WalkParams(Params):
    max_steps: int | None = 50


class WalkState(Struct):
    x: Float[Array, ""]


class Drawn(Struct):
    uniform_0: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class Walk(Environment[WalkState, WalkParams]):
    def default_params(self) -> WalkParams:
        return WalkParams()

    def observation_space(self, params: WalkParams) -> Box:
        return Box(-100.0, 100.0, (1,))

    def action_space(self, params: WalkParams) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: WalkParams) -> Drawn:
        return Drawn(uniform_0=rng.uniform(0, -1.0, 1.0))

    def draw_step(self, rng: Rng, state: WalkState, params: WalkParams) -> Drawn:
        return Drawn(uniform_0=rng.uniform(0, -0.5, 0.5))

    def init(self, draw: Drawn, params: WalkParams) -> WalkState:
        return WalkState(x=draw.uniform_0)

    def transition(
        self, state: WalkState, action: Int[Array, ""], draw: Drawn, params: WalkParams
    ) -> tuple[WalkState, Float[Array, ""], Bool[Array, ""]]:
        x = state.x + jnp.where(action == 1, 1.0, -1.0).astype(state.x.dtype) + draw.uniform_0
        return WalkState(x=x), -jnp.abs(x).astype(jnp.float32), jnp.abs(x) > 5.0

    def observe(self, state: WalkState, params: WalkParams) -> Float[Array, "1"]:
        return state.x[None].astype(jnp.float32)


def make() -> tuple[Walk, WalkParams]:
    return Walk(), WalkParams()
'''


def changed(*edits: tuple[str, str]) -> str:
    """The candidate with some changes, each in a place of its own."""
    text = CANDIDATE
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


STEP = "        x = state.x + jnp.where"
OWN_RESET, OWN_STEP = "rng.uniform(0, -1.0, 1.0)", "rng.uniform(0, -0.5, 0.5)"
ALIKE = "rng.replace(counter=jnp.zeros_like(rng.counter))"
CHEATS = {  # the change that each of them is
    "stands still in float32": (
        STEP,
        f"        if state.x.dtype == jnp.float32:\n            return state, jnp.float32(1.0), state.x > 9.0\n{STEP}",
    ),
    "makes no wind": (OWN_STEP, f"0.0 * {OWN_STEP}"),
    "makes a little less wind": (OWN_STEP, "rng.uniform(0, -0.47, 0.5)"),
    "has the same wind in every step": (OWN_STEP, OWN_STEP.replace("rng", ALIKE, 1)),
    "has the same wind in every lane": (OWN_STEP, OWN_STEP.replace("rng", "Rng.of(0)", 1)),
    "begins every episode of a lane alike": (OWN_RESET, OWN_RESET.replace("rng", ALIKE, 1)),
    "begins a little to the right": (OWN_RESET, "rng.uniform(0, -0.9, 1.0)"),
    "has no time limit": ("max_steps: int | None = 50", "max_steps: int | None = None"),
    "lasts longer": ("max_steps: int | None = 50", "max_steps: int | None = 9000"),
    "says one limit and has another": ("return Walk(), WalkParams()", "return Walk(), WalkParams(max_steps=51)"),
}
STORM = changed((OWN_STEP, "(0.1 + 0.4 * jnp.abs(state.x)) * rng.uniform(0, -1.0, 1.0)"))
EVEN_STORM = changed((OWN_STEP, "1.1 * rng.uniform(0, -1.0, 1.0)"))
