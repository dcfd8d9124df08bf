"""Counters in the state of a project's reference are tried where counters fail, as far as an episode can get."""

import sys
import textwrap

import numpy as np
import pytest

from overclock.recipe.agents.builtin_agent import contract_of_program, program_of
from overclock.recipe.contract.cases import RecordedCases
from overclock.recipe.contract.counters import MOST, counters_of
from overclock.recipe.references.reference import make_env
from overclock.recording.sites.install import hooked
from overclock.verify.reach.search import Attempt

GATE = """
    import gymnasium

    class Gate(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(2)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, seed=None, options=None):
            super().reset(seed=seed)
            self.passed, self.last, self.left = 0, 0, 90
            return 0, {}

        def step(self, action):
            self.passed += int(action)
            self.left -= 1
            self.last = 3 * int(action)
            return self.last // 3, float(self.passed % 7), self.left < 0, False, {}
"""


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """The steps that level 1 records of a gate's boundary states, by their field."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "gate.py").write_text(textwrap.dedent(GATE))

    def find(max_steps):
        sys.modules.pop("gate", None)
        make = {"entry_point": "gate:Gate"} | ({} if max_steps is None else {"max_steps": max_steps})
        with hooked():
            env, cases = make_env(**make), RecordedCases(contract_of_program(program_of("gate", make)))
            env.reset(seed=0)
            for action in (1, 0, 1):
                env.step(action)
            cases.step_from_boundary(env)
            return {name: {int(one.state[name]) for one in cases._counting(env)} for name in ("passed", "left", "last")}

    yield find
    sys.modules.pop("gate", None)


def test_a_counter_is_tried_at_small_numbers_and_beyond_the_width_of_narrow_types(tried):
    found = tried(None)
    assert {*range(64), 255, 256, 65_535, 65_536, 2**24 - 1, 2**24, MOST} <= found["passed"]
    assert max(found["left"]) <= 90  # it counts down
    assert found["last"] <= {0, 3}  # no counter


def test_a_counter_goes_as_far_as_the_time_limit(tried):
    found = tried(300)
    assert {255, 256, 257} <= found["passed"]
    assert max(found["passed"]) == 300


def test_what_changes_by_one_and_by_more_does_not_count():
    def step(before, after):
        return Attempt({name: np.asarray(one) for name, one in before.items()}, 0, True), {
            name: np.asarray(one) for name, one in after.items()
        }

    steps = [step({"a": 1, "b": 1, "c": 2.0, "d": 5}, {"a": 2, "b": 2, "c": 3.0, "d": 4})]
    steps.append(step({"a": 2, "b": 2, "c": 3.0, "d": 4}, {"a": 2, "b": 4, "c": 3.0, "d": 4}))
    assert counters_of(steps, ["a", "b", "c", "d"]) == {"a": 1, "d": -1}
    assert counters_of([], ["a"]) == {}
