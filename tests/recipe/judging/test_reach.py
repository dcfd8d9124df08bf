"""A verdict reaches as far as what was reached: rare rules, steps beyond the end, branches that nothing comes to."""

import dataclasses

import pytest
from recipe.projects import playable_project

from overclock.recipe.contract.file import StateField, load_contract, write_contract
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.judge import Judge
from overclock.recipe.project.project import Judging, load_project
from overclock.verify.reach.excuse import Excuse

SHELF = """
import gymnasium


class Pond(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(1000)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.game_over = 0, False
        return self.x, {}

    def step(self, action):
        if self.game_over:
            return self.x, 0.0, True, False, {}
        self.x += int(action)
        reward = self.bonus()
        if self.x % 8 == 7:
            self.game_over = True
        return self.x, reward, self.game_over, False, {}

    def bonus(self):
        if self.x == 40:
            return 5.0
        if SECRET:
            return 9.0
        return 1.0
"""
SECRET = "self.x * 2654435761 % 4294967296 == 12345"  # no play and no search comes to it
RIGHT = """
import dataclasses
from typing import Any

import jax.numpy as jnp

from overclock.env import Discrete, Environment, Params, Struct


class PondParams(Params):
    max_steps: int | None = 20


class PondState(Struct):
    x: Any
    game_over: Any


@dataclasses.dataclass(frozen=True)
class Pond(Environment[PondState, PondParams]):
    def default_params(self):
        return PondParams()

    def observation_space(self, params):
        return Discrete(1000)

    def action_space(self, params):
        return Discrete(2)

    def draw_reset(self, rng, params):
        return ()

    def draw_step(self, rng, state, params):
        return ()

    def init(self, draw, params):
        return PondState(jnp.asarray(0, int), jnp.asarray(False))

    def transition(self, state, action, draw, params):
        x = state.x + jnp.where(state.game_over, 0, action)
        bonus = jnp.where(x == 40, 5.0, 1.0)
        reward = jnp.where(state.game_over, 0.0, bonus)
        over = state.game_over | (x % 8 == 7)
        return PondState(x, over), reward.astype(jnp.float32), over

    def observe(self, state, params):
        return state.x


def make():
    env = Pond()
    return env, env.default_params()
"""
NO_BONUS = RIGHT.replace("jnp.where(x == 40, 5.0, 1.0)", "jnp.ones(())")
FORGETS = RIGHT.replace("x = state.x + jnp.where(state.game_over, 0, action)", "x = state.x + action")


@pytest.fixture
def judged(tmp_path):
    """The verdict of level 3 on a candidate, by a contract with these excuses."""

    def judge(text, secret="False", excuses=()):
        project = playable_project(tmp_path / "pond", levels=(3,))
        (project.folder / "pond.py").write_text(SHELF.replace("SECRET", secret))
        fields = (StateField("x", "x", "int64"), StateField("game_over", "game_over", "bool"))
        write_contract(dataclasses.replace(project.contract, state=fields, unreached=excuses), project.folder)
        project = dataclasses.replace(load_project(project.folder), judging=Judging(levels=(3,), episodes=10))
        assert load_contract(project.contract_path).unreached == excuses
        files = {"env.py": text.encode()}
        judge = Judge(project, project.scenarios, tmp_path / "repro", "none")
        return judge.judge(Frozen(tree_hash(files), files), 3, seed=0)

    return judge


def test_a_right_candidate_passes_where_everything_is_reached(judged):
    found = judged(RIGHT)
    assert found.verdict == "pass", found.failure
    assert found.report.reached.missing == []
    assert "beyond the end, uniform" in [one.actions for one in found.report.comparisons]


def test_a_rare_rule_that_play_does_not_come_to_is_compared(judged):
    found = judged(NO_BONUS)
    assert (found.verdict, found.failure.field) == ("fail", "reward")


def test_a_candidate_that_forgets_that_the_game_is_over_fails(judged):
    """No episode has such steps, and the prompt promises that they are compared."""
    found = judged(FORGETS)
    assert found.verdict == "fail"
    assert "beyond the end, uniform" in [one.actions for one in found.report.comparisons if not one.passed]


def test_a_branch_that_nothing_reaches_leaves_the_verdict_open_unless_it_is_excused(judged):
    found = judged(RIGHT, SECRET)
    assert found.verdict == "inconclusive"
    assert f"No comparison took pond.py:26 `{SECRET}` is true (in Pond.bonus)." in found.failure.sentences


def test_an_excuse_with_a_reason_lets_it_pass(judged):
    excuse = Excuse(
        file="pond.py", function="Pond.bonus", condition=SECRET, outcome="is true",
        reason="one number of 2^32 has this hash, and no episode is so long",
    )  # fmt: skip
    found = judged(RIGHT, SECRET, (excuse,))
    assert found.verdict == "pass", found.failure
    assert [one.reason for one in found.report.reached.excused] == [excuse.reason]
