"""A training run as people meet it: progress, checkpoints, resuming, Ctrl-C, several seeds at once.

    run = train(make_train(env, params, config), seeds=[0, 1, 2], folder="runs/cartpole")

Updates run on the device in chunks of about half a second; between chunks the host looks at the curve, saves, and
notices Ctrl-C. Within a chunk nothing is transferred, and the state is changed in place. One compiled program serves
every chunk length, so how a run was cut up, interrupted or resumed leaves no trace in its numbers.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from overclock.env.struct import Struct
from overclock.errors import UsageError
from overclock.train.curve import Curve
from overclock.train.distributed import hosts
from overclock.train.files import write_json
from overclock.train.interrupts import interrupts
from overclock.train.networks.flops import Speed, speed
from overclock.train.networks.peak import known_peak
from overclock.train.policy import Policy
from overclock.train.ppo import PPOConfig, Trainer, TrainState
from overclock.train.run_folder import CHECKPOINT, SETTINGS, check_free_or_same, checked_seeds, describe
from overclock.vector.snapshot import load_state, save_state

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
    speed: Speed
    """Steps per second and MFU, compiling left out."""

    def policy(self, index: int = 0) -> Policy:
        """What the seed at this index learned, on one device."""
        params = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)[index]), self.state.learner.params)
        return Policy(self.trainer.agent, params)


@dataclasses.dataclass(frozen=True, eq=False)
class Progress:
    """Where a run stands; handed to the progress callback after every chunk."""

    update: int
    num_updates: int
    curve: Curve
    speed: Speed
    """Since the beginning."""


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
    peak: float | None = None,
) -> Run:
    """Train every seed, side by side.

    With a `folder`, a checkpoint is written before the first update, every `checkpoint_every` updates and at the end;
    `resume` continues from it, bit for bit. Ctrl-C lets the running chunk finish, saves and returns; a second one stops
    at once. `stop_after` ends the run after that many updates in all, as Ctrl-C would. `peak` is the FLOP/s of one
    device that MFU is a share of, by default what is known of it. On several hosts only the first one writes.
    """
    seeds = checked_seeds(seeds)
    if checkpoint_every < 1:
        raise UsageError(f"checkpoint_every must be at least 1, got {checkpoint_every}.")
    folder = None if folder is None else Path(folder)
    if resume and folder is None:
        raise UsageError("Resuming needs the folder of the run.")
    config = trainer.config
    end = config.num_updates if stop_after is None else min(stop_after, config.num_updates)
    if folder is not None:
        hosts.on_first(lambda: check_free_or_same(folder, describe(trainer, seeds), resume))
    peak = known_peak(trainer.layout.device, config.precision) if peak is None else peak
    peak = None if peak is None else peak * trainer.layout.count

    started = time.perf_counter()
    point = _begin(trainer, seeds)
    if folder is not None:
        if resume:
            point = _loaded(trainer, folder, point)
        else:  # from here on the run can be resumed, whatever stops it
            hosts.on_first(lambda: write_json(folder / SETTINGS, describe(trainer, seeds)))
            _save(trainer, folder, point, 0)
    if int(point.update) < end:  # no update yet: this compiles, and is not part of the curve's seconds
        point = jax.block_until_ready(_advanced(trainer, point, int(point.update)))
    compile_seconds = time.perf_counter() - started

    with interrupts() as interrupted:
        update, saved, chunk = int(point.update), int(point.update), 1
        while update < end:
            chunk, stopped = hosts.agree(chunk, interrupted.is_set())
            if stopped:
                break
            until = min(update + chunk, end, saved + checkpoint_every)
            point, elapsed = _timed(trainer, point, update, until)
            chunk = max(1, int((until - update) * CHUNK_SECONDS / max(elapsed, 1e-6)))
            update = until
            if update == saved + checkpoint_every:
                saved = _save(trainer, folder, point, update)
            if progress is not None:
                curve = _curve(config, point)
                progress(Progress(update, config.num_updates, curve, speed(trainer.agent, config, curve, peak)))
        if update > saved:
            _save(trainer, folder, point, update)
    curve = _curve(config, point)
    return Run(
        trainer, seeds, point.state, curve, compile_seconds, update == config.num_updates,
        speed(trainer.agent, config, curve, peak),
    )  # fmt: skip


def _begin(trainer: Trainer, seeds: tuple[int, ...]) -> Checkpoint:
    # NumPy, which any number of hosts can share; a key of jax.random lies on a device of one of them.
    keys = np.stack([np.asarray(jax.random.key_data(jax.random.key(seed))) for seed in seeds])
    state = _init(trainer, keys)
    _, metrics = jax.eval_shape(jax.vmap(trainer.update), state)
    updates = trainer.config.num_updates
    none: Any = np.int32(0)
    blank: Any = {name: np.full((updates, len(seeds)), np.nan, np.float32) for name in metrics}
    return Checkpoint(state=state, update=none, metrics=blank, seconds=np.full(updates, np.nan, np.float32))


@functools.partial(jax.jit, static_argnames="trainer")
def _init(trainer: Trainer, keys: Any) -> TrainState:
    return jax.vmap(trainer.init)(jax.random.wrap_key_data(keys))


@functools.partial(jax.jit, static_argnames="trainer", donate_argnames=("state", "metrics"))
def _advance(trainer: Trainer, state: TrainState, update: Any, metrics: Any, until: Any) -> tuple[Any, Any, Any]:
    """Updates up to number `until`, on the device."""

    def one(carry: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        state, update, metrics = carry
        state, news = jax.vmap(trainer.update)(state)
        metrics = {name: metrics[name].at[update].set(value) for name, value in news.items()}
        return state, update + 1, metrics

    state, update, metrics = jax.lax.while_loop(lambda carry: carry[1] < until, one, (state, update, metrics))
    return state, *trainer.layout.whole((update, metrics))


def _advanced(trainer: Trainer, point: Checkpoint, until: int) -> Checkpoint:
    """The point at update `until`; what it was made from is gone."""
    state, update, metrics = _advance(trainer, point.state, point.update, point.metrics, np.int32(until))
    return point.replace(state=state, update=update, metrics=metrics)


def _timed(trainer: Trainer, point: Checkpoint, update: int, until: int) -> tuple[Checkpoint, float]:
    """One chunk; its seconds are shared out evenly among its updates."""
    seconds = np.array(point.seconds)
    before = float(seconds[update - 1]) if update else 0.0
    started = time.perf_counter()
    point = jax.block_until_ready(_advanced(trainer, point, until))
    elapsed = time.perf_counter() - started
    seconds[update:until] = before + elapsed * np.arange(1, until - update + 1) / (until - update)
    return point.replace(seconds=seconds), elapsed


def _save(trainer: Trainer, folder: Path | None, point: Checkpoint, update: int) -> int:
    if folder is not None:
        whole = point.replace(state=hosts.fetch(point.state, trainer.layout.mesh))
        hosts.on_first(lambda: save_state(folder / CHECKPOINT, whole))
    return update


def _loaded(trainer: Trainer, folder: Path, like: Checkpoint) -> Checkpoint:
    """The checkpoint in a folder of the first host; `like` is a run's beginning."""
    like = like.replace(state=hosts.fetch(like.state, trainer.layout.mesh))
    read = hosts.on_first(lambda: load_state(folder / CHECKPOINT, like))
    point = hosts.from_first(jax.tree.map(np.asarray, like if read is None else read))
    return point.replace(state=_place(trainer, point.state))


@functools.partial(jax.jit, static_argnames="trainer")
def _place(trainer: Trainer, state: TrainState) -> TrainState:
    """A state where the trainer wants it."""
    return jax.vmap(trainer.place)(state)


def _curve(config: PPOConfig, point: Checkpoint) -> Curve:
    done = int(point.update)
    return Curve(
        steps=np.arange(1, done + 1, dtype=np.int64) * config.steps_per_update,
        seconds=np.asarray(point.seconds, np.float64)[:done],
        metrics={name: np.asarray(values)[:done] for name, values in point.metrics.items()},
    )
