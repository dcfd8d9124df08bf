"""Level 3: whole episodes on both sides with the same actions and the same randomness, every field at every step."""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.verify.rollout.lockstep import compare_rollouts

__all__ = ["compare_rollouts"]

__getattr__, __dir__ = lazy_names(__name__, {"compare_rollouts": "overclock.verify.rollout.lockstep"})
