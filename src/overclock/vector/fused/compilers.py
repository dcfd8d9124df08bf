"""Compilers and what they made: a kernel is compiled once and kept under the user's cache folder."""

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from overclock import compile_cache
from overclock.errors import MissingError, OverclockError

HERE = Path(__file__).parent
COMPILERS = ("cc", "gcc", "clang")
# No rounding is left out or fused: a sum of a product rounds twice, as written. Whole numbers wrap.
FLAGS = (
    "-O3", "-march=native", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv",
    "-fno-strict-aliasing", "-fPIC", "-shared", "-w",
)  # fmt: skip
SECONDS = 600  # a compiler that takes longer is given up


class CompileError(OverclockError):
    """A compiler refused a kernel of ours."""


@functools.cache
def c_compiler() -> list[str] | None:
    """The system's C compiler ($CC where it is set), or None."""
    wished = os.environ.get("CC")
    if wished:
        words = shlex.split(wished)
        return words if shutil.which(words[0]) else None
    return next(([name] for name in COMPILERS if shutil.which(name)), None)


def needed_c_compiler() -> list[str]:
    """The system's C compiler, or an error that says what to do."""
    compiler = c_compiler()
    if compiler is None:
        raise MissingError("backend='c' needs a C compiler (gcc or clang) on the PATH or in $CC; or use backend='xla'.")
    return compiler


@functools.cache
def _identity(compiler: tuple[str, ...]) -> str:
    """What decides the code a compiler makes, besides the source: its version and, for -march=native, the processor."""
    said = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False, timeout=SECONDS).stdout
    flags = ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return "\n".join([said, platform.machine(), platform.processor(), flags])


_elsewhere: list[Path] = []


@contextlib.contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Kernels that are made meanwhile are looked for and kept in another folder: an empty one compiles all anew."""
    _elsewhere.append(folder)
    try:
        yield
    finally:
        _elsewhere.pop()


def kernels_folder() -> Path:
    """Where compiled kernels are kept: beside JAX's compile cache, or in a temporary folder where that is off."""
    if _elsewhere:
        return _elsewhere[-1]
    folder = compile_cache.cache_folder()
    if folder is not None:
        folder = folder.parent / "kernels"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        except OSError:
            pass  # a read-only home: nothing is kept
    return _temporary()


@functools.cache
def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="overclock-kernels-"))


def compiled(text: str, include: str, libraries: tuple[str, ...] = ("-lm", "-lpthread")) -> Path:
    """The shared library of a C text, compiled unless it is there."""
    command = [*needed_c_compiler(), *FLAGS, f"-I{include}"]
    key = hashlib.sha256("\n".join([text, *command, _identity(tuple(needed_c_compiler()))]).encode()).hexdigest()[:32]
    made = kernels_folder() / f"{key}.so"
    if made.exists():
        return made
    with tempfile.TemporaryDirectory(dir=made.parent, prefix="building-") as place:
        written, library = Path(place) / "kernel.c", Path(place) / "kernel.so"
        written.write_text(text)
        run([*command, str(written), "-o", str(library), *libraries], written)
        os.replace(library, made)
    return made


def run(command: list[str], written: Path) -> None:
    """Run a compiler; what it says becomes the error."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise CompileError(f"The compiler {command[0]} was stopped after {SECONDS} seconds.") from None
    except OSError as error:
        raise MissingError(f"The compiler {command[0]} cannot be started: {error}.") from error
    if done.returncode != 0:
        kept = Path(tempfile.mkdtemp(prefix="overclock-refused-")) / written.name
        shutil.copy(written, kept)
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-500:])
        raise CompileError(f"The compiler {command[0]} refused a kernel ({first.strip()}); its source is in '{kept}'.")


@functools.cache
def loaded(path: Path) -> ctypes.CDLL:
    """A shared library, loaded once."""
    return ctypes.CDLL(str(path))
