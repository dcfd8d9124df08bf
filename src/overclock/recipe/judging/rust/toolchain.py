"""Finds the Rust compiler that `rustc` on the path leads to, without rustup's proxy program."""

import functools
import shutil
import subprocess
from pathlib import Path

from overclock.errors import MissingError

REMEDY = "install Rust (https://rustup.rs), and a C compiler, which links"
PATIENCE_S = 60.0


@functools.cache
def sysroot() -> Path:
    """The folder of the toolchain; a sandboxed worker must be able to read it."""
    program = shutil.which("rustc")
    if program is None:
        raise MissingError(f"Rust candidates need rustc, which is not on the path; {REMEDY}.")
    if shutil.which("cc") is None:
        raise MissingError(f"Rust candidates need a linker, and there is no cc on the path; {REMEDY}.")
    try:
        command = [program, "--print", "sysroot"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingError(f"rustc does not work here ({error}); {REMEDY}.") from error
    return Path(told.stdout.strip()).resolve()


def compiler(root: Path) -> Path:
    """The compiler of a toolchain."""
    return root / "bin" / "rustc"
