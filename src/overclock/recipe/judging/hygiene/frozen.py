"""Frozen candidates, so that what was judged is what is kept, and seals on folders that a candidate must not change.

Seeds are drawn after `freeze`; whatever changes the files afterwards is another candidate.
"""

import contextlib
import dataclasses
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene.listing import IGNORED, entries, named

NOTHING: frozenset[str] = frozenset()
READ_ONLY_FILE, READ_ONLY_FOLDER = 0o444, 0o555


@dataclasses.dataclass(frozen=True)
class Frozen:
    """All files of a candidate by relative path, and one hash over paths and bytes."""

    hash: str
    files: dict[str, bytes]


def freeze(folder: Path) -> Frozen:
    """Read a candidate; tools' leftovers are left out, links and special files are refused."""
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is not a folder, so there is no candidate to freeze.")
    files = {}
    for path in entries(folder):
        if path.is_symlink() or not path.is_file():
            raise UsageError(f"'{path}' is not a plain file; a candidate consists of plain files only.")
        files[named(folder, path)] = path.read_bytes()
    return Frozen(tree_hash(files), files)


def tree_hash(files: dict[str, bytes]) -> str:
    """SHA-256 over sorted paths and contents; lengths keep neighbours apart."""
    total = hashlib.sha256()
    for path in sorted(files):
        for part in (path.encode(), files[path]):
            total.update(len(part).to_bytes(8, "little") + part)
    return total.hexdigest()


def unpack(frozen: Frozen, folder: Path) -> None:
    """Write the files into a folder that is not there yet, read-only."""
    if folder.exists():
        raise UsageError(f"'{folder}' exists already; a frozen candidate is unpacked into a new folder.")
    if tree_hash(frozen.files) != frozen.hash:
        raise UsageError("The frozen candidate's files do not have its hash; freeze it again.")
    for path in frozen.files:
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise UsageError(f"A frozen candidate cannot contain '{path}'.")
    folder.mkdir(parents=True)
    for path, content in frozen.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(READ_ONLY_FILE)
    for inner in sorted((folder, *(path for path in folder.rglob("*") if path.is_dir())), reverse=True):
        inner.chmod(READ_ONLY_FOLDER)


def remove(folder: Path) -> None:
    """Delete an unpacked candidate, which is read-only."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(path.stat().st_mode | stat.S_IRWXU)
    shutil.rmtree(folder)


@contextlib.contextmanager
def unpacked(frozen: Frozen) -> Iterator[Path]:
    """A copy of a candidate that nobody writes to, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="overclock-") as place:
        folder = Path(place) / "candidate"
        unpack(frozen, folder)
        try:
            yield folder
        finally:
            remove(folder)


def unchanged(frozen: Frozen, folder: Path) -> bool:
    """Whether a folder holds exactly the frozen files; leftovers of tools, which never run, do not count."""
    hashes = {path: _sha(content) for path, content in frozen.files.items()}
    return not _changes(hashes, folder, IGNORED)


@dataclasses.dataclass(frozen=True)
class Seal:
    """The files of a folder (tests, a contract) by their hashes, to be looked at again later.

    Nothing is left out: a compiled test that appears in __pycache__ would be run in the place of its source.
    """

    folder: Path
    hashes: dict[str, str]

    @classmethod
    def of(cls, folder: Path) -> "Seal":
        """Seal a folder as it is now."""
        if not folder.is_dir():
            raise UsageError(f"'{folder}' is not a folder, so it cannot be sealed.")
        return cls(folder.resolve(), _fingerprints(folder, NOTHING))

    def broken(self) -> list[str]:
        """Files that changed, appeared or are gone since; empty where nothing happened."""
        return _changes(self.hashes, self.folder, NOTHING)


def _changes(expected: dict[str, str], folder: Path, ignored: frozenset[str]) -> list[str]:
    found = _fingerprints(folder, ignored) if folder.is_dir() else {}
    return sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))


def _fingerprints(folder: Path, ignored: frozenset[str]) -> dict[str, str]:
    """A hash per file. A link is known by where it points; one that replaced a file is a change."""
    shown = {}
    for path in entries(folder, ignored):
        if path.is_symlink():
            shown[named(folder, path)] = f"-> {os.readlink(path)}"
        elif not path.is_file():
            shown[named(folder, path)] = "special"
        else:
            shown[named(folder, path)] = _sha(path.read_bytes())
    return shown


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
