"""A project on disk that nobody needs to survey a reference for."""

from overclock.files import write_whole
from overclock.recipe.briefing import module_file
from overclock.recipe.contract_file import Closeness, ContractFile, StateField, format_contract
from overclock.recipe.project import (
    Judging,
    Limits,
    ModulePlan,
    Project,
    Reference,
    format_project,
    load_project,
)


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
