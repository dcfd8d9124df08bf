"""A project's two sides as a twin: the reference by its contract, and a candidate apart from us, in a sandbox."""

import os
from pathlib import Path
from typing import Any

from overclock.entry_point import EntryPoint
from overclock.recipe.contract.file import ContractFile
from overclock.recipe.judging.candidate import answers, candidate_spec
from overclock.recipe.judging.rust import target as rust
from overclock.recipe.project.project import Project, load_project
from overclock.recipe.sandbox import sandboxed
from overclock.verify.contract import ENVIRONMENT_RULES, Twin
from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.transfer.plan import TransferPlan

GIB = 1 << 30
# As texts: only the reference's own process imports what plays it, and level 1's workers its modules.
REFERENCE = "overclock.recipe.references.reference:reference"
ONE_INSTANCE = "overclock.recipe.references.reference:make_env"
MODULES = "overclock.recipe.contract.modules:modules"
FEW_STATES = 5_000  # that level 3 walks through, all of them
RESETS, RANDOM_STEPS = 2_048, 32  # how often chance decides, of first states and of each step from a state
RUST_CHECKS = "overclock.recipe.judging.rust.metamorphic:RULES"  # what level 2 expects of Rust candidates
# Small networks and few steps: what level 4 asks is whether both sides teach the same, not how much.
TRAINING = {
    "total_steps": 32_768,
    "num_envs": 8,
    "num_steps": 64,
    "learning_rate": 2.5e-3,
    "hidden": (32, 32),
}


def project_twin(project: Project, candidate: Path, scenarios: Path | None = None, sandbox: str = "best") -> Twin:
    """The twin of a project and one candidate; `scenarios` replaces the project's own folder."""
    contract = str(project.contract_path.resolve())
    performance = apart(project, performance_spec(project, candidate), candidate, sandbox)
    contracts = project.contract.contracts()
    if project.target == "rust":  # one program, whose types are the contract's
        contracts = dict(list(contracts.items())[:1])
    return Twin(
        name=project.name,
        reference=_found(project, SubjectSpec.of(REFERENCE, make=project.reference.make(), contract=contract)),
        performance=performance,
        contracts=contracts,
        scenarios=str(scenarios or project.scenarios),
        modules=EntryPoint.of(MODULES, cls=project.reference.cls, contract=contract),
        transfer=EntryPoint.of(transfer_plan, folder=str(project.folder.resolve())),
        traced=True,
        self_checks=RUST_CHECKS if project.target == "rust" else ENVIRONMENT_RULES,
        exhaustive=walk(project.contract),
        unreached=project.contract.unreached,
        beyond_end=project.contract.set_state,
    )


def walk(contract: ContractFile) -> dict[str, Any] | None:
    """Limits of a walk over every state and action, where the states that were seen are few whole numbers."""
    states = 1
    for field in contract.state:
        flag = field.dtype == "bool"
        if field.shape or not field.exact or (field.high is None and not flag):
            return None
        states *= 2 if field.high is None or field.low is None else int(field.high - field.low) + 1
    if states > FEW_STATES or not contract.set_state:
        return None
    repeats = RANDOM_STEPS if contract.step_draws else 1
    return {"required": False, "max_states": 2 * FEW_STATES, "reset_seeds": RESETS, "repeats": repeats}


def performance_spec(project: Project, candidate: Path) -> SubjectSpec:
    """A candidate in the language of the project's target."""
    return rust.performance_spec(project, candidate) if project.target == "rust" else candidate_spec(candidate)


def apart(project: Project, spec: SubjectSpec, candidate: Path, sandbox: str = "best") -> SubjectSpec:
    """A worker that runs a candidate's code, with a candidate's rights: it sees neither the reference nor any test."""
    return sandboxed(
        spec,
        candidate.resolve(),
        hidden_packages=(*project.reference.packages, *answers()),
        readable=_contract_files(project),
        sandbox=sandbox,
        memory_bytes=int(project.limits.memory_gib * GIB),
    )


def _contract_files(project: Project) -> tuple[Path, ...]:
    codec = project.contract.codec
    named = (project.contract_path, *(() if codec is None else (project.contract_path.with_name(codec),)))
    return tuple(path.resolve() for path in named)


def transfer_plan(folder: str) -> TransferPlan:
    """What level 4 trains and compares, for the project in a folder."""
    project = load_project(Path(folder))
    training: dict[str, Any] = {**TRAINING, **project.judging.training}
    return TransferPlan(
        training={name: tuple(value) if isinstance(value, list) else value for name, value in training.items()},
        seeds=project.judging.seeds,
        looks=project.judging.looks,
        episodes=project.judging.transfer_episodes,
        reference_env=_reference_env(project),
    )


def _reference_env(project: Project) -> SubjectSpec:
    made = {**project.reference.make(), **({} if project.contract.codec is None else {"flat": True})}
    return _found(project, SubjectSpec.of(ONE_INSTANCE, **made))


def also_spec(project: Project) -> SubjectSpec:
    """The existing fast implementation: installed, beside the reference, or in the project's own folder."""
    spec = SubjectSpec(project.judging.also, environment=(("JAX_ENABLE_X64", "1"), ("JAX_PLATFORMS", "cpu")))
    return _found(project, spec, str(project.folder.resolve()))


def _found(project: Project, spec: SubjectSpec, *more: str) -> SubjectSpec:
    """What is not installed is imported from its folder, and before anything else of that name."""
    places = [place for place in (project.reference.path, *more) if place]
    if not places:
        return spec
    return spec.with_environment(PYTHONPATH=os.pathsep.join([*places, *filter(None, [os.environ.get("PYTHONPATH")])]))
