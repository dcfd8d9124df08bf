"""The functions that the loop and the judge call for a target language, for Rust."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from overclock.files import write_whole
from overclock.recipe.judging.hygiene.finding import Finding, Limits
from overclock.recipe.judging.rust.builder import builder_spec, compile_candidate
from overclock.recipe.judging.rust.contract_source import FILE, contract_source, declarations
from overclock.recipe.judging.rust.hygiene import MISSING_MAIN, check_rust_source
from overclock.recipe.judging.rust.rulebook import rust_rulebook
from overclock.recipe.judging.rust.subject import rust_spec
from overclock.recipe.judging.rust.toolchain import sysroot
from overclock.recipe.project.project import Project
from overclock.verify.sides.subject import SubjectSpec

Apart = Callable[[SubjectSpec], SubjectSpec]  # puts a worker into the candidate's sandbox


def require_toolchain() -> None:
    """MissingError where no Rust can be compiled."""
    sysroot()


def prepare(project: Project, folder: Path) -> None:
    """Write the files that an agent finds in the candidate's folder before it begins."""
    write_whole(folder / FILE, contract_source(project.contract).encode())


def facts(project: Project) -> dict[str, Any]:
    """The variables of the prompts about the contract and hygiene."""
    return {"rust_contract": declarations(project.contract), "hygiene": rust_rulebook(project.hygiene)}


def performance_spec(project: Project, folder: Path) -> SubjectSpec:
    """The performance side of a twin."""
    return rust_spec(folder, project.contract_path)


def findings(project: Project, folder: Path, limits: Limits, apart: Apart, part: bool = False) -> list[Finding]:
    """Findings in a candidate's text or, if there are none, those of the compiler.

    `part`: only some of its modules are written, so there is no main file yet and nothing that could be compiled.
    """
    found = check_rust_source(folder, project.contract, limits)
    if part:
        return [finding for finding in found if finding.rule != MISSING_MAIN]
    return found or compile_candidate(apart(builder_spec(folder, project.contract_path)), project.limits.timeout)
