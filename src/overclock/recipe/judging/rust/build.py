"""Compiles a candidate in its own sandboxed worker: its crate first, then our C interface around it.

The crate is compiled by itself with `unsafe` forbidden from outside, so that only our interface can have any. The build
folder is temporary and is gone before the first call; a loaded library does not need its file.
"""

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.contract.file import load_contract
from overclock.recipe.judging.hygiene.listing import entries, named
from overclock.recipe.judging.rust.contract_source import FILE, HERE, contract_source
from overclock.recipe.judging.rust.toolchain import compiler

MAIN = "src/lib.rs"
BORDER = ("harness.rs", "runner.rs")  # the first names the other
LIBRARY = "liboverclock_border.so"
# For this very processor: Rust neither fuses nor reorders operations on floats, so results stay the same.
COMMON = ("--edition", "2021", "-O", "-C", "target-cpu=native", "-C", "codegen-units=1", "--error-format", "json")
MOST_ERRORS = 10  # the first ones cause the others


@dataclasses.dataclass(frozen=True)
class CompileError:
    """One complaint of the compiler, with its place in the candidate."""

    file: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.sentence}" if self.line else f"{self.file}: {self.sentence}"


class BuildError(UsageError):
    """The crate does not compile; `errors` are the compiler's complaints."""

    def __init__(self, errors: list[CompileError]) -> None:
        super().__init__("The candidate does not compile: " + " | ".join(map(str, errors)))
        self.errors = errors


def build(folder: Path, contract: Path, root: Path, place: Path) -> Path:
    """Compile the candidate in `folder` inside the empty folder `place`; returns the library or raises BuildError."""
    if not (folder / MAIN).is_file():
        raise BuildError([CompileError(MAIN, 0, "there is no such file; it is the crate's main one.")])
    for path in entries(folder / "src"):
        copy = place / named(folder, path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy, follow_symlinks=False)
    (place / FILE).write_text(contract_source(load_contract(contract)), encoding="utf-8")
    for name in BORDER:
        shutil.copyfile(HERE / name, place / name)
    _run(root, place, "--crate-type", "rlib", "--crate-name", "candidate", "-F", "unsafe_code", MAIN)
    try:
        _run(
            root, place, "--crate-type", "cdylib", "--crate-name", "overclock_border", "-C", "strip=symbols",
            "--extern", "candidate=libcandidate.rlib", BORDER[0],
        )  # fmt: skip
    except BuildError as error:
        wanted = "it must have `pub mod contract;` and a type `pub struct Env` that implements contract::Rules"
        raise BuildError([CompileError(MAIN, 0, f"{wanted}: {one.sentence}") for one in error.errors]) from error
    return place / LIBRARY


def _run(root: Path, place: Path, *arguments: str) -> None:
    command = [str(compiler(root)), *COMMON, *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode == 0:
        return
    errors = [error for line in done.stderr.splitlines() if (error := _error(line)) is not None]
    last = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
    raise BuildError(errors[:MOST_ERRORS] or [CompileError(MAIN, 0, f"the compiler gave up: {last[0]}")])


def _error(line: str) -> CompileError | None:
    """An error from a line of the compiler's JSON; None for warnings and for the summary at the end."""
    try:
        told: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    if told.get("level") != "error" or not (told.get("spans") or told.get("children")):
        return None
    span = next((one for one in told["spans"] if one["is_primary"]), {"file_name": MAIN, "line_start": 0, "label": ""})
    helpful = [child["message"] for child in told["children"] if child["level"] in ("help", "note")][:1]
    parts = [told["message"], span["label"], *helpful]
    said = "; ".join(" ".join(part.split()) for part in parts if part)
    return CompileError(span["file_name"], span["line_start"], said)
