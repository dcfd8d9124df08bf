"""What the host-side adapter tests share: the backends, and a small environment with everything CartPole lacks."""

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Bool, Float, Int

from overclock.c_compiler import c_compiler_fault
from overclock.env import Box, Dict, Discrete, Environment, Params, Rng, Struct

TOP = 4


@pytest.fixture(params=["xla", "c", "native"])
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "c" and c_compiler_fault():
        pytest.skip(c_compiler_fault())
    if request.param == "native":
        pytest.importorskip("overclock_native", reason="the Rust extension overclock_native is not built")
    return request.param


class StairsParams(Params):
    max_steps: int | None = 6


class Luck(Struct):
    """A draw: how lucky the moment is."""

    luck: Float[Array, ""]


class StairsState(Struct):
    height: Int[Array, ""]
    luck: Float[Array, ""]
    total: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class Stairs(Environment[StairsState, StairsParams]):
    """Climb to the top; each step pays what is drawn. Dict observations (unless `flat`), masks, nested info, draws.

    Actions: stay, one up, two up; two up is illegal one stair below the top.
    """

    flat: bool = False

    def default_params(self) -> StairsParams:
        return StairsParams()

    def observation_space(self, params: StairsParams) -> Box | Dict:
        if self.flat:
            return Box(0, TOP, (2,))
        return Dict({"height": Discrete(TOP + 1), "luck": Box(0, 1, (1,))})

    def action_space(self, params: StairsParams) -> Discrete:
        return Discrete(3)

    def draw_reset(self, rng: Rng, params: StairsParams) -> Luck:
        return Luck(luck=rng.uniform(0, dtype=jnp.float32))

    def draw_step(self, rng: Rng, state: StairsState, params: StairsParams) -> Luck:
        return Luck(luck=rng.uniform(0, dtype=jnp.float32))

    def init(self, draw: Luck, params: StairsParams) -> StairsState:
        return StairsState(height=jnp.int32(0), luck=draw.luck, total=jnp.float32(0))

    def transition(
        self, state: StairsState, action: Int[Array, ""], draw: Luck, params: StairsParams
    ) -> tuple[StairsState, Float[Array, ""], Bool[Array, ""]]:
        height = jnp.minimum(state.height + action, TOP).astype(jnp.int32)
        after = StairsState(height=height, luck=draw.luck, total=state.total + draw.luck)
        return after, draw.luck, height == TOP

    def observe(self, state: StairsState, params: StairsParams) -> Any:
        if self.flat:
            return jnp.stack([state.height.astype(jnp.float32), state.luck])
        return {"height": state.height, "luck": state.luck[None]}

    def action_mask(self, state: StairsState, params: StairsParams) -> Bool[Array, "3"]:
        return (np.arange(3) < 2) | (state.height < TOP - 1)

    def info(self, state: StairsState, params: StairsParams) -> dict[str, Any]:
        return {"stair": state.height, "ledger": {"total": state.total}}


@pytest.fixture
def stairs() -> Stairs:
    return Stairs()


@pytest.fixture
def flat_stairs() -> Stairs:
    return Stairs(flat=True)
