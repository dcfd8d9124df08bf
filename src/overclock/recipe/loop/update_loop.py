"""A run that starts from a verified candidate and translates again only the modules that changed (update.py)."""

import dataclasses
import difflib
from collections.abc import Iterator
from pathlib import Path

from overclock.recipe.loop.briefing import Briefing, module_file, source_text
from overclock.recipe.loop.context import RunContext
from overclock.recipe.loop.loop import Goal, Loop
from overclock.recipe.project.project import ModulePlan

WORKFLOW = "update"
START = "verified"  # the event that says what the run starts from


def sources_folder(run: Path) -> Path:
    """Where the texts and the contract that a verified run was made from are kept, once its project has moved on."""
    return run / "made_from"


@dataclasses.dataclass(frozen=True)
class UpdateBriefing(Briefing):
    """Translating again: the same facts, and what changed in the source. `before` has the earlier texts."""

    before: Path = Path()

    def translate(self, task: str, module: ModulePlan) -> str:
        """A module whose source changed, or a new one."""
        earlier = module_file(self.before, module.name)
        if not earlier.is_file():
            return super().translate(task, module)
        before, now = earlier.read_text(encoding="utf-8"), source_text(self.project, module)
        lines = difflib.unified_diff(before.splitlines(keepends=True), now.splitlines(keepends=True), "before", "now")
        changes = "".join(lines)
        more = self._render("update", task, output=self.output(module), changes=changes)
        return f"{super().translate(task, module)}\n{more.partition(chr(10))[2]}"  # one line names the task


class UpdateLoop(Loop):
    """`again`: the modules that are translated; what lies in the run's candidate/ at its start is verified."""

    def __init__(self, again: tuple[str, ...], context: RunContext) -> None:
        super().__init__(context)
        self._again = again

    def goals(self) -> Iterator[Goal]:
        """The ordinary phases, from the verified candidate on."""
        self.go_on_with(self.session.freeze(START))
        yield from super().goals()

    def translate_module(self, module: ModulePlan, part: str | None = None) -> None:
        """Ask for a translation where the module is one of those that are translated again."""
        if module.name in self._again:
            super().translate_module(module, part)
