"""A training run as people meet it: progress, checkpoints, resuming, Ctrl-C, several seeds at once.

    run = train(make_train(env, params, config), seeds=[0, 1, 2], folder="runs/cartpole")

Updates run on the device in chunks of about half a second; between chunks the host looks at the curve, saves, and
notices Ctrl-C. One compiled program serves every chunk length, so how a run was cut up, interrupted or resumed
leaves no trace in its numbers.
"""

import contextlib
import dataclasses
import functools
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from overclock.env.struct import Struct
from overclock.errors import UsageError
from overclock.train.curve import Curve
from overclock.train.files import read_json, write_json
from overclock.train.policy import Policy
from overclock.train.ppo import PPOConfig, Trainer, TrainState
from overclock.vector.snapshot import load_state, save_state

SCHEMA = "overclock.train.run/1"
SETTINGS, CHECKPOINT = "run.json", "checkpoint.safetensors"
CHUNK_SECONDS = 0.5  # how long the device works between two looks from the host


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A run that has ended or was stopped."""

    trainer: Trainer
    seeds: tuple[int, ...]
    state: TrainState
    """Of every seed, along a leading axis."""
    curve: Curve
    compile_seconds: float
    finished: bool
    """False where Ctrl-C (or `stop_after`) ended it early."""

    def policy(self, index: int = 0) -> Policy:
        """What the seed at this index learned."""
        return Policy(self.trainer.agent, jax.tree.map(lambda leaf: leaf[index], self.state.learner.params))


@dataclasses.dataclass(frozen=True, eq=False)
class Progress:
    """Where a run stands; handed to the progress callback after every chunk."""

    update: int
    num_updates: int
    curve: Curve

    @property
    def steps_per_second(self) -> float:
        """Environment steps per second, summed over the seeds, since the beginning."""
        seeds = self.curve.metrics["return"].shape[1]
        return float(self.curve.steps[-1]) * seeds / max(float(self.curve.seconds[-1]), 1e-9)


class Checkpoint(Struct):
    """All of a run: its state, and the curve's arrays, which have their full length from the beginning."""

    state: TrainState
    update: Int[Array, ""]
    metrics: dict[str, Float[Array, "updates seeds"]]
    seconds: Float[np.ndarray, " updates"]


def train(
    trainer: Trainer,
    seeds: Sequence[int] = (0,),
    *,
    folder: str | Path | None = None,
    checkpoint_every: int = 100,
    resume: bool = False,
    stop_after: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Train every seed, side by side.

    With a `folder`, a checkpoint is written before the first update, every `checkpoint_every` updates and at the end;
    `resume` continues from it, bit for bit. Ctrl-C lets the running chunk finish, saves and returns; a second one stops
    at once. `stop_after` ends the run after that many updates in all, as Ctrl-C would.
    """
    seeds = _checked_seeds(seeds)
    if checkpoint_every < 1:
        raise UsageError(f"checkpoint_every must be at least 1, got {checkpoint_every}.")
    folder = None if folder is None else Path(folder)
    if resume and folder is None:
        raise UsageError("Resuming needs the folder of the run.")
    end = trainer.config.num_updates if stop_after is None else min(stop_after, trainer.config.num_updates)
    if folder is not None:
        _check(folder, describe(trainer, seeds), resume)

    started = time.perf_counter()
    point = _begin(trainer, seeds)
    if folder is not None:
        if resume:
            point = load_state(folder / CHECKPOINT, point)
        else:  # from here on the run can be resumed, whatever stops it
            write_json(folder / SETTINGS, describe(trainer, seeds))
            _save(folder, point, 0)
    if int(point.update) < end:  # no update yet: this compiles, and is not part of the curve's seconds
        jax.block_until_ready(_advance(trainer, point, jnp.int32(0)))
    compile_seconds = time.perf_counter() - started

    with _interrupts() as interrupted:
        update, saved, chunk = int(point.update), int(point.update), 1
        while update < end and not interrupted.is_set():
            until = min(update + chunk, end, saved + checkpoint_every)
            point, elapsed = _timed(trainer, point, update, until)
            chunk = max(1, int((until - update) * CHUNK_SECONDS / max(elapsed, 1e-6)))
            update = until
            if update == saved + checkpoint_every:
                saved = _save(folder, point, update)
            if progress is not None:
                progress(Progress(update, trainer.config.num_updates, _curve(trainer.config, point)))
        if update > saved:
            _save(folder, point, update)
    finished = update == trainer.config.num_updates
    return Run(trainer, seeds, point.state, _curve(trainer.config, point), compile_seconds, finished)


def describe(trainer: Trainer, seeds: Sequence[int]) -> dict[str, Any]:
    """What must be equal for a run to be continued."""
    return {
        "schema": SCHEMA,
        "env": repr(trainer.env),
        "params": repr(trainer.params),
        "config": dataclasses.asdict(trainer.config),
        "seeds": list(seeds),
    }


def _begin(trainer: Trainer, seeds: tuple[int, ...]) -> Checkpoint:
    keys = jnp.stack([jax.random.key(seed) for seed in seeds])
    state = _init(trainer, keys)
    _, metrics = jax.eval_shape(jax.vmap(trainer.update), state)
    updates = trainer.config.num_updates
    return Checkpoint(
        state=state,
        update=jnp.int32(0),
        metrics={name: jnp.full((updates, len(seeds)), jnp.nan, jnp.float32) for name in metrics},
        seconds=np.full(updates, np.nan, np.float32),
    )


@functools.partial(jax.jit, static_argnames="trainer")
def _init(trainer: Trainer, keys: Any) -> TrainState:
    return jax.vmap(trainer.init)(keys)


@functools.partial(jax.jit, static_argnames="trainer")
def _advance(trainer: Trainer, point: Checkpoint, until: Int[Array, ""]) -> Checkpoint:
    """Updates up to number `until`, on the device."""

    def one(point: Checkpoint) -> Checkpoint:
        state, metrics = jax.vmap(trainer.update)(point.state)
        noted = {name: point.metrics[name].at[point.update].set(value) for name, value in metrics.items()}
        return point.replace(state=state, update=point.update + 1, metrics=noted)

    return jax.lax.while_loop(lambda point: point.update < until, one, point)


def _timed(trainer: Trainer, point: Checkpoint, update: int, until: int) -> tuple[Checkpoint, float]:
    """One chunk; its seconds are shared out evenly among its updates."""
    seconds = np.array(point.seconds)
    before = float(seconds[update - 1]) if update else 0.0
    started = time.perf_counter()
    point = jax.block_until_ready(_advance(trainer, point, jnp.int32(until)))
    elapsed = time.perf_counter() - started
    seconds[update:until] = before + elapsed * np.arange(1, until - update + 1) / (until - update)
    return point.replace(seconds=seconds), elapsed


def _save(folder: Path | None, point: Checkpoint, update: int) -> int:
    if folder is not None:
        save_state(folder / CHECKPOINT, point)
    return update


def _curve(config: PPOConfig, point: Checkpoint) -> Curve:
    done = int(point.update)
    return Curve(
        steps=np.arange(1, done + 1, dtype=np.int64) * config.steps_per_update,
        seconds=np.asarray(point.seconds, np.float64)[:done],
        metrics={name: np.asarray(values)[:done] for name, values in point.metrics.items()},
    )


def _check(folder: Path, settings: dict[str, Any], resume: bool) -> None:
    """See that the folder is free, or that it holds this run."""
    if not resume:
        if (folder / SETTINGS).exists() or (folder / CHECKPOINT).exists():
            raise UsageError(
                f"'{folder}' holds a training run; resume it (--resume), replace it (--force), or choose another place."
            )
        return
    before = read_json(folder / SETTINGS, "training run")
    settings = json.loads(json.dumps(settings))
    old, new = ({**run, **run.get("config", {})} for run in (before, settings))
    for name in sorted(new.keys() - {"config"}):
        if old.get(name) != new[name]:
            raise UsageError(
                f"The run in '{folder}' has {name} = {old.get(name)}, not {new[name]}; "
                "a run can only be resumed as it was begun."
            )
    if not (folder / CHECKPOINT).exists():
        raise UsageError(f"The run in '{folder}' has lost its checkpoint; start it anew (--force), or elsewhere.")


def _checked_seeds(seeds: Sequence[int]) -> tuple[int, ...]:
    numbers = tuple(int(seed) for seed in seeds)
    if not numbers or len(set(numbers)) < len(numbers) or not all(0 <= seed < 1 << 32 for seed in numbers):
        raise UsageError(f"Seeds must be different whole numbers from 0 to 2**32 - 1, at least one; got {numbers}.")
    return numbers


@contextlib.contextmanager
def _interrupts() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets; the second Ctrl-C interrupts as usual."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event  # only the main thread receives signals
        return
    usual = signal.getsignal(signal.SIGINT)

    def note(*_: Any) -> None:
        event.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, usual)
