"""Lists the files of a candidate, for everything that reads, freezes or checks one."""

import os
from collections.abc import Iterator
from pathlib import Path

# Left behind by tools; never frozen, so never part of what runs.
IGNORED = frozenset({"__pycache__", ".git", ".pytest_cache", ".ruff_cache", ".mypy_cache"})


def entries(folder: Path, ignored: frozenset[str] = IGNORED) -> Iterator[Path]:
    """Every file and every link below a folder, sorted; links are listed and not followed."""
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if path.is_symlink():
            yield path
        elif path.is_dir():
            if name not in ignored:
                yield from entries(path, ignored)
        elif name not in ignored:
            yield path


def named(folder: Path, path: Path) -> str:
    """A path as findings and hashes show it: relative, with forward slashes."""
    return path.relative_to(folder).as_posix()
