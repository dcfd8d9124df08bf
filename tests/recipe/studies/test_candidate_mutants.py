"""Mistakes planted in translations: who is asked, what is believed, and which of them are shown to be none."""

import textwrap

import pytest

from overclock.recipe.studies.candidate_mutants import first_level, summary
from overclock.recipe.studies.same_program import Programs
from overclock.verify.mutation.levels import SURVIVED, Outcome
from overclock.verify.mutation.mutants import Mutant

KILLED = Outcome(True, "difference", "obs")
RAISED = Outcome(True, "crash", "TypeError: no")
DIED = Outcome(True, "crash", "could not verify: the worker of mutants: its process ended during `module`.")
ENV = """
import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env import Discrete, Environment, Params, Struct

TABLE = np.array([1, 2, 3])


class State(Struct):
    x: jax.Array


@dataclasses.dataclass(frozen=True)
class Walk(Environment[State, Params]):
    def default_params(self):
        return Params(max_steps=9)

    def observation_space(self, params):
        return Discrete(50)

    def action_space(self, params):
        return Discrete(3)

    def init(self, draw, params):
        return State(x=jnp.asarray(0, int))

    def transition(self, state, action, draw, params):
        unused = state.x * 7
        far = state.x > 40
        near = (state.x < 4).astype(bool)
        x = jax.lax.while_loop(lambda x: x % 2 != 0, lambda x: x + 1, state.x + jnp.asarray(TABLE, int)[action])
        return State(x=x), (far.astype(float) - near.astype(float)).astype(jnp.float32), far

    def observe(self, state, params):
        return state.x


def make():
    return Walk(), Params(max_steps=9)
"""


def mutant(name):
    return Mutant(name, "constant", "env", 3, "Walk.init", "x = 0", "x = 1", "")


class Examining:
    """Answers by level, in turn."""

    def __init__(self, answers):
        self.answers, self.asked = {level: list(outcomes) for level, outcomes in answers.items()}, []

    def examine(self, one, levels):
        (level,) = levels
        self.asked.append(level)
        return {level: self.answers[level].pop(0)} if level in self.answers else {}


@pytest.mark.parametrize(
    ("answers", "found", "asked"),
    [
        ({1: [KILLED], 3: [KILLED]}, (1, KILLED), [1]),
        ({1: [SURVIVED], 3: [SURVIVED], 2: [RAISED]}, (2, RAISED), [1, 3, 2]),
        ({1: [SURVIVED], 3: [SURVIVED], 2: [SURVIVED]}, None, [1, 3, 2]),
        ({1: [SURVIVED]}, None, [1, 3, 2]),  # levels that have nothing to ask
        ({1: [DIED, SURVIVED], 3: [KILLED]}, (3, KILLED), [1, 1, 3]),  # in a new process nothing happens
        ({1: [DIED, DIED]}, (1, DIED), [1, 1]),
    ],
)
def test_levels_are_asked_until_one_finds_it_and_a_dead_process_twice(answers, found, asked):
    examiner = Examining(answers)
    assert first_level(examiner, mutant("a"), (1, 3, 2)) == found
    assert examiner.asked == asked


def test_only_what_is_shown_to_be_the_same_leaves_the_count():
    found = {"a": (1, KILLED), "b": (3, RAISED), "c": None, "d": None}
    told = summary([mutant(name) for name in found], found, {"d"})
    assert (told["planted"], told["total"], told["killed"], told["score"]) == (4, 3, 2, 0.6667)
    assert told["by_level"] == {"1": 1, "2": 0, "3": 1}
    assert told["crashes"] == 1
    assert [one["id"] for one in told["survivors"]] == ["c"]
    assert [one["id"] for one in told["same_program"]] == ["d"]
    assert summary([], {}, set())["score"] is None


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walk")
    (folder / "env.py").write_text(ENV)
    return Programs(1, str(folder))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("unused = state.x * 7", "unused = state.x * 8"),  # nothing needs it
        ("(state.x < 4).astype(bool)", "state.x < 4"),  # was a bool already
        ("(far.astype(float) - near", "(far - near"),  # the same conversion, later
        ("np.array([1, 2, 3])", "np.array([1, 1 + 1, 3])"),
    ],
)
def test_a_change_that_changes_nothing_is_the_same_program(programs, old, new):
    assert ENV.count(old) == 1
    assert programs.programs(ENV, ENV.replace(old, new)) == programs.programs(ENV, ENV)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x > 40", "x >= 40"),
        ("x > 40", "x > 41"),
        ("[1, 2, 3]", "[1, 2, 4]"),  # a constant
        ("x % 2 != 0", "x % 3 != 0"),  # inside of a loop
        ("far.astype(float) - near.astype(float)", "near.astype(float) - far.astype(float)"),
        ("Discrete(50)", "Discrete(51)"),
        ("Params(max_steps=9)\n\n    def observation", "Params(max_steps=8)\n\n    def observation"),
        ("Walk(), Params(max_steps=9)", "Walk(), Params(max_steps=8)"),
        ("return state.x\n", "return state.x.astype(jnp.int16)\n"),
        ("x=jnp.asarray(0, int)", "x=jnp.zeros(1, int)"),  # raises, later on
    ],
)
def test_any_other_change_is_not(programs, old, new):
    assert ENV.count(old) == 1
    assert programs.programs(ENV, ENV.replace(old, new)) != programs.programs(ENV, ENV)


POND = """
import gymnasium


class PlantedPond(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(8)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        if action == 1:
            self.at += 1
        return self.at, 1.0, self.at >= 3, False, {}
"""


@pytest.mark.long
def test_mistakes_in_a_real_translation_are_found(tmp_path):
    pytest.importorskip("gymnasium", reason="the built-in translator reads Gymnasium environments")
    from overclock.recipe.loop.context import RunOptions
    from overclock.recipe.studies.known_environments import Known, translate_known

    source = tmp_path / "planted_pond.py"
    source.write_text(textwrap.dedent(POND))
    one = Known("pond", f"{source}:PlantedPond", max_steps=20)
    row = translate_known(one, tmp_path / "known", RunOptions(), measure=False, mutants=8)
    assert row["outcome"] == "done"
    assert 0 < row["compile_s"] < 60
    planted = row["mutation"]
    assert planted["planted"] == 8
    assert planted["killed"] + len(planted["survivors"]) == planted["total"] == 8 - len(planted["same_program"])
    left = {one["operator"] for one in (*planted["survivors"], *planted["same_program"])}
    assert left == {"dtype"}  # levels compare values
