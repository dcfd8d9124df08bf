"""Performance code with a known change: how bugs are planted and mutants are made, without touching a file on disk."""

import dataclasses
import importlib.util
import linecache
import sys
from collections.abc import Sequence
from types import ModuleType

from overclock.errors import UsageError

_loaded: dict[str, str] = {}  # the sources of changed modules, as they were loaded for good


@dataclasses.dataclass(frozen=True)
class Patch:
    """In the source of `module`, `old` becomes `new`; `old` must stand there exactly once."""

    module: str
    old: str
    new: str

    def apply(self, source: str) -> str:
        """The source with the patch in it; raises UsageError where the text to replace is not there exactly once."""
        if source.count(self.old) != 1:
            raise UsageError(f"'{self.old}' stands {source.count(self.old)} times in {self.module}, expected once.")
        return source.replace(self.old, self.new)


def source_of(module: str) -> tuple[str, str]:
    """Source text and file name of a module that may not be imported yet."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise UsageError(f"The source of {module} was not found.")
    with open(spec.origin, encoding="utf-8") as file:
        return file.read(), spec.origin


def load_changed(module: str, source: str, as_name: str | None = None) -> ModuleType:
    """Execute a changed source as `module` and put it where imports find it (under `as_name`, if given)."""
    _, origin = source_of(module)
    name = as_name or module
    spec = importlib.util.spec_from_loader(name, loader=None, origin=origin)
    assert spec is not None
    changed = importlib.util.module_from_spec(spec)
    changed.__file__ = f"{origin} (changed)"
    changed.__package__ = module.rpartition(".")[0]
    # Tracebacks and inspect.getsource read the changed text, not the file on disk.
    linecache.cache[changed.__file__] = (len(source), None, source.splitlines(keepends=True), changed.__file__)
    sys.modules[name] = changed
    exec(compile(source, changed.__file__, "exec"), changed.__dict__)
    return changed


def load_patched(patches: Sequence[Patch]) -> None:
    """Import modules with their patches applied.

    Refused where one is imported already as it was: others would keep what they took from it, and a bug that is not
    there would be reported as not seen.
    """
    sources: dict[str, str] = {}
    for patch in patches:
        sources[patch.module] = patch.apply(sources.get(patch.module) or source_of(patch.module)[0])
    for module, source in sources.items():
        if module in sys.modules and _loaded.get(module) == source:
            continue
        if module in sys.modules:
            raise UsageError(f"{module} was imported before it could be changed; what imported it would not change.")
        load_changed(module, source)
        _loaded[module] = source
