"""The versions a result was made with."""

import importlib.metadata
import platform

PACKAGES = ("overclock", "jax", "jaxlib", "numpy", "gymnasium")


def versions() -> dict[str, str]:
    """Python and those of the packages that decide numbers and are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
