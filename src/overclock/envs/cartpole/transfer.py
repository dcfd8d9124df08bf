"""CartPole's plan for level 4: small networks that learn to balance in 32,768 steps, and margins counted in steps."""

from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.transfer.plan import TransferPlan

PLAN = TransferPlan(
    training={
        "total_steps": 32_768,
        "num_envs": 8,
        "num_steps": 64,
        "learning_rate": 5e-3,
        "gamma": 0.98,
        "gae_lambda": 0.9,
        "entropy_coefficient": 0.0,
        "hidden": (32, 32),
    },
    # After half of the steps several seeds already balance to the time limit; after a quarter most are half-way.
    strengths=(("random", 0.0), ("half-trained", 0.25), ("trained", 1.0)),
    looks=2,  # with the same luck on both sides ten policies nearly always decide; twenty take two minutes
    margins={"random": 3.0, "half-trained": 25.0, "trained": 25.0},
    margin_reason=(
        "a twentieth of the 500 steps that a perfect policy balances; 3 for random play, which lasts about 22 steps, "
        "so that 25 would excuse any difference"
    ),
    reference_env=SubjectSpec("gymnasium:make", (("id", "CartPole-v1"),)),
    planted="angle-6-degrees",
    unseen="polemass-plus",
)
