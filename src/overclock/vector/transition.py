"""What one step is made of, for whoever stores or sums it up."""

from typing import Any

from jaxtyping import Array, Bool, Float

from overclock.env.environment import Obs
from overclock.env.struct import Struct


class Transition(Struct):
    """One step of a batch, lanes first: what was seen, what was done, what came of it."""

    obs: Obs
    action: Any
    reward: Float[Array, "*n_and_players"]
    terminated: Bool[Array, "*n"]
    truncated: Bool[Array, "*n"]
    info: dict[str, Any]


class LaneTransition(Transition):
    """One step of one lane; `next_obs` is what is seen after it, and after a restart."""

    next_obs: Obs

    def of_batch(self) -> Transition:
        """What `rollout` keeps of it."""
        return Transition(self.obs, self.action, self.reward, self.terminated, self.truncated, self.info)
