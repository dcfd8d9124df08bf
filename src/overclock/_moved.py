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
    "overclock.gameboy.symbols": "overclock.gameboy.assembly.symbols",
    "overclock.recipe.candidate": "overclock.recipe.judging.candidate",
    "overclock.recipe.hygiene": "overclock.recipe.judging.hygiene",
    "overclock.recipe.rust": "overclock.recipe.judging.rust",
    "overclock.recipe.survey.loading": "overclock.recipe.survey.live.loading",
    "overclock.recipe.export_twin": "overclock.recipe.export.twin",
    "overclock.train.host_training": "overclock.train.host.training",
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
    "overclock.verify.shrink": "overclock.verify.repro.shrink",
    "overclock.verify.subject": "overclock.verify.sides.subject",
    "overclock.verify.transfer_plan": "overclock.verify.transfer.plan",
}


class _Moved(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(MOVED[spec.name])
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put the old name's in its place


def redirect_moved_modules() -> None:
    """Make the old names importable; called once, when the package is imported."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
