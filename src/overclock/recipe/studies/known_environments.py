"""The environments that the built-in translator is known for, one by one through the loop, and what became of each."""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.errors import MissingError, OverclockError, UsageError
from overclock.recipe.contract.file import write_contract
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.new import BUILT_IN, new_project
from overclock.recipe.project.project import AgentChoice, Changes, load_project
from overclock.recipe.studies.known_facts import facts
from overclock.verify.reach.excuse import Excuse

LIST = Path(__file__).with_name("known.toml")
LEVELS = (1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Known:
    """An environment of the list, and what its package is called."""

    name: str
    reference: str
    arguments: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    capacities: Mapping[str, int] = dataclasses.field(default_factory=dict)
    max_steps: int | None = None
    unreached: Sequence[Mapping[str, Any]] = ()  # excuses for branches that no comparison can take
    package: str = ""  # to be installed by whoever wants it; empty: it comes with our own packages


def known() -> list[Known]:
    """All environments of the list, in its order."""
    return [Known(**row) for row in tomllib.loads(LIST.read_text(encoding="utf-8"))["known"]]


def chosen(names: Sequence[str]) -> list[Known]:
    """Those of these names; all without any."""
    everyone = {one.name: one for one in known()}
    if unknown := [name for name in names if name not in everyone]:
        raise UsageError(f"There is no known environment '{unknown[0]}'; there are {', '.join(everyone)}.")
    return [everyone[name] for name in names or everyone]


def translate_known(
    one: Known,
    folder: Path,
    options: RunOptions,
    measure: bool = True,
    mutants: int = 0,
    say: Callable[[str], None] = lambda sentence: None,
) -> dict[str, Any]:
    """Translate one of them in a folder; what came of it, as plain values. Nothing that goes wrong ends the others."""
    row: dict[str, Any] = {"name": one.name, "reference": one.reference, "arguments": dict(one.arguments)}
    row |= {"package": one.package} if one.package else {}
    try:
        return row | _translated(one, folder, options, measure, mutants, say)
    except MissingError as error:
        install = f" (pip install {one.package})" if one.package else ""
        return {**row, "outcome": "not installed", "sentence": f"{error}{install}"}
    except OverclockError as error:
        return {**row, "outcome": "refused", "sentence": str(error)}
    except Exception as error:  # of ours, or of an environment; the others are asked all the same
        return {**row, "outcome": "broken", "sentence": f"{type(error).__name__}: {error}"}


def _translated(
    one: Known, folder: Path, options: RunOptions, measure: bool, mutants: int, say: Callable[[str], None]
) -> dict[str, Any]:
    made = new_project(
        folder / one.name, one.reference, "jax", AgentChoice(BUILT_IN), arguments=one.arguments,
        max_steps=one.max_steps, capacities=one.capacities,
    )  # fmt: skip
    project = made.project
    if one.unreached:
        excuses = tuple(Excuse(**excuse) for excuse in one.unreached)
        write_contract(dataclasses.replace(project.contract, unreached=excuses), project.folder)
        project = load_project(project.folder)
    quick = dataclasses.replace(options, steps=OptionalSteps(optimise=False), say=say)
    ended = translate(project, None, quick, Changes(levels=LEVELS), program=made.program)
    row = {"outcome": ended.outcome, "sentence": ended.sentence}
    row |= {"run": _from_here(ended.run), "page": _from_here(ended.page)}
    if ended.result is None:
        return row

    def progress(what: str, done: int, total: int) -> None:
        say(f"{what}: {done} of {total}")

    return {**row, **facts(project, ended, measure, mutants, progress)}


def _from_here(path: Path) -> str:
    """As it is typed here: results are kept, and where their folder lay on some machine is of no use to anybody."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
