"""CartPole's options against Gymnasium's."""

import dataclasses

import pytest

pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")

from overclock.envs.cartpole.render import balance
from overclock.envs.cartpole.twin import twin
from overclock.verify.rollout.actions import controlled, uniform
from overclock.verify.rollout.lockstep import compare_rollouts


@pytest.mark.long
@pytest.mark.parametrize(("actions", "source"), [("uniform", uniform), ("controlled", controlled(balance))])
def test_the_sutton_barto_reward_equals_gymnasiums(actions, source):
    plain = twin()
    both = dataclasses.replace(
        plain,
        reference=dataclasses.replace(plain.reference, options=(("sutton_barto_reward", True),)),
        performance=dataclasses.replace(
            plain.performance, options=(*plain.performance.options, ("static", {"sutton_barto_reward": True}))
        ),
    )
    result = compare_rollouts(both, 16, "per_step", "float64", actions, source, num_lanes=8)
    assert result.passed, result.first_divergence
    one_sided = dataclasses.replace(both, performance=plain.performance)
    differs = compare_rollouts(one_sided, 2, "per_step", "float64", actions, source, num_lanes=2)
    assert differs.fields["reward"].first_divergence is not None
