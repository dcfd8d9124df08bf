"""What each reset strategy costs where resets are expensive, relative to the same steps without any reset."""

import jax

from overclock.bench import machine
from overclock.bench.config import BenchConfig
from overclock.bench.expensive import ExpensiveReset
from overclock.bench.ours import strategy, xla_runner
from overclock.bench.report import Announce, header, operations, silent, time_runners, unroll_on
from overclock.bench.results import ResetComparison, ResetRow
from overclock.bench.runners import JaxRunner
from overclock.vector import vectorize

SCHEMA = "overclock.bench.resets/1"
NONE = "none"  # auto-reset off: lanes run on past their end
RATIO = 16  # of Optimistic: room for eight times the ends of an average step of ExpensiveReset (1 lane in 128)
POOL = 1024
STEP = "One step is one action applied to one member of the batch, with the restart of its episode where one ended."


def measure_resets(config: BenchConfig, progress: Announce | None = None) -> ResetComparison:
    """Time every strategy at the largest batch of the configuration."""
    config.refuse_unused("compare-resets")
    config.validate()
    device, batch = machine.find_device(config.device), max(config.batch)
    env, strategies = ExpensiveReset(), (NONE, "fresh", f"optimistic:{min(RATIO, batch)}", f"pool:{POOL}")
    params = env.default_params()
    unroll = unroll_on(config, device, batch, operations(vectorize(env, batch), params))
    with machine.cold_compiler(), jax.default_device(device):
        runners = [
            xla_runner(
                vectorize(env, batch, "off") if name == NONE else vectorize(env, batch, resets=strategy(name)),
                params, device.platform, config.seed, unroll, config.store, name,
            )
            for name in strategies
        ]  # fmt: skip
        timed = time_runners(runners, config, batch, device, progress or silent)
    without = timed[0].sps.median
    rows = [
        row.row(ResetRow, strategy=name, cost=without / row.sps.median, shared_share=shared_share(name, runner))
        for name, runner, row in zip(strategies, runners, timed, strict=True)
    ]
    return ResetComparison(
        schema=SCHEMA, **header(config, device, "--compare-resets"), environment=f"ExpensiveReset(work={env.work})",
        batch=batch, step=STEP, results=rows,
    )  # fmt: skip


def shared_share(name: str, runner: JaxRunner) -> float | None:
    """The part of all finished episodes whose lane had to take another lane's new episode (0 for `fresh`).

    None where there is no such number: without resets, and for a pool, whose lanes all take stored episodes.
    """
    if not name.startswith(("fresh", "optimistic")):
        return None
    return int(runner.state.store.shared) / runner.episodes if runner.episodes else 0.0
