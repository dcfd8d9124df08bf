"""`overclock bench`: how fast is it, here, beside whom?"""

import dataclasses
import json as json_format
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from overclock.bench.config import BenchConfig
from overclock.cli.output import PIPED_WIDTH, console, emit
from overclock.errors import UsageError

if TYPE_CHECKING:
    from overclock.bench.results import Report

INSTEAD = ("breakdown", "training", "compare_resets")  # what can be measured instead of throughput


@dataclasses.dataclass
class Bench(BenchConfig):
    """Measure environment steps per second, alone or beside other libraries in the same run.

    Random actions and automatic resets are inside the measurement; compiling is not, and is reported apart.

    Examples:
      overclock bench cartpole
      overclock bench cartpole --batch 1024 65536 --peers gymnasium,gymnax,envpool --plot cartpole.png
      overclock bench cartpole --batch 65536 --device gpu --json
      overclock bench pong --options frameskip=8 --peers pufferlib
      overclock bench pong --options frameskip=8 --breakdown --batch 4096 --plot breakdown.png
      overclock bench cartpole --training --batch 65536 --peers purejaxrl
      overclock bench --compare-resets --batch 4096
    """

    env: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")] = "cartpole"
    """Id of the environment, for example cartpole."""
    breakdown: bool = False
    """Measure where the time of training goes instead: environment, inference, update, transfer; the first --batch
    is the number of lanes."""
    training: bool = False
    """Measure PPO instead, in float32 and in bf16: steps per second with everything that is learned from them; --batch
    are numbers of lanes."""
    compare_resets: bool = False
    """Measure the reset strategies instead, on a synthetic environment with an expensive reset."""
    json: bool = False
    """Print one JSON object (schema overclock.bench/1, or .breakdown/1, .training/1, .resets/1) instead of a table."""

    def run(self) -> int:
        """Measure, write the files that were asked for, print."""
        asked = [name for name in INSTEAD if getattr(self, name)]
        words = [f"--{name.replace('_', '-')}" for name in asked]
        if len(words) > 1:
            raise UsageError(f"{' and '.join(words)} are different measurements; ask for one of them.")
        if self.plot is not None and asked and asked != ["breakdown"]:
            raise UsageError(f"--plot draws throughput against batch; leave it out with {words[0]}.")
        with console().status("starting JAX") as status:
            report = self._measure(status.update)
        self._write(report)
        if self.json:
            emit(report)
        else:
            show(report)
        return 0

    def _measure(self, progress: Any) -> "Report":
        from overclock import bench

        measures = {
            "breakdown": bench.measure_breakdown,
            "training": bench.measure_training,
            "compare_resets": bench.measure_resets,
        }
        measure = next((measures[name] for name in INSTEAD if getattr(self, name)), bench.measure)
        return measure(self, progress)

    def _write(self, report: Any) -> None:
        from overclock.bench.kept import keep
        from overclock.files import finite, write_whole
        from overclock.results import encode

        if not any(getattr(self, name) for name in INSTEAD):
            keep(report)
        if self.output is not None:
            text = json_format.dumps(finite(encode(report)), indent=2, allow_nan=False)
            write_whole(self.output, (text + "\n").encode())
        if self.plot is not None:
            from overclock.bench import plot, plot_breakdown

            (plot_breakdown if self.breakdown else plot)(report, self.plot)


def show(report: "Report") -> None:
    """The report as a table for people, with what cannot be seen from its numbers."""
    from rich.console import Console

    from overclock.bench.tables import notes, table, title

    stdout = Console(highlight=False)
    stdout = stdout if stdout.is_terminal else Console(highlight=False, width=PIPED_WIDTH)
    stdout.print(title(report), style="bold", markup=False)
    stdout.print(table(report))
    for note in notes(report):
        stdout.print(note, markup=False, soft_wrap=True)
    stdout.print(f"repeat: {report.command}", markup=False, soft_wrap=True)
