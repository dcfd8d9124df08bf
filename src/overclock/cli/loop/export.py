"""`overclock export`: what was translated, as a package of its own."""

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from overclock.cli import output

SCHEMA = "overclock.export/1"


@dataclasses.dataclass
class Export:
    """Write the accepted result of a run as a pip-installable package, with tests of its own and the report about it.

    Once installed, `overclock list` shows it, and make, train, bench and verify take its id. Only a JAX program that
    the judge has accepted is exported, with the contract that it was judged by.

    Examples:
      overclock export fast_cartpole
      overclock export fast_cartpole --project my_cartpole --name fast-cartpole
      overclock export out --run my_cartpole/runs/my_cartpole-20261115-120000 --json
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """Where the package is written; a new or an empty folder."""
    project: Path | None = None
    """Folder of a project; by default those in the current folder."""
    of_run: Annotated[str | None, tyro.conf.arg(name="run")] = None
    """Folder or id of a run; by default the newest one that is done."""
    name: str | None = None
    """Name of the package and, with -v0 behind it, id of the environment; by default the project's name."""
    json: bool = False
    """Print one JSON object (schema overclock.export/1) instead of text."""

    def run(self) -> int:
        """Write the package and print where it lies."""
        from overclock.recipe.export.package import export

        with output.console().status("recording episodes of the reference"):
            written = export(self.folder, self.project, self.of_run, self.name)
        if self.json:
            output.emit({"schema": SCHEMA, **dataclasses.asdict(written)})
            return 0
        levels = ", ".join(map(str, written.levels))
        print(f"{written.id} from {written.reference}, accepted at levels {levels}: {written.folder}")
        print(f"recorded {written.episodes} episodes of the reference, {written.steps:,} steps, for its tests")
        if written.licence is not None:
            print(f"the rules derive from {written.requirement}, which states the licence {written.licence}")
        print(f"next: pip install {self.folder}, then overclock.make('{written.id}')")
        return 0
