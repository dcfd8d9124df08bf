"""Where a twin comes from: a registered id, the entry point of a function that builds it, a folder with a twin.py."""

import dataclasses
import importlib
import os
import sys
from pathlib import Path

from overclock.entry_point import EntryPoint
from overclock.env import registry
from overclock.errors import MissingError, UsageError
from overclock.verify.contract import Twin
from overclock.verify.sides.apart import PATIENCE_S, call_apart
from overclock.verify.sides.subject import SubjectSpec

FILE = "twin.py"


@dataclasses.dataclass(frozen=True)
class Found:
    """A twin and how to find it again; `spec` is its registered environment, None where it was not found by an id."""

    target: str
    twin: Twin
    spec: registry.Spec | None = None


def find_twin(target: str) -> Found:
    """The twin behind an id, 'package.module:function' or a folder, or one sentence on why there is none.

    Its reference is made ready, where that takes more than to import it.
    """
    if is_folder(target):
        found = Found(str(Path(target).resolve()), _of_folder(Path(target)))
    elif ":" in target:
        found = Found(target, _found_here(_loaded(target, target)))
    else:
        found = _registered(target)
    if found.twin.prepare is not None:
        EntryPoint.of(found.twin.prepare).call()
    return found


def require_loadable(target: str, patience: float = PATIENCE_S) -> None:
    """Load a folder's or a user's own twin in a process of its own first, where it may end or crash.

    Raises what `find_twin` raises, and ReferenceEndedError.
    """
    if is_folder(target) or ":" in target:
        call_apart(_try_to_load, target, of=f"The twin '{target}'", patience=patience)


def _try_to_load(target: str) -> None:
    find_twin(target)


def is_folder(target: str) -> bool:
    """Whether a target is a folder rather than an id: it has a separator, or is a folder with a twin.py."""
    return "/" in target or os.sep in target or (Path(target) / FILE).is_file()


def _registered(target: str) -> Found:
    spec = registry.spec(target)
    if spec.twin is None:
        raise UsageError(f"{spec.id} has no reference to be compared with.")
    try:
        return Found(spec.id, registry.load(spec.twin)(), spec)
    except ModuleNotFoundError as error:
        raise MissingError(
            f"The reference of {spec.id} needs the package '{error.name}': pip install 'overclock[gymnasium]'."
        ) from error


def _of_folder(folder: Path) -> Twin:
    """`twin()` of the folder's twin.py; both sides find the folder's modules as that file does."""
    if not (folder / FILE).is_file():
        raise UsageError(f"'{folder}' is no folder with a {FILE}, whose function twin() builds the two sides.")
    path = str(folder.resolve())
    if path not in sys.path:
        sys.path.insert(0, path)
    loaded = sys.modules.get("twin")
    if loaded is not None and Path(str(loaded.__file__)).parent != folder.resolve():
        del sys.modules["twin"]
    importlib.invalidate_caches()
    twin = _loaded("twin:twin", str(folder))
    return dataclasses.replace(
        twin, reference=_finding(twin.reference, path), performance=_finding(twin.performance, path)
    )


def _found_here(twin: Twin) -> Twin:
    """Both sides look in the current folder where this process does, which `python -m overclock` makes it do."""
    here = str(Path.cwd())
    if here not in (str(Path(place).resolve()) for place in sys.path):
        return twin
    return dataclasses.replace(
        twin, reference=_finding(twin.reference, here), performance=_finding(twin.performance, here)
    )


def _loaded(entry_point: str, target: str) -> Twin:
    try:
        twin = registry.load(entry_point)()
    except (ImportError, AttributeError, SyntaxError, TypeError) as error:
        raise UsageError(f"The twin '{target}' cannot be loaded: {error}.") from error
    if not isinstance(twin, Twin):
        raise UsageError(f"'{target}' returns a {type(twin).__name__}, not an overclock.verify Twin.")
    return twin


def _finding(spec: SubjectSpec, path: str) -> SubjectSpec:
    known = dict(spec.environment).get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    return spec.with_environment(PYTHONPATH=os.pathsep.join(filter(None, (path, known))))
