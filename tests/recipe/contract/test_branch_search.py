"""The search for states that play rarely comes to: it finds rare branches, and survives references that dislike it."""

import sys
import textwrap

import gymnasium
import pytest

from overclock.recipe.agents.builtin_agent import contract_of_program, program_of
from overclock.recipe.contract.cases import RecordedCases
from overclock.recipe.references.reference import make_env
from overclock.recording.sites.install import hooked
from overclock.verify.reach import search as reach_search
from overclock.verify.reach.rule_files import rule_files
from overclock.verify.rollout.branches import BranchTracer

VAULT = """
    import gymnasium
    import numpy as np

    class Lock:
        def __init__(self):
            self.digit = 0

        def turn(self, by):
            self.digit = (self.digit + by) % 8

    class Vault(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(8)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, seed=None, options=None):
            super().reset(seed=seed)
            self.lock, self.coins, self.left = Lock(), np.ones((3, 3)), 400
            return self.lock.digit, {}

        def step(self, action):
            reward = 0.0
            if not self.coins.any():  # play never comes here: coins only grow
                reward = 1.0
            self.lock.turn(1 + int(action))
            self.coins[self.lock.digit % 3, int(action)] += 1
            self.left -= 1
            if self.left < 0:
                reward = 2.0
            HOOK
            return self.lock.digit, reward, self.left < 0, False, {}
"""


@pytest.fixture
def searched(tmp_path, monkeypatch):
    """Plays a vault for a while, then searches; returns the texts of what was reached, and the search."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def search(hook="pass"):
        sys.modules.pop("vault", None)
        (tmp_path / "vault.py").write_text(textwrap.dedent(VAULT).replace("HOOK", hook))
        make = {"entry_point": "vault:Vault", "max_steps": 500}
        contract = contract_of_program(program_of("vault", make))
        with hooked():
            env = make_env(**make)
            tracer, cases = BranchTracer(rule_files(env)), RecordedCases(contract)
            env.reset(seed=0)
            for _ in range(3):
                env.step(0)
            cases.step_from_boundary(env, tracer)
        return tracer.report()["reached"], cases._search

    yield search
    sys.modules.pop("vault", None)


def test_branches_that_play_does_not_come_to_are_reached(searched):
    reached, _ = searched()
    assert any("`self.coins.any()` is false" in one for one in reached), "an array was emptied"
    assert any("`self.left < 0` is true" in one for one in reached), "a number was moved"


def test_a_reference_that_raises_in_a_strange_state_loses_nothing(searched):
    reached, _ = searched("assert self.coins.sum() > 1")
    assert any("`self.left < 0` is true" in one for one in reached)


def test_a_reference_that_does_not_come_back_ends_the_search_and_nothing_else(searched, monkeypatch):
    monkeypatch.setattr(reach_search, "STEP_SECONDS", 0.05)
    _, search = searched("while self.coins.sum() <= 1:\n                self.lock.turn(0)")
    assert search._hangs == reach_search.MOST_HANGS


def test_rules_lie_in_the_files_of_classes_objects_and_helpers():
    known = {name.rpartition("/")[2] for name in rule_files(gymnasium.make("Blackjack-v1"))}
    assert known == {"blackjack.py"}
    assert {name.rpartition("/")[2] for name in rule_files(gymnasium.make("CliffWalking-v1"))} >= {"cliffwalking.py"}
