"""Modules that were renamed: imports of the old public names keep working.

Exported packages, repros and level-1 test files of earlier versions name these modules. Each old name becomes the same
module object as the new one, so that a class is never there twice.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED: Mapping[str, str] = {
    "overclock.env.kernel": "overclock.env.environment",
    "overclock.gameboy.assembler": "overclock.gameboy.assembly.assembler",
    "overclock.gameboy.pyboy_game": "overclock.gameboy.pyboy.game",
    "overclock.gameboy.symbols": "overclock.gameboy.assembly.symbols",
    "overclock.recipe.candidate": "overclock.recipe.judging.candidate",
    "overclock.recipe.candidate_mutants": "overclock.recipe.studies.candidate_mutants",
    "overclock.recipe.speed": "overclock.recipe.judging.speed",
    "overclock.recipe.translate": "overclock.recipe.loop.translate",
    "overclock.recipe.hygiene": "overclock.recipe.judging.hygiene",
    "overclock.recipe.rust": "overclock.recipe.judging.rust",
    "overclock.recipe.survey.loading": "overclock.recipe.survey.live.loading",
    "overclock.recipe.export_twin": "overclock.recipe.export.twin",
    "overclock.train.host_training": "overclock.train.host.training",
    "overclock.train.hosts": "overclock.train.distributed.hosts",
    "overclock.train.towers": "overclock.train.networks.towers",
    "overclock.translate.jax_file": "overclock.translate.jax.file",
    "overclock.translate.rust_file": "overclock.translate.rust.file",
    "overclock.verify.actions": "overclock.verify.rollout.actions",
    "overclock.verify.distribution": "overclock.verify.property.distribution",
    "overclock.verify.gymnasium_reference": "overclock.verify.sides.gymnasium_reference",
    "overclock.verify.module": "overclock.verify.property.module",
    "overclock.verify.module_compare": "overclock.verify.property.compare",
    "overclock.verify.module_runner": "overclock.verify.property.runner",
    "overclock.verify.patched": "overclock.verify.sides.patched",
    "overclock.verify.performance": "overclock.verify.sides.jax_subject",
    "overclock.verify.process": "overclock.verify.sides.process",
    "overclock.verify.replay": "overclock.verify.repro.replay",
    "overclock.verify.repro_files": "overclock.verify.repro.files",
    "overclock.verify.selfcheck": "overclock.verify.sides.selfcheck",
    "overclock.verify.shrink": "overclock.verify.repro.shrink",
    "overclock.verify.subject": "overclock.verify.sides.subject",
    "overclock.verify.transfer_plan": "overclock.verify.transfer.plan",
    "overclock.verify.transfer_training": "overclock.verify.transfer.training",
}


def moved_to(name: str) -> str | None:
    """The new name of a module that was moved, alone or with its package; None for any other."""
    package, dot, rest = name, "", ""
    while package not in MOVED:
        package, dot, last = package.rpartition(".")
        if not dot:
            return None
        rest = f".{last}{rest}"
    return MOVED[package] + rest


class _Moved(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if moved_to(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(moved_to(spec.name) or spec.name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the old name's in its place


def redirect_moved_modules() -> None:
    """Make the old names importable; called once, when the package is imported."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
