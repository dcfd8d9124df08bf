"""Level 1 of a project: the functions of the environment contract, each against calls recorded from the reference.

Made from contract.toml alone, so that a translation can be judged function by function before anybody has written a
test. Loaded in three processes (verifier, reference, performance side); neither side is imported at the top.
"""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from overclock.recipe.contract import rules
from overclock.recipe.contract.candidate_randomness import distributions, samples, time_limit
from overclock.recipe.contract.cases import SPACES, RecordedCases
from overclock.recipe.contract.file import ContractFile, load_contract
from overclock.recipe.contract.outputs import bounded, close_to, equal
from overclock.recipe.survey.live import paths
from overclock.verify.property.calls import read_by
from overclock.verify.property.module import Module
from overclock.verify.sides.subject import Arrays

SEEDS = 2048  # resets whose draws are compared as a distribution
BOUNDS = tuple(f"{name}_{part}" for name in SPACES for part in ("low", "high", "n"))


def modules(cls: str, contract: str) -> tuple[Module, ...]:
    """As `contract_modules`, of a reference's class ('package.module:Class') and the path of its contract.toml."""
    return contract_modules(cls, load_contract(Path(contract)))


def contract_modules(cls: str, contract: ContractFile) -> tuple[Module, ...]:
    """One module per function of the environment contract."""
    recorded = RecordedCases(contract)
    attributes, depth = _recorded_of(contract)
    if recorded.codec is not None:
        read_by(recorded.read_in_step, f"{cls}.step")
    read_by(functools.partial(recorded.read_in_reset, depth=depth, attributes=attributes), f"{cls}.reset")
    seeded = (_seeds, recorded.apply_seed) if contract.reset_draws else (None, None)
    searched = (recorded.boundary, recorded.apply) if bounded(contract) else (None, None)
    return (
        # Of a reset: many classes have no constructor of their own, and spaces that are attributes of the class.
        Module("spaces", (f"{cls}.reset",), recorded.spaces_case, rules.spaces, (), equal(contract, *BOUNDS),
               depth=depth, attributes=attributes),
        *samples(cls, recorded, _seeds, attributes),
        Module(
            "reset", (f"{cls}.reset",), recorded.reset_case, rules.reset, (), close_to(contract), *seeded,
            depth, attributes,
        ),
        Module(
            "transition", (f"{cls}.step",), recorded.step_case, rules.transition, (),
            close_to(contract, "reward", flags=("terminated",)), *searched, depth, attributes,
        ),
        Module(
            "observe", (f"{cls}.reset", f"{cls}.step"), recorded.observe_case, rules.observe, (),
            close_to(contract, "obs", state=False), *searched, depth, attributes,
        ),
        time_limit(recorded),
        # Last: slow beside the others, and rarely the first to see a mistake.
        *distributions(cls, recorded, _seeds, attributes),
    )  # fmt: skip


def step_from_boundary(contract: ContractFile, instance: Any) -> None:
    """One step of an instance of the reference from every boundary state, where it can be put there."""
    if bounded(contract):
        RecordedCases(contract).step_from_boundary(instance)


def _recorded_of(contract: ContractFile) -> tuple[tuple[str, ...], int]:
    """What holds the state, and how deep it lies; nothing else is recorded, because every call is copied."""
    if contract.codec is not None:  # which reads by itself
        return (), 0
    steps = [paths.parse(field.read) for field in contract.state]
    return tuple(dict.fromkeys(str(path[0]) for path in steps)), max((len(path) - 1 for path in steps), default=0)


def _seeds() -> Arrays:
    return {"seed": np.arange(SEEDS, dtype=np.uint32)}
