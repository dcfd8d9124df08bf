"""`measure`: run the implementations side by side and report what happened. The method is in docs/benchmarks.md."""

import datetime
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
from jax.extend.core import jaxprs_in_params

from overclock.bench import machine
from overclock.bench.config import CUDA, NATIVE, NATIVE_PLAY, OURS, PUFFERLIB, BenchConfig, C
from overclock.bench.emulators import emulator_runners
from overclock.bench.kernels import kernel_runner
from overclock.bench.loops import pufferlib_runner, rust_runner
from overclock.bench.machine import Device
from overclock.bench.ours import native_runner, random_actions, strategy, xla_runner
from overclock.bench.peers import counterpart, envpool_runner, gymnasium_runners, gymnax_runner
from overclock.bench.physics_peers import brax_runners, mjx_runners, mujoco_runner, warp_runners
from overclock.bench.results import Measured, Ratio, Row, Skip, Speeds, Throughput, Timed
from overclock.bench.runners import Runner
from overclock.env import registry
from overclock.env.rng import Rng
from overclock.errors import MissingError
from overclock.vector import UnsupportedError, VectorEnv, vectorize

SCHEMA = "overclock.bench/1"
STEP = (
    "One step is one action applied to one member of the batch (one transition of the rules), with the restart of "
    "its episode when it ended; steps per second (sps) are summed over the batch."
)
UNROLL_ON_GPU = 16  # hides the loop's launches; on an H200 8 gave half as much, 32 less and 26 s of compiling
MOST_UNROLLED = 3600  # operations of an unrolled loop: XLA compiled 3,720 of Pong in 14 s, 7,440 in 25 s
LARGE_BATCH = 1 << 19  # from here on one step fills a GPU, and unrolling (measured there) only costs
SECONDS_ON_CPU, SECONDS_ON_GPU = 0.2, 0.5  # of a timed call; a GPU's clocks and queues make short calls uneven
STORED_SHARE = 8  # stored steps take at most this part of the device's memory
STORED_BYTES = 512 << 20  # or this much, where the device does not tell its memory

Announce = Callable[[str], None]
"""Told what begins now, in words."""
Built = tuple[list[Runner], list[Skip]]
"""What can be measured, and what cannot."""


def measure(config: BenchConfig, progress: Announce | None = None) -> Throughput:
    """Measure one environment at every batch, beside its peers."""
    config.refuse_unused("throughput")
    config.validate()
    device = machine.find_device(config.device)
    entry = registry.spec(config.env)
    for peer in config.peer_names():
        counterpart(entry.id, peer)
    measured, skipped = at_every_batch(
        config, device, progress, lambda batch: build_runners(config, entry.id, batch, device)
    )
    results = [one.row(Row) for one in measured]
    return Throughput(
        schema=SCHEMA, **header(config, device), environment=entry.id, step=STEP, results=results,
        ratios=ratios(results), skipped=skipped,
    )  # fmt: skip


def at_every_batch(
    config: BenchConfig,
    device: Device,
    progress: Announce | None,
    build: Callable[[int], Built],
) -> tuple[list[Measured], list[Skip]]:
    """Time what `build` makes for each batch of the configuration, with a cold compiler; what was left out, once."""
    measured: list[Measured] = []
    skipped: list[Skip] = []
    with machine.cold_compiler(), jax.default_device(device):
        for batch in config.batch:
            runners, missing = build(batch)
            skipped += [skip for skip in missing if skip not in skipped]
            measured += time_runners(runners, config, batch, device, progress or silent)
    return measured, skipped


def header(config: BenchConfig, device: Device, measurement: str = "") -> dict[str, Any]:
    """When, where, and how to repeat it: fields that every report has; `measurement` is the option that asks for it."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(filter(None, (config.command(), measurement))),
        "seed": config.seed,
        "machine": machine.describe(device),
    }


def unroll_on(config: BenchConfig, device: Device, batch: int, operations: int) -> int:
    """The configured unroll, or the one that is good on the device: XLA's CPU fusions recompute unrolled work.

    Rules with many operations get less of it, for the sake of whoever waits for the compiler.
    """
    if config.unroll or device.platform == "cpu" or batch >= LARGE_BATCH:
        return config.unroll or 1
    fitting = max(1, MOST_UNROLLED // max(operations, 1))
    return min(UNROLL_ON_GPU, 1 << (fitting.bit_length() - 1))


def operations(venv: VectorEnv, params: Any) -> int:
    """How many operations a step with a random action has, those of its branches and loops counted once."""

    def step(state: Any) -> Any:
        return venv.step(state, venv.sample_actions(state, params), params)

    def count(program: Any) -> int:
        inner = [jaxpr for equation in program.eqns for jaxpr in jaxprs_in_params(equation.params)]
        return len(program.eqns) + sum(map(count, inner))

    _, state = jax.eval_shape(lambda: venv.reset(Rng.of(0), params))
    return count(jax.make_jaxpr(step)(state).jaxpr)


def seconds_on(config: BenchConfig, device: Device) -> float:
    """The configured least length of a timed call, or the device's."""
    return config.min_seconds or (SECONDS_ON_CPU if device.platform == "cpu" else SECONDS_ON_GPU)


def build_runners(config: BenchConfig, env_id: str, batch: int, device: Device) -> Built:
    """Everything that is measured at one batch, and what cannot be measured here, with the reason."""
    static = config.static()
    if registry.spec(env_id).rules_in_rust:
        wanted = emulator_runners(env_id, config.peer_names(), batch, static, config.seed, config.store)
        return built(wanted)
    env, params = registry.make(env_id, **static)
    venv = vectorize(env, batch, resets=strategy(config.resets))
    unroll = unroll_on(config, device, batch, operations(venv, params))
    seed, store, peers = config.seed, config.store, config.peer_names()
    actions = random_actions(env, params, batch, seed)
    runners: list[Runner] = [xla_runner(venv, params, device.platform, seed, unroll, store)]

    def on_kernel() -> list[Runner]:
        backend = "c" if device.platform == "cpu" else "cuda"
        kernel = vectorize(env, batch, backend=backend)
        return [kernel_runner(C if backend == "c" else CUDA, kernel, params, device.platform, seed, store)]

    others: dict[str, Callable[[], list[Runner]]] = {
        "gymnax": lambda: [gymnax_runner(env_id, batch, device.platform, seed, unroll, store)],
        "gymnasium": lambda: gymnasium_runners(env_id, batch, actions, seed, store),
        "envpool": lambda: [envpool_runner(env_id, batch, actions, seed, store)],
        PUFFERLIB: lambda: [pufferlib_runner(batch, static)],
        "mujoco": lambda: [mujoco_runner(env_id, batch, actions, seed, store)],
        "mjx": lambda: mjx_runners(env_id, batch, device.platform, seed, store),
        "warp": lambda: warp_runners(env_id, batch, device.platform, seed, store),
        "brax": lambda: brax_runners(env_id, batch, device.platform, seed, store),
    }
    ours: dict[str, Callable[[], list[Runner]]] = {}
    if config.resets == "fresh":
        ours[C if device.platform == "cpu" else CUDA] = on_kernel
    if registry.spec(env_id).native is not None:
        ours[NATIVE] = lambda: [native_runner(env_id, batch, actions, seed, store, static)]
        if not store:
            ours[NATIVE_PLAY] = lambda: [rust_runner(env_id, batch, seed, static)]
    made, skipped = built({**ours, **{name: others[name] for name in peers}})
    return runners + made, skipped


def built(wanted: dict[str, Callable[[], list[Runner]]]) -> Built:
    """What can be made here, and why not where it cannot; installed but broken is said in the report, not hidden."""
    runners: list[Runner] = []
    skipped: list[Skip] = []
    for name, build in wanted.items():
        try:
            runners += build()
        except (MissingError, ImportError, UnsupportedError) as error:
            skipped.append(Skip(name, str(error)))
    return runners, skipped


def time_runners(
    runners: Iterable[Runner], config: BenchConfig, batch: int, device: Device, progress: Announce
) -> list[Measured]:
    """Compile and warm up every implementation, then time them in turn."""
    prepared = []
    for runner in runners:
        progress(f"{runner.identity.name} at batch {batch:,}: compiling and warming up")
        steps = choose_steps(runner, config, device)
        compile_seconds = runner.prepare(steps)
        for _ in range(config.warmup):
            runner.call()
        prepared.append((runner, steps, compile_seconds, []))
    for repeat in range(config.repeats):
        progress(f"batch {batch:,}: timed call {repeat + 1} of {config.repeats}")
        for runner, _, _, seconds in prepared:
            began = time.perf_counter()
            runner.call()
            seconds.append(time.perf_counter() - began)
    return [
        measured(runner, batch, steps, compile_seconds, seconds, config, device)
        for runner, steps, compile_seconds, seconds in prepared
    ]


def choose_steps(runner: Runner, config: BenchConfig, device: Device) -> int:
    """The configured steps per call, or as many as last long enough and, when stored, fit into memory."""
    if config.steps is not None:
        return config.steps
    steps = runner.plan(seconds_on(config, device))
    per_step = runner.stored_bytes()
    if per_step == 0:
        return steps
    limit = (device.memory_stats() or {}).get("bytes_limit", STORED_BYTES * STORED_SHARE) // STORED_SHARE
    fitting = max(1, (limit if runner.identity.platform == device.platform else STORED_BYTES) // per_step)
    return min(steps, max(runner.unroll or 1, 1 << (fitting.bit_length() - 1)))


def measured(
    runner: Runner,
    batch: int,
    steps: int,
    compile_seconds: float | None,
    seconds: list[float],
    config: BenchConfig,
    device: Device,
) -> Measured:
    """One implementation at one batch, from the seconds of its timed calls."""
    identity = runner.identity
    return Measured(
        implementation=identity.name,
        version=identity.version,
        platform=identity.platform,
        batch=batch,
        run_batch=identity.batch,
        sps=summary([steps * identity.batch / s for s in seconds]),
        steps_per_call=steps,
        unroll=runner.unroll,
        warmup_calls=config.warmup,
        compile_seconds=compile_seconds,
        stored=config.store,
        random_actions=runner.actions,
        autoreset=identity.autoreset,
        note=identity.note,
        facts=runner.facts(),
        memory=machine.peak_memory(device),
    )


def summary(samples: list[float]) -> Speeds:
    """Median, extremes and spread of the repeats."""
    median, lowest, highest = statistics.median(samples), min(samples), max(samples)
    return Speeds(median, lowest, highest, (highest - lowest) / median, len(samples), samples)


def ratios(results: Sequence[Timed]) -> list[Ratio]:
    """Ours over each peer at the same batch.

    A peer that ran at a smaller batch than the one asked for has none: speeds at different batches do not compare.
    """
    found = []
    for ours in (row for row in results if row.implementation in OURS):
        for peer in results:
            if peer.implementation in OURS or {peer.batch, peer.run_batch} != {ours.batch}:
                continue
            pairs = [a / b for a, b in zip(ours.sps.samples, peer.sps.samples, strict=True)]
            ratio = ours.sps.median / peer.sps.median
            found.append(Ratio(ours.implementation, peer.implementation, ours.batch, ratio, min(pairs), max(pairs)))
    return found


def silent(_: str) -> None:
    """The progress of a caller who wants none."""
