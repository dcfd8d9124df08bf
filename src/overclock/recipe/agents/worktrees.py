"""Temporary git worktrees of a candidate repository, and the few git commands that parallel candidates need.

An agent may have written anything into its worktree, so git is told where its own files are (a `.git` planted there is
not believed), and runs no hook and no helper program.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from overclock.errors import MissingError, UsageError

SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0",
    "-c", "protocol.allow=never", "-c", "core.autocrlf=false",
)  # fmt: skip
IDENTITY = {
    "GIT_AUTHOR_NAME": "overclock", "GIT_AUTHOR_EMAIL": "overclock@localhost",
    "GIT_COMMITTER_NAME": "overclock", "GIT_COMMITTER_EMAIL": "overclock@localhost",
}  # fmt: skip


class Worktree:
    """One worktree: `folder` holds its files, `metadata` what git knows about it."""

    def __init__(self, folder: Path, metadata: Path) -> None:
        self.folder, self.metadata = folder, metadata

    def freeze(self, base: str, message: str) -> str:
        """Commit the files as they are, directly on top of `base`, whatever the agent did with git; returns the commit.

        The folder then holds exactly what was committed, so that what is judged is what is merged.
        """
        self._git("add", "--all", ".")
        commit = self._git("commit-tree", self._git("write-tree"), "-p", base, "-m", message)
        self._git("reset", "--quiet", "--hard", commit)
        self._git("clean", "-ffdxq")
        return commit

    def _git(self, *arguments: str) -> str:
        return git(self.folder, *arguments, GIT_DIR=str(self.metadata), GIT_WORK_TREE=str(self.folder))


@contextlib.contextmanager
def worktrees(repository: Path, count: int) -> Iterator[list[Worktree]]:
    """`count` worktrees of the repository's last commit; they are gone afterwards, whatever happens."""
    # Beside the repository: on the same disk, and outside of what its own agents see.
    place = Path(tempfile.mkdtemp(prefix=".candidates-", dir=repository.resolve().parent))
    try:
        yield [_add(repository, place / str(number)) for number in range(count)]
    finally:
        shutil.rmtree(place, ignore_errors=True)
        git(repository, "worktree", "prune", "--expire", "now")


def base_of(repository: Path) -> str:
    """The last commit of a repository without uncommitted changes; worktrees would not have those."""
    if git(repository, "status", "--porcelain"):
        raise UsageError(f"The candidate folder '{repository}' has uncommitted changes; commit them first.")
    return git(repository, "rev-parse", "HEAD")


def advance(repository: Path, commit: str) -> None:
    """Move the repository's own work tree forward to a commit on top of its last one."""
    git(repository, "merge", "--quiet", "--ff-only", commit)


def _add(repository: Path, folder: Path) -> Worktree:
    git(repository, "worktree", "add", "--quiet", "--detach", str(folder), "HEAD")
    return Worktree(folder, Path(git(folder, "rev-parse", "--absolute-git-dir")))


def git(folder: Path, *arguments: str, **variables: str) -> str:
    """One git command, undisturbed by the user's settings; UsageError with git's own words where it fails."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**plain, **IDENTITY, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **variables}
    try:
        done = subprocess.run(
            ["git", *SAFE, *arguments], cwd=folder, env=environment, capture_output=True, text=True, errors="replace"
        )
    except FileNotFoundError as error:
        raise MissingError("Parallel candidates need git; install it with your system's package manager.") from error
    if done.returncode != 0:
        raise UsageError(f"git {arguments[0]} failed in '{folder}': {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout.strip()
