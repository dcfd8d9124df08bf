"""Facts about where a benchmark ran and which code made it: device, versions, commit, memory; and a cold compiler."""

import contextlib
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache

import overclock
from overclock.bench.results import Code, Machine, Memory
from overclock.cores import cores
from overclock.errors import MissingError
from overclock.processor import processor

Device = Any  # jax.Device, which type checkers take for a variable
GIT_SECONDS = 10  # a file system that answers later is not waited for


def find_device(wish: str) -> Device:
    """The device behind auto, cpu or gpu."""
    if wish == "auto":
        return jax.devices()[0]
    try:
        return jax.devices(wish)[0]
    except RuntimeError as error:
        raise MissingError(
            f"JAX finds no {wish} here; use --device cpu or, beside an NVIDIA GPU, `pip install 'overclock[cuda]'`."
        ) from error


def describe(device: Device) -> Machine:
    """The machine's part of a report."""
    return Machine(
        device=device.device_kind,
        platform=device.platform,
        cpu=processor().model,
        cores=cores(),
        os=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        overclock=overclock.__version__,
        **{name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "numpy")},
        x64=bool(jax.config.jax_enable_x64),  # pyright: ignore[reportAttributeAccessIssue]
        **vars(code_version(Path(overclock.__file__).parent)),
    )


def code_version(package: Path) -> Code:
    """`commit` that a package's folder was checked out from and whether it is `dirty`; both None if it was not."""
    # An installed package may lie inside somebody else's checkout (.venv): only a folder that is tracked counts.
    tracked = _git(package, "ls-files", "--error-unmatch", "__init__.py")
    commit = _git(package, "rev-parse", "HEAD") if tracked else None
    changes = _git(package, "status", "--porcelain", "--", ".") if commit else None
    return Code(commit, None if changes is None else changes != "")


def _git(folder: Path, *words: str) -> str | None:
    """What git says in a folder; None where it refuses or is not there."""
    # A hook's GIT_DIR would point git at another repository than the folder's.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=GIT_SECONDS, env=variables)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip()


def peak_memory(device: Device) -> Memory:
    """High-water marks of this process so far; None where the platform does not tell."""
    statistics = device.memory_stats() or {}
    return Memory(_host_peak(), statistics.get("peak_bytes_in_use"))


def _host_peak() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, others KiB


@contextlib.contextmanager
def cold_compiler() -> Iterator[None]:
    """Switch the persistent compile cache off, so that compile seconds mean the same at the first and any later run."""
    before = jax.config.jax_enable_compilation_cache  # pyright: ignore[reportAttributeAccessIssue]
    _switch_cache(False)
    try:
        yield
    finally:
        _switch_cache(before)


def _switch_cache(on: bool) -> None:
    jax.config.update("jax_enable_compilation_cache", on)
    compilation_cache.reset_cache()  # JAX reads the setting once per process unless it is reset
