"""What the first lines of a generated file say about where it comes from."""

import importlib.metadata

from overclock.translate.program import Program


def origin(program: Program) -> str:
    """The reference of a program, with the version of its package where it is installed."""
    package = program.source.partition(".")[0].partition(":")[0]
    try:
        return f"{program.source} ({package} {importlib.metadata.version(package)})"
    except importlib.metadata.PackageNotFoundError:
        return program.source
