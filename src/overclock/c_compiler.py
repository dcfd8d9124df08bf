"""The system's C compiler: which one it is, whether it works, what it says when it does not.

Compiled files are kept by `files.kept`.
"""

import ctypes
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from overclock.errors import MissingError, OverclockError

COMPILERS = ("cc", "gcc", "clang")
SECONDS = 600  # a compiler that takes longer is given up
VERSION_SECONDS = 30
ABSENT = "there is no C compiler"
REMEDY = "install gcc or clang, or name yours in the variable CC"
ANSWER = 42
PROBE = f"""
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
int32_t overclock_probe(void) {{ return {ANSWER}; }}
"""


class CompileError(OverclockError):
    """A compiler refused a file of ours."""


def working_c_compiler(what: str, remedy: str = REMEDY, flags: tuple[str, ...] = ()) -> list[str]:
    """The words that start the system's C compiler, which has been tried; `what` says who cannot do without."""
    words = c_compiler()
    fault = c_compiler_fault(flags)
    if words is None or fault:
        raise MissingError(f"{what}, and {fault}; {remedy}.")
    return words


def c_compiler() -> list[str] | None:
    """What $CC says, or the first of the usual names that is on the PATH."""
    wished = os.environ.get("CC", "").strip()
    return shlex.split(wished) if wished else next(([name] for name in COMPILERS if shutil.which(name)), None)


def c_compiler_version() -> str | None:
    """The first line of what the C compiler calls itself; None where there is none that answers."""
    words = c_compiler()
    return None if words is None else _version(tuple(words))


@functools.cache
def _version(compiler: tuple[str, ...]) -> str | None:
    try:
        answer = subprocess.run(
            [*compiler, "--version"], capture_output=True, text=True, errors="replace", check=True,
            timeout=VERSION_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip().partition("\n")[0] or None


def c_compiler_fault(flags: tuple[str, ...] = ()) -> str:
    """Why nothing in C can be compiled here; nothing where a small library could be made and loaded."""
    words = c_compiler()
    if words is None:
        return ABSENT
    place = shutil.which(words[0])
    if place is None:
        return f"$CC names '{words[0]}', which is not there"
    fault = _fault((place, *words[1:]), flags)
    return f"the C compiler '{words[0]}' does not work ({fault})" if fault else ""


@functools.cache
def _fault(compiler: tuple[str, ...], flags: tuple[str, ...]) -> str:
    """What is wrong with a compiler; nothing where it works."""
    with tempfile.TemporaryDirectory(prefix="overclock-compiler-") as folder:
        written, library = Path(folder) / "probe.c", Path(folder) / "probe.so"
        written.write_text(PROBE)
        try:
            compile_with([*compiler, *flags, "-shared", "-fPIC", str(written), "-lm"], library)
            answer = ctypes.CDLL(str(library)).overclock_probe()
        except (OverclockError, OSError) as error:
            return str(error)
    return "" if answer == ANSWER else "what it makes computes something else"


def compile_with(command: list[str], result: Path) -> None:
    """Run a compiler that writes one file; where it fails, what it said is the error: a line, for a longer sentence."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            [*command, "-o", str(result)], capture_output=True, text=True, errors="replace", check=False,
            timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise CompileError(f"{name} was stopped after {SECONDS} seconds") from None
    except OSError as error:
        raise CompileError(f"{name} cannot be started: {error.strerror}") from error
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        first = next((line for line in said if "error" in line), said[0] if said else "it gave no reason")
        raise CompileError(f"{name} ended with exit code {done.returncode}: {first.removesuffix('.')}")
    if not result.is_file():
        raise CompileError(f"{name} ended without an error and without a result")
