"""The built-in translator as an agent: its contract, its candidate, and what it says where it cannot."""

import sys
from pathlib import Path

import pytest
from recipe.projects import in_float64

from overclock.errors import UsageError
from overclock.recipe.agents import builtin_agent
from overclock.recipe.agents.base import Task
from overclock.recipe.agents.builtin_agent import BuiltInAgent, contract_of_program, program_of
from overclock.recipe.contract.file import load_contract, write_contract
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import new_project
from overclock.recipe.project.project import AgentChoice, Changes, Project
from overclock.recording.errors import UnsupportedError
from overclock.translate.jax.file import print_jax

REFUSED = """
import gymnasium
import numpy as np


class Pond(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(8)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(8))
        return self.at, {}

    def step(self, action):
        self.at = len(str(self.at * 7 + action)) % 8
        return self.at, 1.0, False, False, {}
"""


def task(folder: Path, purpose: str) -> Task:
    return Task("001", purpose, "prompt", folder, 60.0)


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return new_project(tmp_path / "fl", "FrozenLake-v1", "jax", AgentChoice("builtin")).project


def test_a_contract_names_lists_flags_and_sites(tmp_path: Path) -> None:
    contract = contract_of_program(program_of("blackjack", {"id": "Blackjack-v1"}))
    assert [field.name for field in contract.state][:4] == ["player_length", "player", "dealer_length", "dealer"]
    assert contract.state[-1].name == "overflow"
    site = contract.step_draws[0]
    assert site.form == "index"
    assert (site.site or "").startswith("gymnasium/envs/toy_text/blackjack.py:19:")
    write_contract(contract, tmp_path)
    assert load_contract(tmp_path / "contract.toml").shapes == contract.shapes


def test_whole_numbers_are_compared_exactly_and_floats_with_a_reason() -> None:
    exact = contract_of_program(program_of("lake", {"id": "FrozenLake-v1"})).precisions["float64"]
    assert not exact.per_step
    close = contract_of_program(program_of("cart", {"id": "CartPole-v1"})).precisions["float64"]
    state = close.per_step["state"]
    assert 0 < state.largest_absolute < 1e-14
    assert 0 < state.relative < 1e-13
    assert close.per_step["reward"].whole  # it is 1 in every step
    assert close.reason


def test_rules_are_asked_at_the_goal_that_random_play_never_sees() -> None:
    car = contract_of_program(program_of("car", {"id": "MountainCar-v0"})).state
    assert [field.name for field in car] == ["state_0", "state_1"]
    assert all(
        field.high is not None and field.high >= 0.6 for field in car
    )  # the observation's bound; the goal is 0.5


def test_it_writes_a_candidate_and_leaves_repairs_to_others(made: Project, tmp_path: Path) -> None:
    folder = tmp_path / "candidate"
    folder.mkdir()
    agent = BuiltInAgent(made)
    assert agent.work(task(folder, "translate"), None).ended == "finished"
    assert "def make()" in (folder / "env.py").read_text()
    assert agent.work(task(folder, "repair"), None).ended == "refused"


def test_a_reference_that_is_a_file_is_found_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", list(sys.path))
    source = tmp_path / "rules" / "pond_of_a_file.py"
    source.parent.mkdir()
    source.write_text(REFUSED.replace("len(str(self.at * 7 + action))", "(self.at + action)"))
    made = new_project(tmp_path / "pond", str(source), "jax", AgentChoice("builtin"), max_steps=9)
    assert "at" in [field.name for field in made.project.contract.state]


def test_what_it_cannot_translate_is_said_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pond_refused.py").write_text(REFUSED)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnsupportedError) as refused:
        program_of("pond", {"entry_point": "pond_refused:Pond", "max_steps": 20})
    assert refused.value.place is not None
    assert refused.value.place.line == 16
    assert "text" in refused.value.reason


@pytest.mark.long
def test_a_bare_id_becomes_a_verified_environment_without_a_model(made: Project) -> None:
    finished = translate(made, "run", RunOptions(steps=OptionalSteps(optimise=False)), Changes(levels=(1, 2, 3)))
    assert finished.outcome == "done", finished.sentence


def test_what_it_has_translated_and_cannot_repair_is_said_with_what_the_judge_found(
    made: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = print_jax(program_of("lake", made.reference.make()))
    monkeypatch.setattr(builtin_agent, "call_apart", lambda *call, **how: f"import os\n{text}")
    finished = translate(made, "run", RunOptions(), Changes(levels=(1,)))
    assert finished.outcome == "stuck"
    found, left = finished.sentence.split(" The built-in translator has translated; it cannot repair. ")
    assert found.startswith("hygiene: ")
    assert "os" in found
    assert left.endswith("--agent NAME` goes on with another agent.")


SEVERAL = """
import gymnasium
import numpy as np


class Locks(gymnasium.Env):
    observation_space = gymnasium.spaces.MultiDiscrete([4, 3])
    action_space = gymnasium.spaces.MultiDiscrete([4, 3])

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.at = np.zeros(2, np.int64)
        return self.at.copy(), {}

    def step(self, action):
        self.at = (self.at + action) % np.array([4, 3])
        return self.at.copy(), 1.0, bool(self.at[0] == 3 and self.at[1] == 2), False, {}
"""


@pytest.mark.long
def test_several_choices_at_once_are_actions_and_observations_as_our_spaces_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "locks.py").write_text(SEVERAL)
    made = new_project(tmp_path / "made", str(tmp_path / "locks.py"), "jax", AgentChoice("builtin"), max_steps=9)
    finished = translate(made.project, "run", RunOptions(steps=OptionalSteps(optimise=False)), Changes(levels=(1,)))
    assert finished.outcome == "done", finished.sentence


SHOWN = SEVERAL.replace("return self.at.copy(), 1.0", "return np.array([action[0], self.at[1]]), 1.0")


@pytest.mark.parametrize("levels", [(1,), pytest.param((1, 2, 3), marks=pytest.mark.long)])
def test_an_observation_that_no_state_shows_is_held_as_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, levels: tuple[int, ...]
) -> None:
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "locks_shown.py").write_text(SHOWN)
    made = new_project(tmp_path / "made", str(tmp_path / "locks_shown.py"), "jax", AgentChoice("builtin"), max_steps=9)
    assert "observation" in [field.name for field in made.project.contract.state]
    project = in_float64(made.project)
    finished = translate(project, "run", RunOptions(steps=OptionalSteps(optimise=False)), Changes(levels=levels))
    assert finished.outcome == "done", finished.sentence


def test_where_it_cannot_be_held_it_is_refused_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locks_held.py").write_text(
        SHOWN.replace("        self.at = np.zeros", "        self._observation = 1\n        self.at = np.zeros")
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnsupportedError, match="no function of its state") as refused:
        program_of("locks", {"entry_point": "locks_held:Locks", "max_steps": 9})
    assert refused.value.place is not None
    assert refused.value.place.line == 16


def test_a_reference_that_cannot_be_played_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locks_broken.py").write_text(SEVERAL.replace("import numpy as np", "from nowhere_at_all import np"))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=r"cannot be played \(ModuleNotFoundError"):
        program_of("locks", {"entry_point": "locks_broken:Locks", "max_steps": 9})
