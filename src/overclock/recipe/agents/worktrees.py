"""Temporary git worktrees of one commit, in which candidates that are made side by side begin.

Git runs before an agent has seen its worktree, and never afterwards: whatever an agent does with git in there, no
hook, filter or setting of it is ever run by us.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from overclock.errors import MissingError, UsageError
from overclock.recipe.runs.work_tree import copy_tree

IDENTITY = {
    "GIT_AUTHOR_NAME": "overclock", "GIT_AUTHOR_EMAIL": "overclock@localhost",
    "GIT_COMMITTER_NAME": "overclock", "GIT_COMMITTER_EMAIL": "overclock@localhost",
}  # fmt: skip
ATTRIBUTES = ".gitattributes"  # would let git write other bytes than it was given


@contextlib.contextmanager
def worktrees(start: Path, place: Path, count: int) -> Iterator[list[Path]]:
    """`count` folders in `place` with the files of `start`, each a git worktree; all of it is gone afterwards."""
    shutil.rmtree(place, ignore_errors=True)  # left by a run that was killed
    repository = place / "start"
    try:
        copy_tree(start, repository)
        for path in list(repository.rglob(ATTRIBUTES)):
            path.unlink()
        _git(repository, "init", "--quiet")
        _git(repository, "add", "--all", "--force", ".")
        _git(repository, "commit", "--quiet", "--allow-empty", "-m", "where every candidate begins")
        folders = [place / str(number) for number in range(1, count + 1)]
        for folder in folders:
            _git(repository, "worktree", "add", "--quiet", "--detach", str(folder))
        yield folders
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _git(folder: Path, *arguments: str) -> None:
    """One git command, undisturbed by the user's settings; UsageError with git's own words where it fails."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": str(folder)}
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, env={**plain, **IDENTITY, **settings}, capture_output=True, text=True,
            errors="replace",
        )  # fmt: skip
    except FileNotFoundError as error:
        raise MissingError("Parallel candidates need git; install it with your system's package manager.") from error
    if done.returncode != 0:
        raise UsageError(f"git {arguments[0]} failed in '{folder}': {done.stderr.strip() or done.stdout.strip()}")
