"""The folder that an agent works in: read as a candidate, emptied, or copied as it is. No link in it is followed."""

import os
import shutil
from pathlib import Path

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.judging.hygiene.frozen import Frozen, tree_hash
from overclock.recipe.judging.hygiene.listing import entries, named

OWN_TESTS = "tests/"  # an agent's own tests are its business
SOURCES = (".py", ".rs", ".toml")
MOST_BYTES = 1 << 20  # of one file; hygiene allows far less, and refuses what is cut here
KEPT = ".git"  # a folder's own history is no part of a candidate


def frozen_tree(folder: Path) -> Frozen:
    """The candidate in a folder as it is now: its source files without its author's tests and notes."""
    files: dict[str, bytes] = {}
    for path in entries(folder):
        if not _judged(folder, path):
            continue
        with path.open("rb") as file:
            files[named(folder, path)] = file.read(MOST_BYTES)
    return Frozen(tree_hash(files), files)


def put_frozen(frozen: Frozen, folder: Path) -> bool:
    """Let a folder hold a candidate and leave its author's tests and notes alone; False where that was not possible."""
    try:
        for path in list(entries(folder)):
            if path.is_symlink() or _judged(folder, path):
                path.unlink()
        for name, content in frozen.files.items():
            write_whole(folder / name, content)
        return frozen_tree(folder).hash == frozen.hash
    except (OSError, UsageError):  # a folder that is closed, or that lies where a file belongs
        return False


def _judged(folder: Path, path: Path) -> bool:
    name = named(folder, path)
    own = name.startswith(OWN_TESTS) or not name.endswith(SOURCES)
    return not path.is_symlink() and path.is_file() and not own


def copy_tree(source: Path, target: Path) -> None:
    """Let `target` hold the regular files of `source` and no others, tests and notes included."""
    target.mkdir(parents=True, exist_ok=True)
    empty(target)
    for path in entries(source):
        if not path.is_symlink() and path.is_file():
            place = target / named(source, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def empty(folder: Path, keep: str = KEPT) -> None:
    """Remove everything in a folder but its own history."""
    for entry in os.scandir(folder) if folder.exists() else ():
        if entry.name == keep:
            continue
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)  # an agent may have closed its own folders
            empty(Path(entry.path), keep="")
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)
