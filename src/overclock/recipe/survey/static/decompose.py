"""The plan of a translation: a reference cut into modules, what each needs first, and what is left out.

    for module in plan(source):
        module.name, module.lines, module.depends_on, module.text

Nothing is run; the same source always gives the same plan.
"""

import dataclasses
import keyword
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.survey.static.definitions import Definition, File
from overclock.recipe.survey.static.dependency_order import quotient
from overclock.recipe.survey.static.grouping import FEWEST, MOST, group
from overclock.recipe.survey.static.other_languages import by_module, ways_to
from overclock.recipe.survey.static.rule_selection import Dropped, RuleSet, select_rules
from overclock.recipe.survey.static.source import Source
from overclock.recipe.survey.static.source_files import SourceFiles


@dataclasses.dataclass(frozen=True)
class ModulePlan:
    """One module: some definitions of the reference that are translated and checked together.

    `lines` counts the lines of these definitions; `text` shows them verbatim, file by file, below the imports they
    need and the `class` line they stand under.
    """

    name: str
    files: tuple[str, ...]
    functions: tuple[str, ...]  # 'package.module:Class.method'; also classes, constants and statements
    lines: int
    depends_on: tuple[str, ...]
    text: str


def plan(source: Source, fewest: int = FEWEST, most: int = MOST) -> list[ModulePlan]:
    """The modules of a reference, those that others need first."""
    if source.kind == "specification":
        assert source.document is not None
        text = source.document.read_text(encoding="utf-8")
        return [ModulePlan("specification", (str(source.document),), (), len(text.splitlines()), (), text)]
    kept = rules(source)
    called = _listed(source, kept)
    ways = {name for one in called for name in one.functions}
    groups = group(tuple(one for one in kept.definitions if one.name not in ways), kept.edges, fewest, most)
    before = tuple(one.name for one in called)
    names = _names(groups, before)
    needs = quotient([[one.name for one in part] for part in groups], kept.edges)
    return called + [
        ModulePlan(
            name=names[place],
            files=tuple(dict.fromkeys(str(one.file.path) for one in _in_order(part))),
            functions=tuple(one.name for one in _in_order(part)),
            lines=sum(len(one.lines) for one in part),
            depends_on=(*before, *(names[other] for other in sorted(needs[place]))),
            text=_text(part),
        )
        for place, part in enumerate(groups)
    ]


def _listed(source: Source, kept: RuleSet) -> list[ModulePlan]:
    found: list[ModulePlan] = []
    for name, listed in by_module(source.sources).items():
        known = {way for one in found for way in one.functions}
        ways = [one for one in ways_to(listed, kept.definitions) if one.name not in known]
        own = [_text(ways)] if ways else []
        found.append(
            ModulePlan(
                name=name,
                files=tuple(dict.fromkeys(str(one.path) for one in (*listed, *(way.file for way in ways)))),
                functions=tuple(one.name for one in _in_order(ways)),
                lines=sum(len(one.lines) for one in (*listed, *ways)),
                depends_on=tuple(one.name for one in found),
                text="\n".join([*(one.text for one in listed), *own]),
            )
        )
    return found


def dropped(source: Source) -> list[Dropped]:
    """The parts of the reference's files that are not its rules, with the reason for each."""
    return [] if source.kind == "specification" else list(rules(source).dropped)


def rules(source: Source) -> RuleSet:
    """The definitions that a reference needs to be made, reset and stepped; UsageError where it is not Python."""
    if source.module is None or source.class_name is None:
        raise UsageError(
            f"'{source.text}' has no Python source to cut into modules; name its modules in overclock.toml by hand."
        )
    return select_rules(SourceFiles(source.module, source.folder), source.module, source.class_name)


def _in_order(part: Iterable[Definition]) -> list[Definition]:
    return sorted(part, key=lambda one: (str(one.file.path), one.lines[0]))


def _text(part: list[Definition]) -> str:
    files: dict[str, list[Definition]] = {}
    for one in _in_order(part):
        files.setdefault(str(one.file.path), []).append(one)
    return "\n".join(_excerpt(definitions[0].file, definitions) for definitions in files.values())


def _excerpt(file: File, definitions: list[Definition]) -> str:
    """The lines of some definitions as they stand in their file; lines left out between them become one empty line."""
    wanted = {*file.header, *(line for one in definitions for line in one.lines)}
    for one in definitions:
        if one.owner is not None:  # a method whose class body is in another module
            wanted.add(file.definitions[one.owner].node.lineno)
    shown, before = [f"# {_place(file)}"], 0
    for line in sorted(wanted):
        if line != before + 1 and shown[-1]:
            shown.append("")
        shown.append(file.lines[line - 1])
        before = line
    return "\n".join(shown) + "\n"


def _place(file: File) -> str:
    """The path of a file from its top-level package on."""
    parts = file.module.split(".")
    return str(Path(*parts, "__init__.py") if file.is_package else Path(*parts[:-1], f"{parts[-1]}.py"))


def _names(groups: list[list[Definition]], taken: tuple[str, ...] = ()) -> list[str]:
    """A name for each: its file, or its class or largest function where several groups come from one file."""
    shared = Counter(module for part in groups for module in {one.file.module for one in part})
    names: list[str] = []
    for part in groups:
        module = _heaviest(part, lambda one: one.file.module)
        name = _identifier(module.rpartition(".")[2])
        if shared[module] > 1:
            here = [one for one in part if one.file.module == module]
            name = _identifier(_heaviest(here, lambda one: one.owner or one.qualified))
            if name in names:
                largest = max(here, key=lambda one: (one.kind == "function", len(one.lines)))
                name = _identifier("_".join(part.strip("_") for part in largest.qualified.split(".")))
        names.append(_free(name, [*taken, *names]))
    return names


def _heaviest(part: list[Definition], name: Callable[[Definition], str]) -> str:
    """The name to which most lines belong."""
    weight = Counter[str]()
    for one in part:
        weight[name(one)] += len(one.lines)
    return max(sorted(weight), key=weight.__getitem__)


def _identifier(name: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    clean = re.sub(r"\W+", "_", snake).strip("_") or "module"
    return clean if clean.isidentifier() and not keyword.iskeyword(clean) else f"module_{clean}"


def _free(name: str, taken: list[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
