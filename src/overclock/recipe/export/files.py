"""Makes all files of an exported package in memory, by their paths."""

import dataclasses
import json
from pathlib import Path
from typing import Any

from overclock import __version__
from overclock.errors import MissingError
from overclock.files import finite
from overclock.recipe.contract.file import FILE as CONTRACT
from overclock.recipe.export.accepted import Accepted
from overclock.recipe.export.environment_class import EnvironmentClass
from overclock.recipe.export.episodes import Recording
from overclock.recipe.export.names import Names
from overclock.recipe.export.origin import Origin
from overclock.recipe.export.readme import readme_facts
from overclock.recipe.export.twin import RECORDED, RULES, VERIFICATION
from overclock.recipe.judging.candidate import MAIN
from overclock.recipe.project.project import FILE, AgentChoice, Project, format_project
from overclock.recipe.runs.page import html
from overclock.recipe.runs.report import RunReport
from overclock.results import encode

NOTICES = "licences"  # of the original, word for word
TEMPLATES = {  # file -> its template
    "pyproject.toml": "pyproject.toml.jinja",
    "README.md": "README.md.jinja",
    "src/{package}/__init__.py": "init.py.jinja",
    "tests/test_{package}.py": "test.py.jinja",
}


def package_files(
    accepted: Accepted, names: Names, origin: Origin, made: EnvironmentClass, recording: Recording
) -> dict[str, bytes]:
    """{path: content} of every file of the package."""
    several = set(accepted.frozen.files) != {f"{MAIN}.py"}
    inside = f"src/{names.package}"
    facts = {
        "names": names,
        "origin": origin,
        "several": several,
        "rules": RULES,
        "notices": f"{NOTICES}/{origin.distribution}" if origin.notices else None,
        "entry_point": _entry_point(names, made, several),
        "overclock": __version__,
        "x64": accepted.project.contract.x64,
        **readme_facts(accepted, origin),
    }
    files = {path.format(package=names.package): _rendered(name, **facts) for path, name in TEMPLATES.items()}
    source = f"{inside}/{RULES}" if several else inside
    files |= {f"{source}/{path}": content for path, content in accepted.frozen.files.items()}
    files |= {f"{NOTICES}/{origin.distribution}/{name}": content for name, content in origin.notices.items()}
    proof = f"{inside}/{VERIFICATION}"
    files |= {f"{proof}/{path}": content for path, content in _verification(accepted, names, origin).items()}
    files[f"{proof}/{RECORDED}"] = recording.to_bytes()
    return files


def _entry_point(names: Names, made: EnvironmentClass, several: bool) -> str:
    """The entry point: the class if `Class()` makes the judged environment, because tools can look into a class."""
    if several:
        return f"{names.package}:make"
    return f"{names.package}.{MAIN}:{made.cls if made.plain and made.module == MAIN else 'make'}"


def _verification(accepted: Accepted, names: Names, origin: Origin) -> dict[str, bytes]:
    """The project's folder without what belongs to this machine, and the report of the accepting run."""
    project = accepted.project
    report = _portable(accepted.report, accepted.run, origin)
    files = {
        FILE: format_project(_portable_project(project, names, origin)).encode(),
        CONTRACT: project.contract_path.read_bytes(),
        "report.json": (json.dumps(finite(encode(report)), indent=2, allow_nan=False) + "\n").encode(),
        "report.html": html(report).encode(),
    }
    if project.contract.codec is not None:
        files[project.contract.codec] = project.contract_path.with_name(project.contract.codec).read_bytes()
    return files | {f"scenarios/{path.name}": path.read_bytes() for path in sorted(accepted.scenarios.glob("*.json"))}


def _portable_project(project: Project, names: Names, origin: Origin) -> Project:
    """The project without paths of this machine, without its agent and other programs to compare with."""
    return dataclasses.replace(
        project,
        name=names.package,
        reference=dataclasses.replace(project.reference, source=origin.source, path=""),
        modules=tuple(
            dataclasses.replace(module, files=tuple(Path(file).name for file in module.files))
            for module in project.modules
        ),
        agent=AgentChoice(),
        judging=dataclasses.replace(project.judging, also=""),
    )


def _portable(report: RunReport, run: Path, origin: Origin) -> RunReport:
    """A run's report without where the run and the reference lie."""
    volatile = dataclasses.replace(report.volatile, folder=run.name, project=report.project)
    return dataclasses.replace(report, reference=origin.source, volatile=volatile)


def _rendered(name: str, **facts: Any) -> bytes:
    try:
        import jinja2
    except ImportError as error:
        raise MissingError("An export needs jinja2; install it with `pip install 'overclock[report]'`.") from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("overclock.recipe.export"), autoescape=False, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["quoted"] = json.dumps
    return environment.get_template(name).render(**facts).encode()
