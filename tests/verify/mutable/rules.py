"""Rules in which tests plant mistakes: a pile grows by one, or by what a die shows, until it is high enough."""

import dataclasses
from typing import Any

import jax.numpy as jnp
from verify.mutable import limits

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct


class PileParams(Params):
    max_steps: int | None = 5


class PileState(Struct):
    height: Any


class PileDraw(Struct):
    die: Any


@dataclasses.dataclass(frozen=True)
class Pile(Environment[PileState, PileParams]):
    def default_params(self):
        return PileParams()

    def observation_space(self, params):
        return Box(0.0, 99.0, ())

    def action_space(self, params):
        return Discrete(2)

    def draw_step(self, rng: Rng, state, params):
        return PileDraw(die=rng.integers(0, 3))

    def init(self, draw, params):
        return PileState(height=jnp.int32(0))

    def transition(self, state: PileState, action, draw: PileDraw, params):
        shown = jnp.maximum(draw.die, 0)
        height = state.height + jnp.where(action == 1, shown, 1)
        return PileState(height=height), height.astype(jnp.float32), height >= limits.HIGH

    def observe(self, state: PileState, params):
        return state.height.astype(jnp.float32)
