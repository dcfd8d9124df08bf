"""Hyper-parameters that were tuned for an environment; every other environment gets the paper's defaults."""

import dataclasses
from typing import TYPE_CHECKING, Any

from overclock.env import registry

if TYPE_CHECKING:
    from overclock.train.ppo import PPOConfig

# Per id, what differs from PPOConfig's defaults. docs/training.md says how each was found.
TUNED: dict[str, dict[str, Any]] = {
    "cartpole-v1": {
        "total_steps": 131_072,
        "num_envs": 32,
        "num_steps": 32,
        "learning_rate": 2.5e-3,
        "gamma": 0.98,
        "gae_lambda": 0.9,
        "entropy_coefficient": 0.0,
    },
    "pong-v1": {
        "total_steps": 4_194_304,
        "num_envs": 256,
        "num_steps": 64,
        "learning_rate": 1e-3,
        "entropy_coefficient": 0.05,
        "normalise_observations": True,
    },
    **{
        f"gameboy-{game}-v1": {
            "total_steps": steps,
            "num_envs": 32,
            "num_steps": 64,
            "learning_rate": 2.5e-3,
            "gamma": 0.97,
            "normalise_observations": True,
        }
        for game, steps in (("paddle", 131_072), ("maze", 65_536))
    },
    "halfcheetah-v5": {
        "total_steps": 50_331_648,
        "num_envs": 2048,
        "num_steps": 64,
        "num_minibatches": 16,
        "learning_rate": 1e-3,
        "entropy_coefficient": 0.0,
        "normalise_observations": True,
        "normalise_rewards": True,
        "hidden": (256, 256),
    },
    "walker2d-v5": {
        "total_steps": 524_288,
        "num_envs": 16,
        "num_epochs": 10,
        "num_minibatches": 16,
        "learning_rate": 1e-3,
        "entropy_coefficient": 0.0,
        "normalise_observations": True,
        "normalise_rewards": True,
        "log_std": -0.5,
    },
    "hopper-v5": {
        "total_steps": 524_288,
        "num_envs": 16,
        "num_epochs": 10,
        "num_minibatches": 32,
        "learning_rate": 3e-4,
        "entropy_coefficient": 0.0,
        "normalise_observations": True,
        "normalise_rewards": True,
    },
}


def tuned(env_id: str, **changes: Any) -> "PPOConfig":
    """The configuration for an environment, with some fields changed; a bare name means its newest version."""
    from overclock.train.ppo import PPOConfig

    return dataclasses.replace(PPOConfig(**TUNED.get(registry.spec(env_id).id, {})), **changes)
