"""Compilers and what they made: a kernel is compiled once and kept under the user's cache folder."""

import contextlib
import ctypes
import functools
import hashlib
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from overclock import compile_cache
from overclock.c_compiler import REMEDY, SECONDS, CompileError, compile_with, working_c_compiler
from overclock.files import kept

HERE = Path(__file__).parent
# No rounding is left out or fused: a sum of a product rounds twice, as written. Whole numbers wrap.
FLAGS = (
    "-O3", "-march=native", "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fwrapv",
    "-fno-strict-aliasing", "-fPIC", "-shared", "-w",
)  # fmt: skip


def needed_c_compiler() -> list[str]:
    """A C compiler that works, or an error that says what to do."""
    return working_c_compiler("Kernels are compiled from C", f"{REMEDY}, or use backend='xla'", FLAGS)


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

    def make(library: Path) -> None:
        written = library.with_suffix(".c")
        written.write_text(text)
        run([*command, str(written), *libraries], written, library)

    return kept(kernels_folder(), key, ".so", make)


def run(command: list[str], written: Path, result: Path) -> None:
    """Run a compiler; a source that it refuses is left where one can look at it."""
    try:
        compile_with(command, result)
    except CompileError as error:
        refused = Path(tempfile.mkdtemp(prefix="overclock-refused-")) / written.name
        shutil.copy(written, refused)
        raise CompileError(
            f"A kernel cannot be compiled: {error} Its source is in '{refused}'; use backend='xla'."
        ) from None


@functools.cache
def loaded(path: Path) -> ctypes.CDLL:
    """A shared library, loaded once."""
    return ctypes.CDLL(str(path))
