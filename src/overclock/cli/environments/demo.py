"""`overclock demo`: the main job in a few minutes: Gymnasium's CartPole in, a verified fast one out, and how fast."""

import dataclasses
from pathlib import Path
from typing import Any

from overclock.bench.tables import rate
from overclock.cli import output
from overclock.cli.loop.options import EXIT_CODES
from overclock.cli.progress import ProgressDisplay
from overclock.results import encode

FOLDER = Path("runs/demo")
SOURCE = "CartPole-v1"


@dataclasses.dataclass
class Demo:
    """Translate CartPole-v1 from the installed Gymnasium, judge it at four levels, time it beside the original.

    The built-in translator does the work: no model, no key. Every run makes a page of its own.

    Examples:
      overclock demo
      overclock demo --levels 1 2 3 --output runs/short-demo
    """

    levels: tuple[int, ...] = (1, 2, 3, 4)
    """Levels to judge by."""
    batch: tuple[int, ...] = (16, 1024, 16384)
    """Batch sizes at which it is timed."""
    output: Path = FOLDER
    """Folder of the project and its runs."""
    json: bool = False
    """Print one JSON object (schema overclock.demo/1) instead of sentences."""

    def run(self) -> int:
        """Translate the original, judge and time the translation, and show the result."""
        from overclock.recipe.loop.context import OptionalSteps, RunOptions
        from overclock.recipe.loop.translate import translate
        from overclock.recipe.project.new import BUILT_IN, new_project
        from overclock.recipe.project.project import FILE, AgentChoice, Changes, load_project
        from overclock.recipe.studies.known_facts import speeds

        folder = self.output / "cartpole"
        program = None
        if (folder / FILE).is_file():
            project = load_project(folder)
        else:
            output.say(f"looking at {SOURCE}")
            made = new_project(folder, SOURCE, "jax", AgentChoice(BUILT_IN))
            project, program = made.project, made.program
        with ProgressDisplay() as progress:
            options = RunOptions(steps=OptionalSteps(optimise=False), say=progress.say, progress=progress)
            ended = translate(project, None, options, Changes(levels=self.levels), program=program)
        timed = []
        if ended.result is not None:
            with output.console().status("timing it beside the original"):
                timed = [speeds(project, ended, batch) for batch in self.batch]
        if self.json:
            output.emit({"schema": "overclock.demo/1", **encode(ended), "speed": timed})
        else:
            self._show(ended, timed)
        return EXIT_CODES[ended.outcome]

    def _show(self, ended: Any, timed: list[Any]) -> None:
        print(f"{ended.outcome}: {ended.sentence}")
        if timed:
            rows = [[f"{one.batch:,}", rate(one.sps), rate(one.original_sps), f"{one.speed_up:,.0f}x"] for one in timed]
            output.table(["batch", "translation, steps/s", "original, steps/s", "speed-up"], rows)
            print(f"source: {ended.result}")
        print(f"page: {ended.page}")
