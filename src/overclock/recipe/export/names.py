"""Chooses the names of an exported environment: its id, and its Python package."""

import dataclasses
import importlib.util
import keyword
import re
import sys
from collections.abc import Sequence

from overclock.env import registry
from overclock.errors import UnknownEnvironmentError, UsageError

FIRST = 0  # version of an id that nobody gave one
INSTEAD = "_jax"  # put behind a project's name that something else has


@dataclasses.dataclass(frozen=True)
class Names:
    """`id` as `overclock.make` takes it; `package` is imported, and installed under the same name."""

    id: str
    package: str


def names_for(project: str, given: str | None, reserved: Sequence[str] = ()) -> Names:
    """The given name, or the project's, which gives way to one that is taken; `reserved` modules are the reference's.

    Raises UsageError for a name that no package can have, and for a given one that is taken.
    """
    if given is not None:
        return _free(given, reserved)
    plain = re.sub(r"[^a-z0-9_-]+", "_", project.lower())
    try:
        return _free(plain, reserved)
    except UsageError:
        return _free(f"{plain}{INSTEAD}", reserved)


def _free(text: str, reserved: Sequence[str]) -> Names:
    match = registry.ID_PATTERN.fullmatch(text)
    package = "" if match is None else match["name"].replace("-", "_")
    if match is None or keyword.iskeyword(package) or package.endswith("_"):  # pip takes no name that ends like this
        raise UsageError(
            f"A package cannot be called '{text}'; give --name small letters, digits, and hyphens or underscores "
            "between them, such as fast-cartpole."
        )
    names = Names(f"{match['name']}-v{match['version'] or FIRST}", package)
    if (other := _environment(match["name"], package)) is not None:
        raise UsageError(f"There is an environment '{other}' already; choose another name with --name.")
    earlier = registry.GROUP in _groups_of(package)  # the package of an earlier export, which this one replaces
    taken = package in sys.stdlib_module_names or package in reserved
    if taken or (not earlier and _module_exists(package)):
        raise UsageError(f"There is a Python module '{package}' already; choose another name with --name.")
    return names


def _environment(name: str, package: str) -> str | None:
    """The id of an environment of that name, unless the package itself brings it."""
    try:
        found = registry.full_id(name)
        brought = registry.spec(found).entry_point.partition(":")[0].partition(".")[0]
    except (UnknownEnvironmentError, UsageError):  # nobody's, or a package's that is broken
        return None
    return None if brought == package else found


def _groups_of(package: str) -> set[str]:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return {point.group for point in distribution(package).entry_points}
    except PackageNotFoundError:
        return set()


def _module_exists(package: str) -> bool:
    """Whether a module can be imported; a folder without Python files, such as a project's, is none."""
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return True
    return found is not None and found.origin is not None
