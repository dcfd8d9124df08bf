"""The folder that an agent works in, read as a candidate: its source files without its author's tests and notes."""

from pathlib import Path

from overclock.recipe.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.hygiene.listing import entries, named

OWN_TESTS = "tests/"  # an agent's own tests are its business
SOURCES = (".py", ".rs", ".toml")
MOST_BYTES = 1 << 20  # of one file; hygiene allows far less, and refuses what is cut here


def frozen_tree(folder: Path) -> Frozen:
    """The candidate in a folder as it is now. Links and special files are no part of it."""
    files: dict[str, bytes] = {}
    for path in entries(folder):
        name = named(folder, path)
        if path.is_symlink() or not path.is_file() or name.startswith(OWN_TESTS) or not name.endswith(SOURCES):
            continue
        with path.open("rb") as file:
            files[name] = file.read(MOST_BYTES)
    return Frozen(tree_hash(files), files)
