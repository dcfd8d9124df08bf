"""What only steps beyond an end take, by what is no part of the state, is not asked for; anything else is."""

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from overclock.verify.reach.late import decided_by_others, late_outcomes
from overclock.verify.sides.gymnasium_reference import GymnasiumSubject, no_draws


class Walk(gymnasium.Env):
    """Ends at 5; counts the steps since, which its state does not have, and goes on walking."""

    observation_space = gymnasium.spaces.Discrete(9)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.since = 0, None
        return self.x, {}

    def step(self, action):
        self.x += int(action)
        if self.x > 6:
            self.x = 7
        if self.since is not None:
            return self.x, 0.0, True, False, {}
        if self.x >= 5:
            self.since = 0
        return self.x, 1.0, self.x >= 5, False, {}


def read(env):
    return {"x": np.array(env.unwrapped.x), "steps": np.array(0)}


@pytest.mark.parametrize(("remembered", "found"), [({"x"}, ["self.since"]), ({"x", "since"}, [])])
def test_only_what_the_state_does_not_have_is_late(remembered, found):
    spec = EnvSpec("tests/walk-v0", Walk, disable_env_checker=True, order_enforce=False)
    subject = GymnasiumSubject(spec, 4, read, lambda env, state: None, no_draws, no_draws, remembered=remembered)
    late = late_outcomes(subject, remembered, 0)
    assert sorted({one.condition for one in late if one.outcome == "is not None"}) == found
    assert not [one for one in late if "self.x" in one.condition]


@pytest.mark.parametrize(
    ("condition", "late"),
    [("self.since", True), ("self.since > 3", True), ("self.x > 6", False), ("self.full(self.since)", False),
     ("row[self.since]", False), ("self.since > limit", False), ("limit", False), ("not (", False)],
)  # fmt: skip
def test_a_condition_that_speaks_of_anything_else_is_asked_for(condition, late):
    assert decided_by_others(condition, {"x"}) is late
