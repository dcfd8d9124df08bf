"""The functions that an exported package calls: its twin, and the checks that its tests run.

Its package carries a project's folder (`verification/`), so `overclock verify ID` judges it as it was judged when it
was translated, by levels that it may not have been judged at before as well.
"""

import dataclasses
import functools
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overclock.entry_point import EntryPoint
from overclock.env.environment import Environment
from overclock.env.registry import Spec
from overclock.errors import MissingError
from overclock.recipe.export.episodes import EPISODES, LANES, STEP_LIMIT, Recording, cut, replay
from overclock.recipe.judging.candidate import MAIN
from overclock.recipe.project.project import Project, load_project
from overclock.recipe.project.twin import project_twin
from overclock.verify.contract import Mode, Precision, Twin
from overclock.verify.rollout.actions import random_legal
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.rollout.result import UNIFORM, RolloutResult
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

VERIFICATION = "verification"  # in the package: contract, scenarios, recorded episodes, report
RECORDED = "episodes.npz"
RULES = "rules"  # in the package: the files of a translation that has several
# What the modules of a project's level 1 call of a translation. It may define more of what the base class derives;
# level 2 judges that, as in the loop.
CALLED = frozenset(
    ("default_params", "observation_space", "action_space", "draw_reset", "draw_step", "init", "transition", "observe")
)
DERIVED = frozenset(name for name in vars(Environment) if not name.startswith("_")) - CALLED


def twin_of(package: str) -> Callable[[], Twin]:
    """What `Spec.twin` of an exported package names: a function that builds its twin, whose reference is needed."""
    return functools.partial(_twin_with_reference, package)


def _twin_with_reference(package: str) -> Twin:
    if (sentence := missing_reference(package)) is not None:
        raise MissingError(f"{sentence} Install what brings it, or put its folder on PYTHONPATH.")
    return package_twin(package)


def package_twin(package: str) -> Twin:
    """The reference by the package's contract, and the environment as it is registered."""
    spec, folder = _spec(package), _folder(package)
    project = load_project(folder / VERIFICATION)
    twin = project_twin(project, folder, sandbox="none")
    several = (str(folder / RULES),) if (folder / RULES).is_dir() else ()
    performance = SubjectSpec(EntryPoint.of(ExportedSubject), (("env_id", spec.id),), files=several, kernels=True)
    return dataclasses.replace(twin, name=spec.id, performance=performance)


class ExportedSubject(JaxSubject):
    """A batch of an exported environment; level 1 does not ask for its `make`, nor for what the base class derives."""

    def __init__(self, num_envs: int, env_id: str, **options: Any) -> None:
        super().__init__(num_envs, env_id, **options)
        cls = type(self.rules[0])
        made = f"{cls.__module__.partition('.')[0]}.{MAIN}:make"
        self.entered = (made, *sorted(f"{cls.__module__}:{cls.__name__}.{name}" for name in DERIVED))


def check_episodes(package: str, precision: Precision, mode: Mode, timeout: float = 120.0) -> RolloutResult:
    """Compare an installed environment with the recorded episodes of its reference, which need not be installed."""
    twin = package_twin(package)
    recording = Recording.from_bytes((_folder(package) / VERIFICATION / RECORDED).read_bytes())
    with ProcessSubject(twin.performance_in(precision), recording.lanes, package, timeout) as performance:
        return replay(twin, recording, performance, mode, precision)


def check_beside_reference(package: str, precision: Precision, seed: int = 0, timeout: float = 120.0) -> RolloutResult:
    """Compare an installed environment with its reference itself, step by step, for a few episodes."""
    twin = cut(package_twin(package), STEP_LIMIT)
    return compare_rollouts(twin, EPISODES, "per_step", precision, UNIFORM, random_legal, seed, LANES, timeout)


def precisions_of(package: str) -> list[Precision]:
    """The precisions of its contract."""
    return list(_project(package).contract.precisions)


def missing_reference(package: str) -> str | None:
    """Why the reference cannot be asked here, in a sentence; None if it can."""
    cls = _project(package).reference.cls
    module = cls.partition(":")[0]
    for name in ("gymnasium", module):
        try:
            found = importlib.util.find_spec(name)
        except ImportError:
            found = None
        if found is None:
            return f"The reference {cls} is not here: no module '{name}' can be imported."
    return None


def _project(package: str) -> Project:
    return load_project(_folder(package) / VERIFICATION)


def _spec(package: str) -> Spec:
    return importlib.import_module(package).SPEC


def _folder(package: str) -> Path:
    return Path(str(importlib.import_module(package).__file__)).parent
