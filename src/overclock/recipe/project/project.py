"""overclock.toml: what shall be translated, into what, by whom, and within which limits.

A project is a folder:

    overclock.toml     this file
    contract.toml      what must be equal (contract/file.py)
    scenarios/         level 2, recorded from the reference or written by hand
    prompts/           optional: a file here replaces the one of the same name that Overclock brings
    runs/<id>/         one folder per run; `candidate/` in it is all that an agent may write
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from overclock.errors import UsageError
from overclock.recipe.contract.file import FILE as CONTRACT
from overclock.recipe.contract.file import ContractFile, load_contract
from overclock.recipe.contract.toml_text import toml_pairs
from overclock.recipe.judging.hygiene.finding import Limits as HygieneLimits
from overclock.recipe.project.values import UNLIMITED, check_name, check_values, known_keys, number
from overclock.verify.transfer.plan import MIN_EPISODES

SCHEMA = "overclock.project/1"
FILE = "overclock.toml"
UNFINISHED = ".overclock-unfinished-"  # with a process number, the folder in which it writes a new project
Target = Literal["jax", "rust"]
LEVELS = (1, 2, 3, 4)
MOST_CANDIDATES = 16  # side by side: each is an agent's program, and all share this machine


@dataclasses.dataclass(frozen=True)
class Reference:
    """What is translated, as it was given: gymnasium:Id, package.module:Class, file.py:Class, spec.md."""

    source: str
    kind: str = "gymnasium"
    cls: str = ""  # the class that holds the rules, 'package.module:Class'
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    max_steps: int | None = number(None, least=1)
    packages: tuple[str, ...] = ("gymnasium",)  # a candidate does not see these
    path: str = ""  # a folder from which it is imported, where it is not installed
    sources: tuple[str, ...] = ()  # rules that it only calls, in another language: "name=file:first-last"
    capacities: Mapping[str, int] = dataclasses.field(default_factory=dict)  # of lists of its state, where given

    def __post_init__(self) -> None:
        check_values("reference", self)

    def make(self) -> dict[str, Any]:
        """How one instance is made (`recipe.references.reference.make_env`)."""
        made: dict[str, Any] = {"arguments": dict(self.arguments), "max_steps": self.max_steps}
        if self.kind == "gymnasium":
            return {"id": self.source.partition(":")[2], **made}
        return {"entry_point": self.cls, **made}


@dataclasses.dataclass(frozen=True)
class ModulePlan:
    """One part of the reference's source that is translated and tested on its own, after those it depends on."""

    name: str
    files: tuple[str, ...]
    functions: tuple[str, ...] = ()
    lines: int = 0
    depends_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_values("modules", self)
        if not self.name.isidentifier():
            raise UsageError(f"A module cannot be called '{self.name}'; it becomes a file that is imported.")


def checkable(plan: ModulePlan) -> list[str]:
    """The public names of a module that stand in no class; which of them are functions is seen when it is imported."""
    names = [(name, name.partition(":")[2]) for name in plan.functions]
    return [name for name, inner in names if inner.isidentifier() and not inner.startswith("_")]


@dataclasses.dataclass(frozen=True)
class Limits:
    """How much a run may cost, and how long each part of it may take."""

    dollars: float | None = number(10.0, least=0)  # None, in the file "unlimited": no limit
    tokens: int | None = number(None, least=0)  # of prompts and answers together
    requests: int | None = number(None, least=0)  # calls of a model
    wall_seconds: float | None = number(None, above=0)  # of work, without the time between a stop and a resume
    iterations: int = number(50, least=1)  # at one level, before a person is asked
    agent_seconds: float = number(900.0, above=0)  # one call of an agent
    timeout: float = number(120.0, above=0)  # one answer of a side under comparison
    memory_gib: float = number(4.0, above=0)  # of a candidate's processes
    constant_kib: int = number(64, least=0)  # tables that a candidate may bring along
    optimisations: int = number(3, least=0)  # rounds of phase 5

    def __post_init__(self) -> None:
        check_values("limits", self)


@dataclasses.dataclass(frozen=True)
class AgentChoice:
    """Who translates: a profile's name or file, `api:openai:MODEL`, `manual`; and how many try side by side."""

    name: str = "manual"
    model: str = ""
    candidates: int = number(1, least=1, most=MOST_CANDIDATES)  # side by side for every task; the best one is kept
    note: str = ""  # what is known about this reference, for every translation

    def __post_init__(self) -> None:
        check_values("agent", self)


@dataclasses.dataclass(frozen=True)
class Judging:
    """What a candidate has to pass."""

    levels: tuple[int, ...] = LEVELS
    episodes: int = number(100, least=1)
    held_out: int = number(100, least=1)  # episodes whose seeds nobody learns; they answer with pass or fail only
    also: str = ""  # an existing fast implementation to be checked against as well: the entry point of a Subject
    training: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # level 4: what differs from PPO's defaults
    seeds: int = number(10, least=2)  # level 4: policies per side and look
    looks: int = number(3, least=1, most=3)  # level 4: how often policies may be added
    transfer_episodes: int = number(100, least=MIN_EPISODES)  # level 4: episodes per policy and side

    def __post_init__(self) -> None:
        check_values("judging", self)
        if not self.levels or any(level not in LEVELS for level in self.levels):
            raise UsageError(f"There are levels 1 to 4, got {', '.join(map(str, self.levels)) or 'none'}.")


@dataclasses.dataclass(frozen=True)
class Project:
    """The content of a project's folder."""

    folder: Path
    name: str
    reference: Reference
    target: Target
    modules: tuple[ModulePlan, ...]
    contract: ContractFile
    limits: Limits = Limits()
    agent: AgentChoice = AgentChoice()
    judging: Judging = Judging()

    @property
    def contract_path(self) -> Path:
        """The path of its contract.toml."""
        return self.folder / CONTRACT

    @property
    def hygiene(self) -> HygieneLimits:
        """How much of what a candidate may bring along."""
        return HygieneLimits(constant_bytes=self.limits.constant_kib << 10)

    @property
    def scenarios(self) -> Path:
        """The folder of level 2."""
        return self.folder / "scenarios"

    def run_folder(self, run_id: str) -> Path:
        """Where a run of this name lies."""
        return self.folder / "runs" / check_name("A run", run_id)


@dataclasses.dataclass(frozen=True)
class Changes:
    """What one run does otherwise than its project says; None: as the project says."""

    agent: str | None = None
    model: str | None = None
    budget: float | None = None
    levels: tuple[int, ...] | None = None
    candidates: int | None = None
    tokens: int | None = None
    requests: int | None = None
    wall_seconds: float | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Changes":
        """From what a journal remembers."""
        return cls(**{**values, "levels": None if values["levels"] is None else tuple(values["levels"])})

    def over(self, earlier: "Changes") -> "Changes":
        """These, and the earlier ones where these say nothing."""
        given = {name: value for name, value in dataclasses.asdict(self).items() if value is not None}
        return dataclasses.replace(earlier, **given)

    def of(self, project: Project) -> Project:
        """The project with these changes."""
        agent, limits, judging = project.agent, project.limits, project.judging
        if self.agent is not None and self.agent != agent.name:
            agent = dataclasses.replace(agent, name=self.agent, model="")  # another agent's model is not this one's
        if self.model is not None:
            agent = dataclasses.replace(agent, model=self.model)
        if self.candidates is not None:
            agent = dataclasses.replace(agent, candidates=self.candidates)
        if self.budget is not None:
            limits = dataclasses.replace(limits, dollars=self.budget)
        for name in ("tokens", "requests", "wall_seconds"):
            if (value := getattr(self, name)) is not None:
                limits = dataclasses.replace(limits, **{name: value})
        if self.levels is not None:
            judging = dataclasses.replace(judging, levels=tuple(sorted(set(self.levels))))
        return dataclasses.replace(project, agent=agent, limits=limits, judging=judging)


PARTS: dict[str, Any] = {"reference": Reference, "limits": Limits, "agent": AgentChoice, "judging": Judging}


def load_project(folder: Path) -> Project:
    """The project in a folder, or one sentence on what is wrong with it."""
    path = folder / FILE
    if not path.is_file():
        raise UsageError(f"'{folder}' is no project: it has no {FILE}; `overclock new` makes one.")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data.pop("schema", None) != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        parts = {name: cls(**known_keys(cls, data.pop(name, {}))) for name, cls in PARTS.items()}
        target = data.pop("target")
        if target not in get_args(Target):
            raise ValueError(f"its target is '{target}', not one of {', '.join(get_args(Target))}")
        modules = tuple(ModulePlan(**known_keys(ModulePlan, one)) for one in data.pop("modules", []))
        name = check_name("A project", data.pop("name"))
        if data:
            raise ValueError(f"it has the unknown part '{next(iter(data))}'")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}.") from error
    except KeyError as error:
        raise UsageError(f"'{path}' does not say {error}.") from error
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        raise UsageError(f"'{path}' is not usable: {str(error).rstrip('.')}.") from error
    _require_order(path, modules)
    contract = load_contract(folder / CONTRACT)
    return Project(folder=folder, name=name, target=target, modules=modules, contract=contract, **parts)


def format_project(project: Project) -> str:
    """The text of an overclock.toml."""
    lines = [f'schema = "{SCHEMA}"', *toml_pairs({"name": project.name, "target": project.target}), ""]
    for name in PARTS:
        values = dataclasses.asdict(getattr(project, name))
        if name == "limits":
            values = {key: UNLIMITED if value is None else value for key, value in values.items()}
        lines += [f"[{name}]", *toml_pairs(values), ""]
    lines.append("# Translated one after the other; a module comes after those it depends on.")
    for module in project.modules:
        lines += ["[[modules]]", *toml_pairs(dataclasses.asdict(module)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _require_order(path: Path, modules: tuple[ModulePlan, ...]) -> None:
    seen: set[str] = set()
    for module in modules:
        if late := [name for name in module.depends_on if name not in seen]:
            raise UsageError(f"'{path}' puts the module '{module.name}' before '{late[0]}', which it depends on.")
        seen.add(module.name)
    if len(seen) != len(modules) or not modules:
        raise UsageError(f"'{path}' needs at least one module, and no two of the same name.")
