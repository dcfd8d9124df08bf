"""A finite environment with chance: every number that could be drawn is covered, and nothing hides between two."""

import functools

import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

from overclock.recipe.built_in import program_of
from overclock.recipe.new import BUILT_IN, new_project
from overclock.recipe.project import AgentChoice
from overclock.recipe.project_twin import project_twin
from overclock.translate.jax_file import print_jax
from overclock.verify.exhaustive import check_exhaustively

WIND = '''
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
        wind = int(np.argmax(AHEAD > self.np_random.random()))
        self.at = min(max(self.at + (wind if action == 1 else wind - 1), 0), 5)
        return self.at, 1.0 if self.at == 5 else 0.0, self.at == 5, False, {}
'''
NARROW = ("AHEAD, float) > draw", "AHEAD, float) + jnp.array([1e-15, 0.0, 0.0]) > draw")
AT_THE_LIMIT = ("AHEAD, float) > draw", "AHEAD, float) >= draw")
FIRST = ("_18 < 0.5", "_18 <= 0.5")  # the reset's draw, named by its line
USED = ("AHEAD > self.np_random.random()", "AHEAD > self.np_random.random() * 1.0")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Gives a function that compares the environment, changed, with its translation, changed."""

    @functools.cache
    def project(reference):
        folder = tmp_path_factory.mktemp("wind")
        assert reference[0] in WIND
        (folder / "wind.py").write_text(WIND.replace(*reference))
        made = new_project(folder / "project", f"{folder / 'wind.py'}:Wind", "jax", AgentChoice(BUILT_IN), max_steps=20)
        reference = made.project.reference
        return made.project, print_jax(program_of("wind", reference.make(), reference.path))

    def compared(reference=("", ""), candidate=("", "")):
        known, source = project(reference)
        assert candidate[0] in source
        folder = tmp_path_factory.mktemp("candidate")
        (folder / "env.py").write_text(source.replace(*candidate))
        twin = project_twin(known, folder)
        assert twin.exhaustive is not None
        return check_exhaustively(twin, num_lanes=8, **twin.exhaustive)

    return compared


def test_every_number_that_could_be_drawn_is_covered(world):
    found = world()
    assert (found["verdict"], found["proof"], found["states"], found["reset_states"]) == ("pass", True, 5, 2)
    assert any("every number from 0 to 1" in note for note in found["notes"])


@pytest.mark.parametrize("mistake", [NARROW, AT_THE_LIMIT, FIRST])
def test_a_difference_for_one_number_in_a_million_billions_is_found(world, mistake):
    found = world(candidate=mistake)
    assert found["verdict"] == "fail"
    assert found["first_mismatch"]["draws"].popitem()[1] in (0.25, 0.5, 0.75)


def test_a_number_that_is_more_than_compared_leaves_a_walk_without_proof(world):
    found = world(reference=USED)
    assert (found["verdict"], found["proof"]) == ("pass", False)
    assert "no proof: the reference does more with the number it draws than comparing it" in found["notes"]
