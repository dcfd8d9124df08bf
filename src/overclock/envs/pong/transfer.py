"""Pong's plans for level 4: short runs of PPO, and a margin of one point.

With eight frames per step they are enough to win most games. A game of single frames lasts 2,000 steps and more;
its plan has fewer policies and games, and they remain beginners.
"""

import dataclasses
from typing import Any

from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.transfer.plan import TransferPlan

TRAINING = {
    "num_envs": 16,
    "num_steps": 128,
    "learning_rate": 3e-3,
    "gamma": 0.97,
    "gae_lambda": 0.9,
    "entropy_coefficient": 0.005,
    "hidden": (64, 64),
}
STRENGTHS = (("random", 0.0), ("trained", 1.0))
POINT = 1.0


def _plan(frameskip: int, continuous: bool, total_steps: int, **sizes: Any) -> TransferPlan:
    return TransferPlan(
        training={**TRAINING, "total_steps": total_steps},
        strengths=STRENGTHS,
        margins={name: POINT for name, _ in STRENGTHS},
        margin_reason="one point of a game to 21",
        reference_env=SubjectSpec(
            "overclock.envs.pong.gymnasium_env:PufferPong", (("frameskip", frameskip), ("continuous", continuous))
        ),
        planted="opponent-too-slow",
        unseen="fresh-observation",
        **sizes,
    )


FRAMESKIP_1 = _plan(1, False, 65_536, seeds=4, looks=1, episodes=16)
FRAMESKIP_8 = _plan(8, False, 131_072, seeds=10, looks=2, episodes=50)
CONTINUOUS = _plan(1, True, 65_536, seeds=4, looks=1, episodes=16)
CONTINUOUS_8 = _plan(8, True, 131_072, seeds=10, looks=2, episodes=50)


def _with_rust(plan: TransferPlan, planted: str) -> TransferPlan:
    """The same with bugs of the Rust twins."""
    return dataclasses.replace(plan, planted=planted, unseen="serves-always-down")


RUST = _with_rust(FRAMESKIP_1, "ends-after-500-steps")
RUST_8 = _with_rust(FRAMESKIP_8, "up-is-down")
RUST_CONTINUOUS = _with_rust(CONTINUOUS, "ends-after-500-steps")
RUST_CONTINUOUS_8 = _with_rust(CONTINUOUS_8, "up-is-down")
# JAX plays the reference's part here, where no Gymnasium environment of it is at hand to be trained on one by one.
JAX_RUST = dataclasses.replace(RUST, reference_env=None)
JAX_RUST_8 = dataclasses.replace(RUST_8, reference_env=None)
