"""Frozen candidates, read back from a run's journal: their files, and what changed from one to the next."""

import difflib
from pathlib import Path, PurePosixPath

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.work_tree import empty

NO_NEWLINE = "\\ No newline at end of file\n"  # as diff and patch write it


def files_of(journal: Journal, candidate: str) -> dict[str, bytes]:
    """The files of a frozen candidate, by their paths inside it."""
    for event in reversed(journal.events("candidate frozen")):
        if event.facts["candidate"] == candidate:
            return {path: journal.blob(name) for path, name in event.facts["files"].items()}
    raise UsageError(f"The run has no candidate '{candidate}'; `overclock report --json` lists them.")


def restore(journal: Journal, candidate: str | None, folder: Path) -> None:
    """Make a folder hold a frozen candidate, or nothing, byte for byte; links in it are not followed."""
    files = {} if candidate is None else files_of(journal, candidate)
    for path in files:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts:
            raise UsageError(f"The candidate '{candidate}' has a file outside of its folder: '{path}'.")
    try:
        empty(folder)
    except OSError as error:
        raise UsageError(f"Cannot empty '{folder}': {error.strerror}; remove what is in it by hand.") from error
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        write_whole(folder / path, content)


def diff(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """What changed, as a unified diff; empty if nothing did."""
    parts: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        names = ("/dev/null" if old is None else f"a/{path}", "/dev/null" if new is None else f"b/{path}")
        was, now = _text(old), _text(new)
        if was is None or now is None:
            parts.append(f"Binary files {names[0]} and {names[1]} differ\n")
            continue
        lines = difflib.unified_diff(_lines(was), _lines(now), *names)
        parts += [line if line.endswith("\n") else f"{line}\n{NO_NEWLINE}" for line in lines]
        if not old and not new:  # an empty file came or went: there are no lines to show
            parts.append(f"--- {names[0]}\n+++ {names[1]}\n")
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Lines as diff counts them: only a line feed ends one."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])


def _text(content: bytes | None) -> str | None:
    """A file as text; None for one that is not."""
    try:
        return None if b"\0" in (content or b"") else (content or b"").decode()
    except UnicodeDecodeError:
        return None
