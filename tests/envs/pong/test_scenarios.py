"""Every recorded scenario, played by Pong alone: what the reference did in it is in its file."""

import numpy as np
import pytest

from overclock.envs.pong import twin
from overclock.verify.interaction.scenario import load_scenarios
from overclock.verify.sides.jax_subject import JaxSubject

VARIANTS = [twin.twin, twin.frameskip_8, twin.continuous, twin.continuous_8]


def played(build):
    """All scenarios of a variant as one batch: (scenario, lane, what was shown after every step)."""
    side = build()
    scenarios = load_scenarios(str(side.scenarios))
    subject = JaxSubject(len(scenarios), **dict(side.performance.options))
    serves = [scenario.setup.draws.get("serve", 0) for scenario in scenarios]
    first = subject.reset(np.ones(len(scenarios), np.bool_), np.zeros(len(scenarios)), {"serve": np.array(serves)})
    begun = {name: values.copy() for name, values in first.state.items()}
    for lane, scenario in enumerate(scenarios):
        for name, value in scenario.setup.state.items():
            begun[name][lane] = value
    subject.set_state(begun)
    shown = []
    for number in range(max(len(scenario.steps) for scenario in scenarios)):
        steps = [scenario.steps[min(number, len(scenario.steps) - 1)] for scenario in scenarios]
        kind = np.float32 if np.ndim(steps[0].action) else np.int32
        serves = np.array([step.draws["serve"] for step in steps])
        shown.append(subject.step(np.array([step.action for step in steps], kind), {"serve": serves}))
    return scenarios, shown


@pytest.mark.parametrize("build", VARIANTS, ids=lambda build: build.__name__)
def test_scenarios_go_as_the_reference_let_them_go(build):
    scenarios, shown = played(build)
    for lane, scenario in enumerate(scenarios):
        for number, step in enumerate(scenario.steps):
            after = shown[number]
            found = {**after.outputs, **{f"state.{name}": values for name, values in after.state.items()}}
            for name, expected in step.expect.items():
                assert found[name][lane].tolist() == expected, (scenario.name, number + 1, name)


def test_every_rule_that_play_seldom_meets_has_a_scenario():
    names = {scenario.name for build in VARIANTS for scenario in load_scenarios(str(build().scenarios))}
    assert {"player-touches-from-above", "almost-level", "hit-and-point-in-one-step", "game-won"} < names
