"""Projects on disk that nobody needs to survey a reference for, and smaller forms of those that were surveyed."""

import dataclasses

from overclock.files import write_whole
from overclock.recipe.contract.file import Closeness, ContractFile, StateField, format_contract, write_contract
from overclock.recipe.loop.briefing import module_file
from overclock.recipe.project.project import (
    Judging,
    Limits,
    ModulePlan,
    Project,
    Reference,
    format_project,
    load_project,
)
from overclock.recipe.survey.static.decompose import plan
from overclock.recipe.survey.static.source import resolve

POND = """
import gymnasium


class Pond(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(9)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0
        return self.x, {}

    def step(self, action):
        self.x += int(action)
        return self.x, 1.0, self.x > 7, False, {}
"""


def in_float64(project):
    """The project with a contract for its strictest precision alone: every level then runs once."""
    strict = {"float64": project.contract.precisions["float64"]}
    write_contract(dataclasses.replace(project.contract, precisions=strict), project.folder)
    return load_project(project.folder)


def playable_project(folder, levels=(1, 3), **limits):
    """A project whose reference can be played, so that a run of it begins; without level 2 it needs no scenarios."""
    folder.mkdir(parents=True)
    (folder / "pond.py").write_text(POND)
    (module,) = plan(resolve(str(folder / "pond.py")))
    made = Project(
        folder=folder,
        name="pond",
        reference=Reference("pond.py:Pond", "class", "pond:Pond", max_steps=20, path=str(folder.resolve())),
        target="jax",
        modules=(ModulePlan(module.name, module.files, module.functions, module.lines),),
        contract=ContractFile((StateField("x", "x", "int64"),), precisions={"float64": Closeness()}),
        limits=Limits(**limits),
        judging=Judging(levels=levels),
    )
    made.scenarios.mkdir()
    write_whole(module_file(folder, module.name), module.text.encode())
    write_whole(folder / "contract.toml", format_contract(made.contract).encode())
    write_whole(folder / "overclock.toml", format_project(made).encode())
    return load_project(folder)


def small_project(folder, levels=(1, 2, 3), **limits):
    """CartPole as one module, with a contract of one field and no scenarios."""
    made = Project(
        folder=folder,
        name="cart",
        reference=Reference("gymnasium:CartPole-v1"),
        target="jax",
        modules=(ModulePlan("cartpole", ("cartpole.py",)),),
        contract=ContractFile((StateField("x", "x", "float64"),), precisions={"float64": Closeness()}),
        limits=Limits(**limits),
        judging=Judging(levels=levels),
    )
    made.scenarios.mkdir(parents=True)
    write_whole(module_file(folder, "cartpole"), b"class CartPoleEnv: ...\n")
    write_whole(folder / "contract.toml", format_contract(made.contract).encode())
    write_whole(folder / "overclock.toml", format_project(made).encode())
    return load_project(folder)
