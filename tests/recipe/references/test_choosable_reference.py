"""A finite environment with chance: every number that could be drawn is covered, and nothing hides between two."""

import itertools

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

from overclock.recipe.agents.builtin_agent import program_of
from overclock.recipe.project.new import BUILT_IN, new_project
from overclock.recipe.project.project import AgentChoice
from overclock.recipe.project.twin import project_twin
from overclock.translate.jax.file import print_jax
from overclock.verify.exhaustive.walk import check_exhaustively
from overclock.verify.sides.process import CouldNotVerifyError

WIND = '''
import struct

import gymnasium
import numpy as np

AHEAD = np.array([0.25, 0.75, 1.0])


class Wind(gymnasium.Env):
    """A walk of six places; the wind decides how far a step goes."""

    def __init__(self):
        self.observation_space = gymnasium.spaces.Discrete(6)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.at = 0

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 1 if self.np_random.random() < 0.5 else 2
        return self.at, {}

    def step(self, action):
        gust = self.np_random.random()
        wind = int(np.argmax(AHEAD > gust))
        self.at = min(max(self.at + (wind if action == 1 else wind - 1), 0), 5)
        return self.at, 1.0 if self.at == 5 else 0.0, self.at == 5, False, {}
'''
NARROW = ("AHEAD = np.array([0.25,", "AHEAD = np.array([0.25000000000000006,")
AT_THE_LIMIT = ("AHEAD, float) > draw", "AHEAD, float) >= draw")
FIRST = ("_20 < 0.5", "_20 <= 0.5")  # the reset's draw, named by its line
# Changes of the reference: lines stay where they are, since draws are named by them.
USED = ("AHEAD > gust", "AHEAD > gust * 1.0")
TYPED = ("AHEAD > gust))", "AHEAD > gust)) if type(gust) is not float or int(gust * 1e6) != 123456 else 2")
BROKEN = ("AHEAD > gust", "AHEAD > struct.unpack('d', struct.pack('d', gust))[0]")
SEEDED = (
    "        return self.at, {}\n",
    "        self.at = 4 if seed and seed % 7 == 3 else self.at; return self.at, {}\n",
)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Gives a function that compares the environment, changed, with the translation of the true one, changed."""
    numbers = itertools.count()

    def compared(reference=("", ""), candidate=("", "")):
        folder, module = tmp_path_factory.mktemp("wind"), f"wind_{next(numbers)}"
        file = folder / f"{module}.py"
        file.write_text(WIND)
        project = new_project(folder / "project", f"{file}:Wind", "jax", AgentChoice(BUILT_IN), max_steps=20).project
        source = print_jax(program_of("wind", project.reference.make(), project.reference.path))
        assert reference[0] in WIND
        assert candidate[0] in source
        file.write_text(WIND.replace(*reference))
        (folder / "candidate").mkdir()
        (folder / "candidate" / "env.py").write_text(source.replace(*candidate))
        twin = project_twin(project, folder / "candidate")
        assert twin.exhaustive is not None
        return check_exhaustively(twin, num_lanes=8, **twin.exhaustive)

    return compared


def test_every_number_that_could_be_drawn_is_covered(world):
    found = world()
    assert (found.verdict, found.proof, found.states, found.reset_states) == ("pass", True, 5, 2)
    assert any("every number from 0 to 1" in note for note in found.notes)


@pytest.mark.parametrize("mistake", [NARROW, FIRST, pytest.param(AT_THE_LIMIT, marks=pytest.mark.long)])
def test_a_difference_for_one_number_in_a_million_billions_is_found(world, mistake):
    found = world(candidate=mistake)
    assert found.verdict == "fail"
    assert found.first_mismatch.draws.popitem()[1] in (0.25, 0.5, 0.75)


@pytest.mark.parametrize("used", [TYPED, *(pytest.param(one, marks=pytest.mark.long) for one in (USED, BROKEN))])
def test_a_number_that_is_more_than_compared_leaves_a_walk_without_proof(world, used):
    found = world(reference=used)
    assert (found.verdict, found.proof) == ("pass", False)
    assert "no proof: the reference does more with the number it draws than comparing it" in found.notes[-1]


@pytest.mark.long
def test_limits_that_are_computed_leave_a_walk_without_proof(world):
    found = world(candidate=("AHEAD, float) > draw", "AHEAD, float) * 1.0 > draw"))
    assert (found.verdict, found.proof) == ("pass", False)
    assert "no proof: the performance side does more" in found.notes[-1]


@pytest.mark.long
def test_first_states_that_only_seeds_lead_to_are_seen(world):
    found = world(reference=SEEDED)
    assert (found.verdict, found.first_mismatch.action) == ("fail", None)


def test_other_actions_are_no_equal_walk(world):
    with pytest.raises(CouldNotVerifyError, match="it takes 5 actions, the reference takes 2 actions"):
        world(candidate=("return Discrete(2)", "return Discrete(5)"))
