"""Pong in Rust (`overclock_native.VecPong`) with the spaces of its JAX twin; float32, CPU."""

from overclock.env.autoreset import Autoreset
from overclock.envs.pong.env import Pong, PongParams
from overclock.vector.native import NativeHostVector


class NativePong(NativeHostVector):
    """A `HostVector` that follows the same episodes as the JAX batch, bit for bit, for the same seeds and actions.

    `draws` and `step_draws` are serves, one 0 or 1 per lane: of the episodes that start, and of the rounds after
    points that do not end a game.
    """

    def __init__(
        self,
        num_envs: int,
        autoreset: Autoreset = "same_step",
        seed: int | None = None,
        frameskip: int = 1,
        continuous: bool = False,
        max_steps: int | None = None,
    ) -> None:
        env, params = Pong(frameskip, continuous), PongParams()
        super().__init__(
            "VecPong",
            num_envs,
            autoreset,
            seed,
            (env.observation_space(params), env.action_space(params)),
            frameskip=frameskip,
            continuous=continuous,
            max_steps=max_steps,
        )
