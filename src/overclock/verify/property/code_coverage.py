"""Which code ran: functions by a profile hook, lines and branches by coverage.py.

Both sides of a comparison measure themselves in their own process. Numbers are given for functions only (a module's
top level always runs), and lines that draw pictures are left out: no comparison looks at them.
"""

import contextlib
import importlib
import json
import os
import sys
import tempfile
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from overclock.errors import MissingError
from overclock.verify.property.result import Coverage, Share
from overclock.verify.property.targets import Place, exported

RENDERING = r"\brender"  # an `if self.render_mode == ...:` leaves out its whole block


class FunctionsRun:
    """Notices which of the watched functions run; whatever calls them, traced by JAX or not.

    `files` (module -> file) have all their functions watched by name, those too that a decorator hides from a look at
    the module.
    """

    def __init__(self, places: Iterable[Place], files: Mapping[str, str] = types.MappingProxyType({})) -> None:
        self._watched = {place.plain.__code__: place.name for place in places}
        self._modules = {file: module for module, file in files.items()}

    @contextlib.contextmanager
    def watching(self) -> Iterator[set[str]]:
        """Inside, the given set collects the names of the functions that run."""
        ran: set[str] = set()

        def notice(frame: types.FrameType, event: str, _: Any) -> None:
            if event != "call":
                return
            if frame.f_code in self._watched:
                ran.add(self._watched[frame.f_code])
            if (module := self._modules.get(frame.f_code.co_filename)) is not None:
                ran.add(f"{module}:{frame.f_code.co_qualname}")

        before = sys.getprofile()
        sys.setprofile(notice)
        try:
            yield ran
        finally:
            sys.setprofile(before)


def modules_behind(cls: type) -> list[types.ModuleType]:
    """The module of a class and those of the same package that it uses: where an environment's rules are written."""
    package = cls.__module__.rpartition(".")[0]
    found, waiting = {}, [cls.__module__]
    while waiting:
        name = waiting.pop()
        if name in found or name not in sys.modules:
            continue
        found[name] = sys.modules[name]
        for value in vars(sys.modules[name]).values():
            used = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            if package and isinstance(used, str) and used.startswith(f"{package}."):
                waiting.append(used)
    return list(found.values())


def exported_functions(modules: Iterable[types.ModuleType]) -> list[Place]:
    """Every public function of these modules."""
    return [place for module in modules for place in exported(module)]


class CodeCoverage:
    """Line and branch coverage of the functions of some modules, while it is started."""

    def __init__(self, modules: Collection[str]) -> None:
        try:
            import coverage
        except ModuleNotFoundError as error:
            raise MissingError(
                "Level 1 measures code coverage, which needs coverage.py: pip install 'overclock[report]'."
            ) from error
        files = {name: os.path.realpath(str(importlib.import_module(name).__file__)) for name in modules}
        self._names = {file: f"{name.replace('.', '/')}.py" for name, file in files.items() if os.path.isfile(file)}
        # A module with a planted bug was never a file: its lines cannot be looked up.
        self._unmeasured = sorted(name for name, file in files.items() if not os.path.isfile(file))
        # Coverage.py would take an empty list of files for all of them.
        include = list(self._names) or [os.devnull]
        self._coverage = coverage.Coverage(data_file=None, branch=True, config_file=False, include=include)
        self._coverage.exclude(RENDERING)

    def start(self) -> None:
        """Begin to measure; code that is running already is not seen."""
        self._coverage.start()

    def report(self, functions: Collection[str] | None = None) -> Coverage:
        """Stop, and say what ran: of the named functions ('package.module:Class.method'), or of all."""
        self._coverage.stop()
        chosen = None if functions is None else {_region(name) for name in functions}
        total = {"lines": [0, 0], "branches": [0, 0]}
        missing: dict[str, list[str]] = {"lines": [], "branches": []}
        measured = []
        for file, name in self._names.items():
            for function, region in self._regions(file).items():
                if not function or (chosen is not None and (name, function) not in chosen):
                    continue
                summary = region["summary"]
                measured.append(f"{name}:{function}")
                _add(total["lines"], summary["covered_lines"], summary["num_statements"])
                _add(total["branches"], summary["covered_branches"], summary["num_branches"])
                missing["lines"] += [f"{name}:{line}" for line in region["missing_lines"]]
                missing["branches"] += [f"{name}:{a} -> {_target(b)}" for a, b in region["missing_branches"]]
        return Coverage(
            lines=_share(*total["lines"]),
            branches=_share(*total["branches"]),
            missing_lines=missing["lines"],
            missing_branches=missing["branches"],
            functions=measured,
            unmeasured=self._unmeasured,
        )

    def _regions(self, file: str) -> dict[str, Any]:
        """Functions of a file with their executed and missing lines, from coverage.py's own report."""
        from coverage.exceptions import NoDataError

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "coverage.json")
            try:
                self._coverage.json_report(morfs=[file], outfile=path)
            except NoDataError:
                return {}
            with open(path, encoding="utf-8") as report:
                (entry,) = json.load(report)["files"].values()
        return entry["functions"]


def _region(function: str) -> tuple[str, str]:
    module, _, path = function.partition(":")
    return f"{module.replace('.', '/')}.py", path


def _add(counts: list[int], covered: int, of: int) -> None:
    counts[0] += covered
    counts[1] += of


def _share(covered: int, of: int) -> Share:
    return Share(covered, of, round(100.0 * covered / of, 1) if of else None)


def _target(line: int) -> str:
    return "exit" if line < 0 else str(line)
