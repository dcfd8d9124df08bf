"""Candidates for CartPole: one with a sign error, one whose step counter survives a reset, and a correct one."""

CORRECT = '''"""CartPole."""

import dataclasses
import math
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct

GRAVITY, MASSCART, MASSPOLE, LENGTH, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
TOTAL_MASS, POLEMASS_LENGTH = MASSPOLE + MASSCART, MASSPOLE * LENGTH
THETA_LIMIT, X_LIMIT = 12 * 2 * math.pi / 360, 2.4


class CartPoleParams(Params):
    max_steps: int | None = 500


class CartPoleState(Struct):
    state: Float[Array, "4"]


class CartPoleReset(Struct):
    uniform_0: Float[Array, "4"]


@dataclasses.dataclass(frozen=True)
class CartPole(Environment[CartPoleState, CartPoleParams]):
    def default_params(self) -> CartPoleParams:
        return CartPoleParams()

    def observation_space(self, params: CartPoleParams) -> Box:
        high = (X_LIMIT * 2, math.inf, THETA_LIMIT * 2, math.inf)
        return Box(tuple(-bound for bound in high), high, (4,))

    def action_space(self, params: CartPoleParams) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: CartPoleParams) -> CartPoleReset:
        return CartPoleReset(uniform_0=rng.uniform(0, -0.05, 0.05, shape=(4,)))

    def init(self, draw: CartPoleReset, params: CartPoleParams) -> CartPoleState:
        return CartPoleState(state=draw.uniform_0)

    def transition(
        self, state: CartPoleState, action: Int[Array, ""], draw: Any, params: CartPoleParams
    ) -> tuple[CartPoleState, Float[Array, ""], Bool[Array, ""]]:
        x, x_dot, theta, theta_dot = state.state
        force = jnp.where(action == 1, FORCE, -FORCE)
        costheta, sintheta = jnp.cos(theta), jnp.sin(theta)
        temp = (force + POLEMASS_LENGTH * jnp.square(theta_dot) * sintheta) / TOTAL_MASS
        thetaacc = (GRAVITY * sintheta - costheta * temp) / (
            LENGTH * (4.0 / 3.0 - MASSPOLE * jnp.square(costheta) / TOTAL_MASS)
        )
        xacc = temp - POLEMASS_LENGTH * thetaacc * costheta / TOTAL_MASS
        x, x_dot = x + TAU * x_dot, x_dot + TAU * xacc
        theta, theta_dot = theta + TAU * theta_dot, theta_dot + TAU * thetaacc
        terminated = (x < -X_LIMIT) | (x > X_LIMIT) | (theta < -THETA_LIMIT) | (theta > THETA_LIMIT)
        after = CartPoleState(state=jnp.stack([x, x_dot, theta, theta_dot]).astype(state.state.dtype))
        return after, jnp.float32(1.0), terminated

    def observe(self, state: CartPoleState, params: CartPoleParams) -> Float[Array, "4"]:
        return state.state.astype(jnp.float32)


def make() -> tuple[CartPole, CartPoleParams]:
    return CartPole(), CartPoleParams()
'''
SIGN_ERROR = CORRECT.replace("xacc = temp - POLEMASS_LENGTH", "xacc = temp + POLEMASS_LENGTH")
COUNTER_SURVIVES_RESET = CORRECT.replace(
    "    def observe(self,",
    """    def step(self, key: Any, state: Any, action: Any, params: Any = None) -> Any:
        obs, after, *rest = super().step(key, state, action, params)
        return obs, after.replace(steps=state.steps + 1), *rest

    def observe(self,""",
)
assert len({CORRECT, SIGN_ERROR, COUNTER_SURVIVES_RESET}) == 3
VERSIONS = ({"env.py": SIGN_ERROR}, {"env.py": COUNTER_SURVIVES_RESET}, {"env.py": CORRECT})
SCRIPT = {"translate": [VERSIONS[0]], "repair": list(VERSIONS[1:])}
