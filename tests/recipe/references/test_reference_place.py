"""A project's reference is imported from its own folder, whatever lies in the folder that a command is given in."""

import dataclasses

import pytest

from overclock.recipe.contract.file import Closeness, ContractFile, StateField, format_contract
from overclock.recipe.project.project import Judging, ModulePlan, Project, Reference
from overclock.recipe.project.twin import also_spec, project_twin
from overclock.recipe.survey.static.source import resolve
from overclock.verify.sides.process import ProcessSubject

POND = """
import gymnasium

class Pond(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete({actions})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0
        return self.x, {{}}

    def step(self, action):
        return self.x, 0.0, False, False, {{}}
"""
OTHER = """
class Subject:
    def __init__(self, num_envs): ...

    def describe(self):
        return {"who": "fast"}
"""


@pytest.fixture
def project(tmp_path):
    pytest.importorskip("gymnasium", reason="the reference is a Gymnasium environment")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "pond.py").write_text(POND.format(actions=2))
    made = Project(
        folder=tmp_path / "project",
        name="pond",
        reference=Reference("rules/pond.py:Pond", "class", "pond:Pond", path=str(tmp_path / "rules")),
        target="jax",
        modules=(ModulePlan("pond", ("pond.py",)),),
        contract=ContractFile((StateField("x", "x", "int64"),), precisions={"float64": Closeness()}),
    )
    made.scenarios.mkdir(parents=True)
    made.contract_path.write_text(format_contract(made.contract))
    return made


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder that a command is given in, with a namesake of the reference."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "pond.py").write_text(POND.format(actions=5))
    monkeypatch.chdir(here)
    return here


def test_a_namesake_in_the_current_folder_is_not_the_reference(project, elsewhere):
    with ProcessSubject(project_twin(project, elsewhere).reference, 1, "the reference") as subject:
        assert subject.describe()["n"] == 2


def test_an_existing_fast_implementation_may_lie_in_the_project(project, elsewhere):
    (project.folder / "fast.py").write_text(OTHER)
    named = dataclasses.replace(project, judging=Judging(also="fast:Subject"))
    with ProcessSubject(also_spec(named), 1, "the fast one") as subject:
        assert subject.describe() == {"who": "fast"}


def test_a_class_of_the_current_folder_is_found_there_by_every_process(project, elsewhere):
    assert resolve("pond:Pond").folder == elsewhere
    assert resolve("gymnasium.envs.classic_control.cartpole:CartPoleEnv").folder is None
