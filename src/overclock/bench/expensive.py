"""A synthetic environment whose reset costs far more than its step: what reset strategies are measured on.

The start of an episode is found by a chain of dependent operations, as generating a level is; a step counts down.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct

FACTOR = np.uint32(747796405)  # a multiplier and an increment of full period (PCG)
INCREMENT = np.uint32(2891336453)
SHORTEST = 64  # steps of an episode: uniform in 64 ... 191, so about one lane in 128 ends at a step
LENGTHS = 128


class ExpensiveResetState(Struct):
    """The level and the steps that are left in it."""

    level: UInt32[Array, ""]
    left: Int[Array, ""]


@dataclasses.dataclass(frozen=True)
class ExpensiveReset(Environment[ExpensiveResetState, Params]):
    """`work` dependent rounds make a level; every step is a few operations.

    - **Observation**: `float32[2]`: the level as a number in [0, 1), and the steps that are left.
    - **Action**: `Discrete(2)`, stirred into the level. **Reward**: 1 for action 1.
    - **Termination**: after the level's number of steps.
    """

    work: int = 1000

    def default_params(self) -> Params:
        return Params()

    def observation_space(self, params: Params) -> Box:
        return Box((0.0, -np.inf), (1.0, float(SHORTEST + LENGTHS)), (2,))

    def action_space(self, params: Params) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: Params) -> UInt32[Array, ""]:
        return rng.words(0)

    def init(self, draw: UInt32[Array, ""], params: Params) -> ExpensiveResetState:
        def round_of(_: Any, level: UInt32[Array, ""]) -> UInt32[Array, ""]:
            level = level * FACTOR + INCREMENT
            return level ^ (level >> np.uint32(15))

        level = jax.lax.fori_loop(0, self.work, round_of, draw)
        return ExpensiveResetState(level=level, left=SHORTEST + (level % np.uint32(LENGTHS)).astype(jnp.int32))

    def transition(
        self, state: ExpensiveResetState, action: Int[Array, ""], draw: Any, params: Params
    ) -> tuple[ExpensiveResetState, Float[Array, ""], Bool[Array, ""]]:
        level = state.level * FACTOR + action.astype(jnp.uint32)
        after = ExpensiveResetState(level=level, left=state.left - 1)
        return after, action.astype(jnp.float32), after.left <= 0

    def observe(self, state: ExpensiveResetState, params: Params) -> Float[Array, "2"]:
        level = (state.level >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24)
        return jnp.stack([level, state.left.astype(jnp.float32)])
