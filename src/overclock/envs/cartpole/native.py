"""CartPole in Rust (`overclock_native.VecCartPole`) with the spaces of its JAX twin; float32, CPU."""

from overclock.env.autoreset import Autoreset
from overclock.envs.cartpole.env import CartPole, CartPoleParams
from overclock.vector.native import NativeHostVector


class NativeCartPole(NativeHostVector):
    """A `HostVector` that follows the same episodes as the JAX batch for the same seeds and actions."""

    def __init__(
        self,
        num_envs: int,
        autoreset: Autoreset = "same_step",
        seed: int | None = None,
        sutton_barto_reward: bool = False,
        max_steps: int | None = 500,
    ) -> None:
        env, params = CartPole(sutton_barto_reward), CartPoleParams()
        super().__init__(
            "VecCartPole",
            num_envs,
            autoreset,
            seed,
            (env.observation_space(params), env.action_space(params)),
            sutton_barto_reward=sutton_barto_reward,
            max_steps=max_steps,
        )
