"""Bubblewrap: a file system that holds nothing but what was granted, and new namespaces for everything else."""

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from overclock.recipe.sandbox.base import Sandbox, limits_of, own_program
from overclock.recipe.sandbox.landlock import system_calls_work
from overclock.recipe.sandbox.places import python_places, system_places
from overclock.recipe.sandbox.plan import Plan
from overclock.recipe.sandbox.rights import Rights

PROBE_TIMEOUT_S = 20.0
TEMPORARY, HOME = "/tmp", "/tmp/home"
HIDDEN = str(Path(__file__).with_name("hidden.txt"))
EMPTY_BYTES = "65536"  # the smallest storage that holds the mount point of one file on every page size
APART = ("--unshare-user", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
# Only with it can no further user namespace be made inside; older versions of bubblewrap do not know it.
NO_NESTING = "--disable-userns"
SENTENCE = (
    "bubblewrap: sees only the files it was granted, has no network unless granted, no capabilities, none of our "
    "environment, none of our processes; memory, processor time, processes, file sizes and temporary storage are "
    "limited, and nothing survives its end. It does not hold back attacks on the Linux kernel itself."
)

FILTERED = (
    " It has no keyrings, no files in memory, and no socket families but Unix and IP; a candidate opens no sockets."
)
UNFILTERED = " Keyrings, io_uring and unusual socket families are reachable: no filter of system calls works here."


@dataclasses.dataclass(frozen=True)
class Bubblewrap(Sandbox):
    """A sandbox made by the program `bwrap` with these flags."""

    program: str
    flags: tuple[str, ...]
    filtered: bool

    def _inside(self, argv: list[str], rights: Rights) -> list[str]:
        if rights.network != "socket":
            return argv
        return [*own_program("overclock.recipe.sandbox.forward"), str(rights.port), str(rights.socket), *argv]

    def _environment(self, rights: Rights) -> dict[str, str]:
        return {"HOME": HOME, "TMPDIR": TEMPORARY, **rights.environment}

    def _plan(self, rights: Rights, variables: list[str]) -> Plan:
        prefix = [self.program, *self.flags, *_mounts(rights), "--"]
        calls = "bubblewrap" if self.filtered else "all"
        return Plan(variables, prefix=prefix, system_calls=calls, **limits_of(rights))


def find() -> tuple[Bubblewrap | None, str]:
    """The sandbox, or None if it does not work on this machine, and what was found."""
    program = shutil.which("bwrap")
    if program is None:
        return None, "bwrap is not installed"
    complaint = ""
    for flags in ((*APART, NO_NESTING), APART):
        works, complaint = _runs([program, *flags, "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"])
        if works:
            sentence = SENTENCE if NO_NESTING in flags else f"{SENTENCE} It may make user namespaces of its own."
            filtered = system_calls_work()
            sentence += FILTERED if filtered else UNFILTERED
            found = f"{program}, {'with' if filtered else 'without'} a filter of system calls"
            return Bubblewrap("bubblewrap", "bubblewrap", sentence, program, flags, filtered), found
    return None, f"{program} does not work here: {complaint}"


def _runs(command: list[str]) -> tuple[bool, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, str(error)
    return done.returncode == 0, done.stderr.strip()


def _mounts(rights: Rights) -> list[str]:
    """The arguments that build the file system, outer folders first: a deeper mount overrides the one around it."""
    storage = ["--size", str(rights.file_bytes), "--tmpfs"]
    arguments = ["--share-net"] if rights.network is True else []
    for place in system_places():
        if place.is_symlink():
            arguments += ["--symlink", os.readlink(place), str(place)]
        else:
            arguments += ["--ro-bind", str(place), str(place)]
    arguments += ["--proc", "/proc", "--dev", "/dev", *storage, "/dev/shm", "--remount-ro", "/dev"]
    arguments += [*storage, TEMPORARY, "--dir", HOME]
    granted = dict.fromkeys(rights.read, "--ro-bind")
    if rights.network == "socket" and rights.socket is not None:  # Python and Overclock start the way to it
        granted |= dict.fromkeys((*python_places(), rights.socket), "--ro-bind")
    granted |= dict.fromkeys(rights.write, "--bind")
    real = {path.resolve(): kind for path, kind in granted.items()}
    hidden = {path for path in rights.hidden if _within(path, [*real, *system_places()])}
    for path in sorted({*real, *hidden}, key=lambda path: len(path.parts)):
        arguments += _hide(path) if path in hidden else [real[path], str(path), str(path)]
    # Never a second mount under another name: what is hidden under the one would be seen under the other.
    for path in granted:
        if not _within(path.parent.resolve() / path.name, [*real, *system_places()]):
            arguments += ["--symlink", str(path.resolve()), str(path)]
    return [*arguments, "--remount-ro", "/", "--chdir", str(rights.folder or HOME)]


def _within(path: Path, places: Iterable[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _hide(path: Path) -> list[str]:
    """Mount a file that raises an ImportError in place of `path`: an empty folder would be a package to Python."""
    if not path.is_dir():
        return ["--ro-bind", HIDDEN, str(path)]
    place = str(path)
    return [
        "--size", EMPTY_BYTES, "--tmpfs", place, "--ro-bind", HIDDEN, f"{place}/__init__.py", "--remount-ro", place,
    ]  # fmt: skip
