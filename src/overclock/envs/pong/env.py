"""Pong: the rules of PufferLib 3.0.0's C Pong, in the same order of float32 operations.

Heights count upwards and mean lower edges. The left paddle is the scripted opponent's, the right one the player's.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32, Int, Int32

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct, select
from overclock.errors import UsageError

REWARD_HIT, REWARD_POINT = np.float32(0.1), np.float32(1.0)

# The reference calls a ball horizontal if its speed, a float, is below the double 0.01. The largest such float is
# 0.01 rounded to float32, which lies below 0.01: among floats the comparison therefore includes it.
HORIZONTAL = np.float32(0.01)


class PongParams(Params):
    """The reference's constants, in pixels and pixels per frame; `max_score` points win the game."""

    width: float = 500.0
    height: float = 640.0
    paddle_height: float = 70.0
    ball_width: float = 32.0
    ball_height: float = 32.0
    paddle_speed: float = 8.0
    ball_initial_speed_x: float = 10.0
    ball_initial_speed_y: float = 1.0
    ball_speed_y_increment: float = 3.0
    ball_max_speed_y: float = 13.0
    max_score: int = 21


class PongDraw(Struct):
    """One bit: whether the next serve is level (1) or goes down (0)."""

    serve: Int32[Array, ""]


class PongState(Struct):
    """Paddles, ball and scores; steps and paddle hits since the serve; and what the last observation was made from."""

    paddle_yl: Float32[Array, ""]
    paddle_yr: Float32[Array, ""]
    ball_x: Float32[Array, ""]
    ball_y: Float32[Array, ""]
    ball_vx: Float32[Array, ""]
    ball_vy: Float32[Array, ""]
    score_l: Int32[Array, ""]
    score_r: Int32[Array, ""]
    tick: Int32[Array, ""]
    n_bounces: Int32[Array, ""]
    seen_yl: Float32[Array, ""]
    seen_yr: Float32[Array, ""]
    seen_x: Float32[Array, ""]
    seen_y: Float32[Array, ""]
    seen_vx: Float32[Array, ""]
    seen_vy: Float32[Array, ""]

    def shown(self) -> "PongState":
        """The same state, to be observed as it is now."""
        return self.replace(
            seen_yl=self.paddle_yl, seen_yr=self.paddle_yr, seen_x=self.ball_x, seen_y=self.ball_y,
            seen_vx=self.ball_vx, seen_vy=self.ball_vy,
        )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pong(Environment[PongState, PongParams]):
    """Play Pong against an opponent that follows the ball; first to 21 points.

    - **Observation**: `float32[8]`: both paddles, ball x, ball y, ball's velocities, each scaled to about [0, 1], and
      two zeros. It is computed at the end of a frame; a point leaves the one from before, as in the reference.
    - **Action**: `Discrete(3)`: 0 stays, 1 moves up, 2 moves down; `continuous`: `Box(-1, 1, (1,))`, the direction.
    - **Reward**: 1 for a point, -1 for the opponent's, 0.1 for hitting the ball; the last of a step's events counts.
    - **Termination**: a side has 21 points. The state then is the frame of that last point.
    - **State**: float32 and int32 scalars, whatever JAX's precision is.
    - **Draws**: one serve bit each; a step uses its own only if a point in it is followed by another serve.
    """

    frameskip: int = 1
    continuous: bool = False

    def __post_init__(self) -> None:
        if self.frameskip < 1:
            raise UsageError(f"Pong's frameskip is a whole number from 1 up, got {self.frameskip}.")

    def default_params(self) -> PongParams:
        return PongParams()

    def observation_space(self, params: PongParams) -> Box:
        # The reference says [0, 1], but a ball may leave the field by up to 10 of 500 or 13 of 640 before it turns.
        return Box(-0.05, 1.0, (8,))

    def action_space(self, params: PongParams) -> Box | Discrete:
        return Box(-1.0, 1.0, (1,)) if self.continuous else Discrete(3)

    def draw_reset(self, rng: Rng, params: PongParams) -> PongDraw:
        return PongDraw(serve=rng.integers(0, 2))

    def draw_step(self, rng: Rng, state: PongState, params: PongParams) -> PongDraw:
        return PongDraw(serve=rng.integers(0, 2))

    def init(self, draw: PongDraw, params: PongParams) -> PongState:
        zero, nothing = jnp.int32(0), jnp.float32(0)
        return self.serve(PongState(*[nothing] * 6, *[zero] * 4, *[nothing] * 6), draw, params).shown()

    def transition(
        self, state: PongState, action: Int[Array, ""] | Float[Array, "1"], draw: PongDraw, params: PongParams
    ) -> tuple[PongState, Float32[Array, ""], Bool[Array, ""]]:
        direction = self.direction(action)
        state = state.replace(tick=state.tick + jnp.int32(1))

        def next_frame(_: Any, so_far: tuple[PongState, Array, Array]) -> tuple[PongState, Array, Array]:
            state, reward, over = so_far
            after, gained, point = self.frame(state, direction, params)
            # A point ends the step: the frames that are left do not take place.
            state = select(over, state, select(point, after, after.shown()))
            return state, jnp.where(over | (gained == 0), reward, gained), over | point

        so_far = (state, jnp.float32(0), jnp.bool_(False))
        # A loop, not repeated code: XLA would fuse eight frames into one and compute the first ones many times over.
        state, reward, over = (
            next_frame(0, so_far) if self.frameskip == 1 else jax.lax.fori_loop(0, self.frameskip, next_frame, so_far)
        )
        ended = over & ((state.score_l == params.max_score) | (state.score_r == params.max_score))
        return select(over & ~ended, self.serve(state, draw, params), state), reward, ended

    def direction(self, action: Int[Array, ""] | Float[Array, "1"]) -> Float32[Array, ""]:
        """Which way the player's paddle moves, 1 is up; the reference limits continuous actions before its rules."""
        if self.continuous:
            return jnp.clip(action[0].astype(jnp.float32), -1.0, 1.0)
        return jnp.where(action == 1, 1.0, jnp.where(action == 2, -1.0, 0.0)).astype(jnp.float32)

    def frame(
        self, state: PongState, direction: Float32[Array, ""], params: PongParams
    ) -> tuple[PongState, Float32[Array, ""], Bool[Array, ""]]:
        """One frame: (state, reward or 0, whether somebody scored). It serves no ball and shows nothing."""
        yl, yr = self.move_paddles(state, direction, params)
        x, y = state.ball_x + state.ball_vx, state.ball_y + state.ball_vy
        outside = (y < 0) | (y + params.ball_height > params.height)
        vy = jnp.where(outside, -state.ball_vy, state.ball_vy)

        left, right = x < 0, x + params.ball_width > params.width
        met_left, met_right = self.meets(y, yl, params), self.meets(y, yr, params)
        hit_left, hit_right = left & met_left, right & met_right
        won, lost = left & ~met_left, right & ~met_right

        after = state.replace(
            paddle_yl=yl,
            paddle_yr=yr,
            # Only the player's hit puts the ball back inside; from the opponent's it returns by itself.
            ball_x=jnp.where(hit_right, jnp.clip(x, 0.0, params.width - params.ball_width), x),
            ball_y=jnp.where(hit_right, jnp.clip(y, 0.0, params.height - params.ball_height), y),
            ball_vx=jnp.where(hit_left | hit_right, -state.ball_vx, state.ball_vx),
            ball_vy=jnp.where(hit_right, self.spin(vy, direction, params), vy),
            score_l=state.score_l + lost.astype(jnp.int32),
            score_r=state.score_r + won.astype(jnp.int32),
            n_bounces=state.n_bounces + (hit_left | hit_right).astype(jnp.int32),
        )
        nothing = jnp.float32(0)
        gained = jnp.where(won, REWARD_POINT, jnp.where(lost, -REWARD_POINT, jnp.where(hit_right, REWARD_HIT, nothing)))
        return after, gained, won | lost

    def move_paddles(
        self, state: PongState, direction: Float32[Array, ""], params: PongParams
    ) -> tuple[Float32[Array, ""], Float32[Array, ""]]:
        """Left and right paddle; the opponent aims its middle at the lower edge of the ball, before the ball moves."""
        half = params.paddle_height / 2
        low, high = -half, params.height - half
        aim = state.ball_y - (state.paddle_yl + half)
        yl = state.paddle_yl + jnp.clip(aim, -params.paddle_speed, params.paddle_speed)
        yr = state.paddle_yr + params.paddle_speed * direction
        return jnp.clip(yl, low, high), jnp.clip(yr, low, high)

    def meets(self, y: Float32[Array, ""], paddle: Float32[Array, ""], params: PongParams) -> Bool[Array, ""]:
        """Whether ball and paddle overlap in height; touching is not enough."""
        return (y + params.ball_height > paddle) & (y < paddle + params.paddle_height)

    def spin(self, vy: Float32[Array, ""], direction: Float32[Array, ""], params: PongParams) -> Float32[Array, ""]:
        """The ball's vertical speed after the player's moving paddle hit it; never horizontal."""
        limit, increment = params.ball_max_speed_y, params.ball_speed_y_increment
        # The clip changes no number. It keeps compilers from fusing product and sum, which would round once, not twice.
        push = jnp.clip(increment * direction, -increment, increment)
        turned = jnp.clip(vy + push, -limit, limit)
        return jnp.where(jnp.abs(turned) <= HORIZONTAL, jnp.float32(increment), turned)

    def serve(self, state: PongState, draw: PongDraw, params: PongParams) -> PongState:
        """A new round; scores and what was last seen stay."""
        middle = jnp.float32(params.height / 2 - params.paddle_height / 2)
        return state.replace(
            paddle_yl=middle,
            paddle_yr=middle,
            ball_x=jnp.float32(params.width / 5),
            ball_y=jnp.float32(params.height / 2 - params.ball_height / 2),
            ball_vx=jnp.float32(params.ball_initial_speed_x),
            ball_vy=(draw.serve - 1).astype(jnp.float32) * params.ball_initial_speed_y,
            tick=jnp.int32(0),
            n_bounces=jnp.int32(0),
        )

    def observe(self, state: PongState, params: PongParams) -> Float32[Array, "8"]:
        half = params.paddle_height / 2
        span = (params.height - half) + half
        zero = jnp.float32(0)  # the reference divides its scores as integers, which gives 0 until the game is over
        return jnp.stack([
            ratio(state.seen_yl + half, span),
            ratio(state.seen_yr + half, span),
            ratio(state.seen_x, params.width),
            ratio(state.seen_y, params.height),
            ratio(state.seen_vx + params.ball_initial_speed_x, 2 * params.ball_initial_speed_x),
            ratio(state.seen_vy + params.ball_max_speed_y, 2 * params.ball_max_speed_y),
            zero,
            zero,
        ])  # fmt: skip


def ratio(value: Float32[Array, ""], unit: Any) -> Float32[Array, ""]:
    """`value / unit`, rounded once.

    XLA turns a division by one number for all lanes into a product with its rounded reciprocal, whose last bit often
    differs. A divisor that depends on the lane, even if only by a zero, stays a divisor.
    """
    return value / (unit + 0 * value)
