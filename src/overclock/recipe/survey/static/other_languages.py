"""Rules that a reference's class only calls: lines of files in another language, named by the author of a project.

    round=pong.h:17-40        frames=pong.h:41-160        frames=pong.py        (NAME=FILE or NAME=FILE:FIRST-LAST)

Nothing in a class that reaches C through a library says where its rules are written, so a person says it. Lines of one
name are one module. A function at the top of the class's own files that has the name of one in these lines is the way
to it: it belongs to the module, so that its calls are recorded and a translation of it is judged alone.
"""

import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.survey.static.definitions import Definition

FORM = re.compile(r"([A-Za-z_]\w*)=(.+?)(?::(\d+)-(\d+))?")
LANGUAGES = {
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".cxx": "C++", ".hh": "C++", ".hpp": "C++", ".cu": "CUDA",
    ".rs": "Rust", ".go": "Go", ".java": "Java", ".js": "JavaScript", ".ts": "TypeScript", ".jl": "Julia",
    ".pyx": "Cython",
}  # fmt: skip
PYTHON = "Python"


@dataclasses.dataclass(frozen=True)
class Listed:
    """Some lines of a file, `first` to `last` counted from 1, that are part of the module `name`."""

    name: str
    path: Path
    first: int
    last: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines below a comment that says where they stand."""
        mark = "#" if language((str(self.path),)) in (PYTHON, "Cython", "Julia") else "//"
        return "\n".join((f"{mark} {self.path.name}, lines {self.first} to {self.last}", *self.lines)) + "\n"


def absolute(written: str) -> str:
    """The same text with an absolute path, which means the same in every folder."""
    name, path, first, last = _parts(written)
    place = path if path.startswith("~") else str(Path(path).resolve())
    return f"{name}={place}" if first is None else f"{name}={place}:{first}-{last}"


def read_listed(written: str) -> Listed:
    """The lines that a text names; UsageError where they are not there."""
    name, file, first, last = _parts(written)
    path = Path(file).expanduser()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        place, _, lines = file.rpartition(":")
        if place and Path(place).expanduser().is_file():
            raise UsageError(
                f"The source '{written}' names its lines by '{lines}'; write FIRST-LAST, 12-40 for example."
            ) from None
        said = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"The source '{written}' cannot be read: {said}.") from error
    begin, end = (1, len(lines)) if first is None else (int(first), int(last or 0))
    if not 1 <= begin <= end <= len(lines):
        raise UsageError(f"The source '{written}' names lines that are not there; the file has {len(lines)}.")
    return Listed(name, path, begin, end, tuple(lines[begin - 1 : end]))


def by_module(written: Iterable[str]) -> dict[str, list[Listed]]:
    """The lines of each module, in the order in which they were named."""
    found: dict[str, list[Listed]] = {}
    for one in map(read_listed, written):
        found.setdefault(one.name, []).append(one)
    return found


def ways_to(listed: Iterable[Listed], definitions: Iterable[Definition]) -> list[Definition]:
    """The functions of the reference's own files that have the name of one that is written in these lines."""
    text = "\n".join(line for one in listed for line in one.lines)
    return [one for one in definitions if one.kind == "function" and one.owner is None and _defines(text, one.short)]


def _defines(text: str, name: str) -> bool:
    """Whether a function is written there, and not only called: a body follows, or a word that begins one."""
    body = rf"\b{re.escape(name)}\s*\([^;{{}}]*\)[^;{{}}()]*\{{"  # C and its kin
    word = rf"\b(def|cdef|cpdef|fn|func|function)\b[^\n(]*\b{re.escape(name)}\s*[(<]"
    return re.search(body, text) is not None or re.search(word, text) is not None


def language(files: Iterable[str]) -> str:
    """The language of a module: that of its first file which is not Python."""
    return next((LANGUAGES[end] for file in files if (end := Path(file).suffix) in LANGUAGES), PYTHON)


def _parts(written: str) -> tuple[str, str, str | None, str | None]:
    matched = FORM.fullmatch(written)
    if matched is None:
        raise UsageError(f"'{written}' names no source; write NAME=FILE or NAME=FILE:FIRST-LAST.")
    name, path, first, last = matched.groups()
    return name, path, first, last
