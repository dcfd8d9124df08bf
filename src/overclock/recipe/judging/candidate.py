"""A candidate: a folder of Python files whose env.py has `make() -> (env, params)`, as the performance side of a twin.

Only ever imported in a worker process, never by the grader. The folder becomes a package with a private name: nothing
is added to sys.path, compiled files are neither read nor written, and `import physics` finds a file of the folder only
in code of that folder.
"""

import builtins
import dataclasses
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from overclock.env.environment import Environment, Params
from overclock.errors import UsageError
from overclock.recipe.judging.as_used import program as as_used
from overclock.recipe.judging.hygiene.programs import digest
from overclock.recipe.judging.one_lane import one_lane
from overclock.recipe.judging.plain_process import forget_who_asks
from overclock.recipe.judging.speed import Stepper
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.subject import SubjectSpec

MAIN = "env"  # the module of the folder that has `make`
PREFIX = "overclock_candidate_"
# Whatever is translated, these hold translations of it, or of something like it; they are hidden from every candidate.
ANSWERS = ("envpool", "gymnax", "overclock_native", "overclock.recipe.redteam")


def answers() -> tuple[str, ...]:
    """Packages in which a candidate could look things up: those, and the environments that come with Overclock."""
    ours = importlib.import_module("overclock.envs").__path__
    return (*ANSWERS, *(f"overclock.envs.{found.name}" for found in pkgutil.iter_modules(ours)))


def candidate_spec(folder: Path, **options: Any) -> SubjectSpec:
    """The spec of a candidate's subject; `options` are further arguments of `CandidateSubject`."""
    place = str(folder.resolve())
    return dataclasses.replace(SubjectSpec.of(CandidateSubject, folder=place, **options), files=(place,))


class CandidateSubject(JaxSubject):
    """A batch of what a candidate's `make()` returns."""

    def __init__(
        self,
        num_envs: int,
        folder: str,
        patches: list[dict[str, str]] | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        """`patches` plant known bugs in the candidate's modules, named as in its folder; `params` override numbers."""
        forget_who_asks()
        env, defaults = made_by(Path(folder), [Patch(**patch) for patch in patches or []])
        self.entered = (f"{type(env).__module__.partition('.')[0]}.{MAIN}:make",)
        self.made = env  # itself, whose rules are not traced for one lane first
        self._begin(num_envs, one_lane(env, {}), defaults.replace(**(params or {})))
        self._stepper = Stepper(*self.rules)

    def describe(self) -> dict[str, Any]:
        """As `Subject.describe`; `run` lets the same worker be timed that is judged."""
        known = super().describe()
        return {**known, "calls": [*known["calls"], "run", "timed", "shown", "replayed", "known", "play", "traces"]}

    def known(self) -> dict[str, Any]:
        """As a user's program says it (as_used/program.py), to be compared with that."""
        return as_used.known(self.made, self.rules[1])

    def play(self, seed: int, batches: list[int]) -> dict[str, Any]:
        """As a user's program plays it, by the program of one lane."""
        return as_used.play(*self.rules, seed, batches)

    def traces(self) -> dict[str, str]:
        """As a user's program traces it."""
        return as_used.traces(self.made, self.rules[1], digest)

    def run(self, batch: int, steps: int) -> float:
        """As `Stepper.run`, of lanes that nothing else uses."""
        return self._stepper.run(batch, steps)

    def timed(self) -> list[int]:
        """As `Stepper.timed` of the same lanes."""
        return self._stepper.timed()

    def shown(self, batch: int, lanes: list[int]) -> dict[str, Any]:
        """As `Stepper.shown` of the same lanes."""
        return self._stepper.shown(batch, lanes)

    def replayed(self, state: dict[str, Any]) -> dict[str, Any]:
        """As `Stepper.replayed`, in a batch of their own."""
        return self._stepper.replayed(state)


def load_candidate(folder: Path) -> tuple[Environment[Any, Any], Any]:
    """The environment of a candidate, as it is judged, and its parameters: its rules are traced for one lane."""
    env, params = made_by(folder)
    return one_lane(env), params


def made_by(folder: Path, patches: Sequence[Patch] = ()) -> tuple[Environment[Any, Any], Any]:
    """Import a candidate (once per process) and call its `make`."""
    if not (folder / f"{MAIN}.py").is_file():
        raise UsageError(f"'{folder}' is no candidate: it has no {MAIN}.py.")
    package = _package(folder.resolve(), patches)
    module = importlib.import_module(f"{package}.{MAIN}")
    if not callable(getattr(module, "make", None)):
        raise UsageError(f"The candidate's {MAIN}.py defines no function make() that returns (env, params).")
    made = module.make()
    if not (isinstance(made, tuple) and len(made) == 2):
        raise UsageError(f"The candidate's make() must return (env, params), it returned a {type(made).__name__}.")
    env, params = made
    for value, wanted in ((env, Environment), (params, Params)):
        if not isinstance(value, wanted):
            raise UsageError(
                f"The candidate's make() returned a {type(value).__name__} where {wanted.__name__} belongs."
            )
    return env, params


def package_of(folder: Path) -> str:
    """The private name of the package that a candidate is, as it was frozen."""
    return _package(folder.resolve(), ())


def load_module(folder: Path, name: str) -> ModuleType:
    """Import one module of a candidate."""
    if not (folder / f"{name}.py").is_file():
        raise UsageError(f"The candidate has no {name}.py.")
    return importlib.import_module(f"{package_of(folder)}.{name}")


def _package(folder: Path, patches: Sequence[Patch]) -> str:
    """The private name under which imports find the folder's modules."""
    changes = json.dumps([str(folder), *([patch.module, patch.old, patch.new] for patch in patches)])
    name = PREFIX + hashlib.sha256(changes.encode()).hexdigest()[:16]
    if name not in sys.modules:
        sys.meta_path.insert(0, _Finder(name, folder, patches))
        importlib.import_module(name)
    return name


class _Finder(importlib.abc.MetaPathFinder):
    """Serves the names below one private package, and no others."""

    def __init__(self, package: str, folder: Path, patches: Sequence[Patch]) -> None:
        self._package, self._folder, self._patches = package, folder, patches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname == self._package:  # a folder without __init__.py is a package, too
            spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(self._folder)]
            return spec
        if not fullname.startswith(f"{self._package}."):
            return None
        inner = fullname.removeprefix(f"{self._package}.")
        place = self._folder.joinpath(*inner.split("."))
        patches = [patch for patch in self._patches if patch.module == inner]
        for file, locations in ((place.with_suffix(".py"), None), (place / "__init__.py", [str(place)])):
            if file.is_file():
                loader = _Loader(fullname, str(file), self._package, self._folder, patches)
                return importlib.util.spec_from_file_location(
                    fullname, file, loader=loader, submodule_search_locations=locations
                )
        return None


class _Loader(importlib.abc.SourceLoader):
    """Runs a file's source, patched, with an `import` that knows the files beside it.

    It tells nothing about the file's age (`path_stats`), so Python looks for no compiled file.
    """

    def __init__(self, name: str, file: str, package: str, folder: Path, patches: Sequence[Patch]) -> None:
        self._name, self._file, self._package, self._folder = name, file, package, folder
        self._patches = patches

    def get_filename(self, fullname: str) -> str:
        return self._file

    def get_data(self, path: str) -> bytes:
        source = Path(path).read_text(encoding="utf-8")
        for patch in self._patches:
            source = patch.apply(source)
        return source.encode()

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        super().exec_module(module)

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
    ) -> ModuleType:
        first = name.partition(".")[0]
        if level or not self._has(first):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = importlib.import_module(f"{self._package}.{name}")
        return module if fromlist else sys.modules[f"{self._package}.{first}"]

    def _has(self, name: str) -> bool:
        return (self._folder / f"{name}.py").is_file() or (self._folder / name).is_dir()
