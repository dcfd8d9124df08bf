"""Level 4 of our Game Boy games: short runs of PPO on what RAM shows, on PyBoy and on our batch."""

from typing import Any

from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.transfer.plan import TransferPlan

TRAINING: dict[str, Any] = {
    "num_envs": 8,
    "num_steps": 64,
    "learning_rate": 2.5e-3,
    "gamma": 0.97,
    "normalise_observations": True,
    "hidden": (64, 64),
}
STRENGTHS = (("random", 0.0), ("trained", 1.0))


def _plan(game: str, margin: float, reason: str, steps: int, seeds: int, **others: Any) -> TransferPlan:
    return TransferPlan(
        training={**TRAINING, "total_steps": steps},
        strengths=STRENGTHS,
        seeds=seeds,
        looks=1,
        episodes=16,
        margins={name: margin for name, _ in STRENGTHS},
        margin_reason=reason,
        reference_env=SubjectSpec(
            "overclock.gameboy.pyboy.game:make_pyboy_env", (("game", game), ("observation", "ram"))
        ),
        **others,
    )


# A press of one frame moves as one of eight does, so returns cannot show that buttons are held too briefly.
# Mixed-up buttons are no bug to be planted here either: they cost some policies ten pellets and others none, which
# three and eight policies per side left undecided (two attempts). Lives that do not count are worth three points to
# nearly everybody. A third attempt counted on that, but the change did not reach the worker, which is refused now.
MAZE = _plan(
    "maze", 2.0, "two of the 63 pellets", 32_768, seeds=4,
    planted="lives-do-not-count", unseen="held-too-briefly", attempt=4,
)  # fmt: skip
PADDLE = _plan("paddle", 2.0, "two bricks", 16_384, seeds=3, planted="buttons-mixed-up")
