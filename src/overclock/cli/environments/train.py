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
      overclock train cartpole --devices 8 --precision bf16
      overclock train pong --options frameskip=8 --network gru --millions 2 --precision bf16
      overclock train cartpole --coordinator 10.0.0.1:12345 --hosts 2 --host 0    (and --host 1 on the other)
    """

    env: EnvId
    """Id of the environment, for example cartpole."""
    options: tuple[str, ...] = ()
    """Static options of the environment, frameskip=8 for example."""
    seed: int = 0
    """The first seed."""
    seeds: int = 1
    """How many seeds to train side by side: --seed, --seed + 1, ..."""
    steps: int | None = None
    """Environment steps per seed; by default what the environment's tuned configuration says."""
    network: Literal["mlp", "gru"] = "mlp"
    """gru remembers earlier observations of the episode."""
    millions: float | None = None
    """Parameters of the network, in millions; by default what the environment's tuned configuration says."""
    precision: Literal["float32", "bf16"] = "float32"
    """bf16 rounds the factors of the products between hidden layers; everything else stays float32."""
    devices: int | None = None
    """How many devices share the lanes; by default one, and with --hosts all of every host."""
    coordinator: str | None = None
    """With --hosts: name:port of the first host, reachable by the others, in a network you trust."""
    hosts: int = 1
    """How many hosts train together; each runs this command with its own --host."""
    host: int = 0
    """The number of this one, from 0; the first one writes the files."""
    wait: int = 300
    """Seconds that hosts wait for each other at the beginning."""
    measured_peak: bool = False
    """Take a large product measured here as the peak behind MFU, instead of the device's data sheet."""
    output: Path | None = None
    """Folder for the policies, the curve and the checkpoint; by default runs/train-ENV-seedN."""
    resume: bool = False
    """Continue the run in the output folder."""
    force: bool = False
    """Replace the run in the output folder."""
    json: bool = False
    """Print one JSON object (schema overclock.train/1) instead of a table."""

    def run(self) -> int:
        """Train as the options say, and print the report."""
        from overclock.env.registry import make, parse_options, spec
        from overclock.errors import UsageError
        from overclock.train.command import train_and_report
        from overclock.train.configs import tuned
        from overclock.train.networks.sizes import sized

        if self.seeds < 1:
            raise UsageError(f"--seeds must be at least 1, got {self.seeds}.")
        if self.resume and self.force:
            raise UsageError("--resume continues a run and --force replaces it; choose one.")
        self._check_hosts()
        env_id = spec(self.env).id
        folder = self.output or Path("runs") / f"train-{env_id}-seed{self.seed}"
        changes: dict[str, Any] = {"network": self.network, "precision": self.precision}
        if self.steps is not None:
            changes["total_steps"] = self.steps
        if self.millions is not None:
            changes |= sized(self.network, self.millions)
        static = parse_options(self.options)
        make(env_id, **static)  # wrong ones are told before anything is said or removed
        config = tuned(env_id, **changes)
        if self.host == 0:
            self._prepare(folder)
        whole = config.num_updates * config.steps_per_update
        if self.steps is not None and whole != self.steps:
            each = f"an update takes {config.steps_per_update:,} steps"
            print(f"--steps {self.steps:,} becomes {whole:,}: {each}, and a run has whole updates.", file=sys.stderr)
        seeds = range(self.seed, self.seed + self.seeds)
        with contextlib.ExitStack() as around:
            devices = self._connect(around) if self.hosts > 1 else self.devices
            progress = around.enter_context(_progress(config.total_steps, self.host))
            report = train_and_report(
                env_id, config, seeds, folder, self.resume, progress, devices, self.measured_peak, static
            )
        if self.host > 0:
            return 0 if report.finished else EXIT_INTERRUPTED
        if self.json:
            output.emit(report)
        elif report.finished:
            show(report)
        if not report.finished:
            output.console().print(
                f"Stopped after {report.steps:,} steps; the same command with --resume continues.", markup=False
            )
            return EXIT_INTERRUPTED
        return 0

    def _check_hosts(self) -> None:
        """See that the options about hosts go together."""
        from overclock.errors import UsageError

        if self.hosts == 1 and (self.coordinator is not None or self.host != 0):
            raise UsageError("--coordinator and --host belong to --hosts N, with N of at least 2.")
        if self.hosts != 1 and self.coordinator is None:
            raise UsageError("--hosts needs --coordinator name:port, the first host's.")
        if self.hosts != 1 and self.devices is not None:
            raise UsageError("--hosts takes all devices of every host; leave --devices out.")

    def _prepare(self, folder: Path) -> None:
        """Make sure of a folder that a run can take or continue."""
        from overclock.errors import UsageError
        from overclock.train.command import clear
        from overclock.train.run_folder import CHECKPOINT, SETTINGS

        if self.force:
            clear(folder)
        elif not self.resume and ((folder / SETTINGS).exists() or (folder / CHECKPOINT).exists()):
            raise UsageError(
                f"'{folder}' holds a training run: --resume continues it, --force replaces it, --output chooses "
                "another folder."
            )

    def _connect(self, around: contextlib.ExitStack) -> list[Any]:
        """Join the other hosts; the devices of all."""
        import jax

        from overclock.train.distributed.hosts import clean_stdout, connect

        assert self.coordinator is not None
        around.enter_context(clean_stdout())
        connect(self.coordinator, self.hosts, self.host, self.wait)
        return jax.devices()


def show(report: Any) -> None:
    """A line per seed, and where the files are."""
    rows = []
    for entry in report.seeds:
        found = entry.evaluation
        spread = f"{found.return_mean:.1f} ± {found.return_std:.1f}"
        rows.append([str(entry.seed), spread, f"{found.return_min:.1f}", entry.policy])
    output.table(["seed", "return", "worst episode", "policy"], rows, title=f"{report.env}, 100 episodes per seed")
    where = report.device if report.devices == 1 else f"{report.devices} x {report.device}"
    print(
        f"{report.steps:,} steps per seed in {report.seconds:.1f} s on {where} "
        f"(and {report.compile_seconds:.1f} s to compile); curves: {report.output}/curve.json"
    )
    lost = [entry.evaluation.overflowed or 0 for entry in report.seeds]
    if report.overflowed_steps or any(lost):
        print(
            f"WARNING: room ran out in {report.overflowed_steps or 0:,} steps of training and {sum(lost):,} episodes "
            "of evaluation; their numbers are not the reference's (docs/translator.md, Capacities)."
        )
    used = "" if report.mfu is None else f", MFU {report.mfu:.1%} of the {report.peak_source} peak"
    print(f"{report.steps_per_second:,.0f} steps/s with {report.parameters:,} parameters{used}")


@contextlib.contextmanager
def _progress(total: int, host: int) -> Iterator[Callable[[Any], None] | None]:
    """A bar on stderr with the mean return so far and the speed; in a log or a pipe a line for every quarter.

    Of several hosts only the first one tells.
    """
    if host > 0:
        yield None
        return
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
    used = "" if progress.speed.mfu is None else f", MFU {progress.speed.mfu:.1%}"
    return f"{seen}, {progress.speed.steps_per_second:,.0f} steps/s{used}"
