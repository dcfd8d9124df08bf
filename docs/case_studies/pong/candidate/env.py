"""PufferLib's Pong: the right paddle is the player's, the left one follows the ball, and a game goes to 21 points."""

import dataclasses

from frames import Floats, c_step
from jaxtyping import Array, Bool, Float, Int
from rounds import c_reset, compute_observations

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct


class PongParams(Params):
    """There is no time limit."""

    max_steps: int | None = None


class PongState(Struct):
    """The scene, the counts, and the scene that the observation shows: after a point it is an old one."""

    paddle_yl: Float[Array, ""]
    paddle_yr: Float[Array, ""]
    ball_x: Float[Array, ""]
    ball_y: Float[Array, ""]
    ball_vx: Float[Array, ""]
    ball_vy: Float[Array, ""]
    score_l: Int[Array, ""]
    score_r: Int[Array, ""]
    tick: Int[Array, ""]
    n_bounces: Int[Array, ""]
    seen_yl: Float[Array, ""]
    seen_yr: Float[Array, ""]
    seen_x: Float[Array, ""]
    seen_y: Float[Array, ""]
    seen_vx: Float[Array, ""]
    seen_vy: Float[Array, ""]


class Serve(Struct):
    """Down (0) or level (1)."""

    serve: Int[Array, ""]


def scene_of(state: PongState) -> Floats:
    """Paddles and ball as they are."""
    return state.paddle_yl, state.paddle_yr, state.ball_x, state.ball_y, state.ball_vx, state.ball_vy


def seen_of(state: PongState) -> Floats:
    """Paddles and ball as they are shown."""
    return state.seen_yl, state.seen_yr, state.seen_x, state.seen_y, state.seen_vx, state.seen_vy


@dataclasses.dataclass(frozen=True)
class Pong(Environment[PongState, PongParams]):
    """Three actions: still, up, down."""

    frameskip: int = 8

    def default_params(self) -> PongParams:
        """No time limit."""
        return PongParams()

    def observation_space(self, params: PongParams) -> Box:
        """About 0 to 1: the ball leaves the field by some pixels."""
        return Box(-1.0, 2.0, (8,))

    def action_space(self, params: PongParams) -> Discrete:
        """Still, up, down."""
        return Discrete(3)

    def draw_reset(self, rng: Rng, params: PongParams) -> Serve:
        """The first serve."""
        return Serve(serve=rng.integers(0, 2))

    def draw_step(self, rng: Rng, state: PongState, params: PongParams) -> Serve:
        """The serve after a point, whether one is made or not."""
        return Serve(serve=rng.integers(0, 2))

    def init(self, draw: Serve, params: PongParams) -> PongState:
        """A new game."""
        scene, counts, _ = c_reset(draw.serve, self.frameskip)
        return PongState(*scene, *counts, *scene)

    def transition(
        self, state: PongState, action: Int[Array, ""], draw: Serve, params: PongParams
    ) -> tuple[PongState, Float[Array, ""], Bool[Array, ""]]:
        """Up to `frameskip` frames."""
        counts = state.score_l, state.score_r, state.tick, state.n_bounces
        scene, counts, seen, _, reward, terminal = c_step(
            scene_of(state), counts, seen_of(state), action, draw.serve, self.frameskip
        )
        return PongState(*scene, *counts, *seen), reward, terminal

    def observe(self, state: PongState, params: PongParams) -> Float[Array, "8"]:
        """What was seen last."""
        return compute_observations(seen_of(state))


def make() -> tuple[Pong, PongParams]:
    """The environment and its parameters."""
    env = Pong()
    return env, env.default_params()
