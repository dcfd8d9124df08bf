"""`overclock train`: PPO on an environment."""

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from overclock.cli import output
from overclock.cli.arguments import EnvId

EXIT_INTERRUPTED = 130


@dataclasses.dataclass
class Train:
    """Train a policy with PPO, evaluate it on 100 episodes, and write it with its learning curve.

    Ctrl-C finishes the update, saves and leaves with exit code 130; --resume then continues, bit for bit.

    Examples:
      overclock train cartpole
      overclock train cartpole --seeds 10 --output runs/cartpole-10 --json
      overclock train cartpole --network gru --steps 500000
    """

    env: EnvId
    """Id of the environment, for example cartpole."""
    seed: int = 0
    """The first seed."""
    seeds: int = 1
    """How many seeds to train side by side: --seed, --seed + 1, ..."""
    steps: int | None = None
    """Environment steps per seed; by default what the environment's tuned configuration says."""
    network: Literal["mlp", "gru"] = "mlp"
    """gru remembers earlier observations of the episode."""
    output: Path | None = None
    """Folder for the policies, the curve and the checkpoint; by default runs/train-ENV-seedN."""
    resume: bool = False
    """Continue the run in the output folder."""
    force: bool = False
    """Replace the run in the output folder."""
    json: bool = False
    """Print one JSON object (schema overclock.train/1) instead of a table."""

    def run(self) -> int:
        """Train and print."""
        from overclock.env.registry import spec
        from overclock.errors import UsageError
        from overclock.train.command import clear, train_and_report
        from overclock.train.configs import tuned
        from overclock.train.loop import CHECKPOINT, SETTINGS

        if self.seeds < 1:
            raise UsageError(f"--seeds must be at least 1, got {self.seeds}.")
        if self.resume and self.force:
            raise UsageError("--resume continues a run and --force replaces it; choose one.")
        env_id = spec(self.env).id
        folder = self.output or Path("runs") / f"train-{env_id}-seed{self.seed}"
        changes: dict[str, Any] = {"network": self.network}
        if self.steps is not None:
            changes["total_steps"] = self.steps
        config = tuned(env_id, **changes)
        if self.force:
            clear(folder)
        elif not self.resume and ((folder / SETTINGS).exists() or (folder / CHECKPOINT).exists()):
            raise UsageError(
                f"'{folder}' holds a training run: --resume continues it, --force replaces it, --output chooses "
                "another folder."
            )
        whole = config.num_updates * config.steps_per_update
        if self.steps is not None and whole != self.steps:
            each = f"an update takes {config.steps_per_update:,} steps"
            print(f"--steps {self.steps:,} becomes {whole:,}: {each}, and a run has whole updates.", file=sys.stderr)
        seeds = range(self.seed, self.seed + self.seeds)
        with _progress(config.total_steps) as progress:
            report = train_and_report(env_id, config, seeds, folder, self.resume, progress)
        if self.json:
            output.emit(report)
        elif report["finished"]:
            show(report)
        if not report["finished"]:
            output.console().print(
                f"Stopped after {report['steps']:,} steps; the same command with --resume continues.", markup=False
            )
            return EXIT_INTERRUPTED
        return 0


def show(report: dict[str, Any]) -> None:
    """A line per seed, and where the files are."""
    rows = []
    for entry in report["seeds"]:
        found = entry["evaluation"]
        spread = f"{found['return_mean']:.1f} ± {found['return_std']:.1f}"
        rows.append([str(entry["seed"]), spread, f"{found['return_min']:.1f}", entry["policy"]])
    output.table(["seed", "return", "worst episode", "policy"], rows, title=f"{report['env']}, 100 episodes per seed")
    print(
        f"{report['steps']:,} steps per seed in {report['seconds']:.1f} s on {report['device']} "
        f"(and {report['compile_seconds']:.1f} s to compile); curves: {report['output']}/curve.json"
    )


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[Any], None]]:
    """A bar on stderr with the mean return so far and the speed; in a log or a pipe a line for every quarter."""
    if not output.console().is_interactive:
        yield _quarters(total)
        return
    import rich.progress as bars

    columns = (bars.TextColumn("{task.description}"), bars.BarColumn(), bars.TextColumn("{task.fields[facts]}"))
    with bars.Progress(*columns, bars.TimeRemainingColumn(), console=output.console(), transient=True) as shown:
        task = shown.add_task("compiling", total=total, facts="")

        def update(progress: Any) -> None:
            shown.update(task, description="training", completed=int(progress.curve.steps[-1]), facts=_facts(progress))

        yield update


def _quarters(total: int) -> Callable[[Any], None]:
    told = 0

    def update(progress: Any) -> None:
        nonlocal told
        done = int(progress.curve.steps[-1])
        if done * 4 // total > told:
            told = done * 4 // total
            print(f"{done:,} steps: {_facts(progress)}", file=sys.stderr, flush=True)

    return update


def _facts(progress: Any) -> str:
    """The mean return of the seeds so far, and the speed."""
    seeds = progress.curve.metrics["return"].shape[1]
    returns = [progress.curve.recent_return(index) for index in range(seeds)]
    known = [value for value in returns if value is not None]
    seen = f"return {sum(known) / len(known):.1f}" if known else "no episode yet"
    return f"{seen}, {progress.steps_per_second:,.0f} steps/s"
