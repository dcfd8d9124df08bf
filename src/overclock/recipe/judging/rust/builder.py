"""The worker that compiles a candidate in its sandbox; the grader gets the compiler's errors as findings."""

from pathlib import Path
from typing import Any

from overclock.recipe.judging.hygiene.finding import Finding
from overclock.recipe.judging.hygiene.inspection import no_answer
from overclock.recipe.judging.rust.build import BuildError
from overclock.recipe.judging.rust.library import load_library
from overclock.recipe.judging.rust.subject import rust_spec
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec


def builder_spec(folder: Path, contract: Path) -> SubjectSpec:
    """The subject whose worker compiles a candidate."""
    return rust_spec(folder, contract, RustBuilder)


def compile_candidate(spec: SubjectSpec, timeout: float = 120.0) -> list[Finding]:
    """Start the worker of `builder_spec` (inside a sandbox, say); findings from the compiler or about the worker."""
    try:
        with ProcessSubject(spec, 1, "the candidate", timeout) as worker:
            told = worker.ask("errors")
            return sorted(Finding(str(file), int(line), "compile", str(said)) for file, line, said in told)
    except Exception as error:  # whatever an answer in no known form makes our own reading of it raise
        return [no_answer(error)]


class RustBuilder:
    """The subject of `builder_spec`, inside its worker."""

    def __init__(self, num_envs: int, folder: str, contract: str, root: str) -> None:
        self._options = (folder, contract, root)

    def describe(self) -> dict[str, Any]:
        return {"calls": ["errors"]}

    def errors(self) -> list[tuple[str, int, str]]:
        """(file, line, sentence) of every error; loading shows that the spaces can be read as well."""
        try:
            load_library(*self._options)
        except BuildError as error:
            return [(one.file, one.line, one.sentence) for one in error.errors]
        return []
