"""A trained policy as a source of actions: it goes where play that succeeds goes, which no random source does.

The policies are trained on the performance side as level 4 trains them; who is right is not in question here, both
sides get the same actions.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from overclock.env.registry import load
from overclock.verify.contract import Twin
from overclock.verify.rollout.actions import ActionSource, SourceMaker
from overclock.verify.sides.crew import Crew
from overclock.verify.sides.subject import Observed

if TYPE_CHECKING:
    from overclock.progress import Progress


def trained(twin: Twin, seed: int, timeout: float, progress: "Progress", episodes: int) -> SourceMaker:
    """Train as the twin's transfer plan says; lanes are shared out among the policies of its seeds.

    There is no use in more policies than there are `episodes` to play.
    """
    from overclock.verify.transfer.policies import Players, train_sides  # networks take long to import

    assert twin.transfer is not None
    plan = load(twin.transfer)
    strength = plan.strengths[-1][0]
    seeds = range(seed, seed + min(plan.seeds, episodes))
    learnt = train_sides(twin, plan, {"performance": [strength]}, seeds, Crew(timeout), progress)["performance"]
    players = Players(learnt.agent, learnt.policies)

    def make(description: dict[str, Any]) -> ActionSource:
        dtype = np.int32 if description["kind"] == "discrete" else description["low"].dtype
        memory: Any = None

        def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
            nonlocal memory
            lanes = np.arange(len(observed.state["steps"]))
            memory = players.first_memory(len(lanes)) if memory is None else memory
            memory, actions = players.act(
                lanes % len(players.names), memory, observed.outputs["obs"], observed.state["steps"],
                generator.integers(0, 1 << 31, len(lanes)), observed.outputs.get("action_mask"),
            )  # fmt: skip
            return actions.astype(dtype)

        return act

    return make
