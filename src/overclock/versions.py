"""The versions a result was made with."""

import importlib.metadata
import platform

from overclock.c_compiler import c_compiler_version

# Ours, what computes, and what the references are: programs of other versions may give other numbers.
PACKAGES = (
    "overclock", "overclock-native", "jax", "jaxlib", "numpy", "gymnasium", "mujoco", "pyboy", "pufferlib",
)  # fmt: skip
C_COMPILER = "C compiler"


def versions(c_compiler: bool = False) -> dict[str, str]:
    """Python and those of the packages that decide numbers and are installed; of the C compiler if it was used."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    compiler = c_compiler_version() if c_compiler else None
    return found if compiler is None else {**found, C_COMPILER: compiler}
