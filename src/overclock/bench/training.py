"""How fast PPO trains, beside PPO in the manner of PureJaxRL: same network, same hyper-parameters, same run.

A step is one step of one lane with everything that is learned from it. Rows are timed by turns, like those of
`overclock.bench.report`; a call is so many whole updates, each a rollout and the epochs over it.
"""

import dataclasses
import importlib.metadata
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import overclock
from overclock.bench import machine
from overclock.bench.config import BF16, PUREJAXRL, PYBOYS, XLA, BenchConfig
from overclock.bench.emulators import training_runners
from overclock.bench.peers import counterpart
from overclock.bench.report import Announce, Built, at_every_batch, built, header, ratios
from overclock.bench.results import Skip, Timed, TrainingRow, TrainingSpeed
from overclock.bench.runners import Identity, Runner, UpdatesRunner, units_lasting
from overclock.env import registry
from overclock.errors import MissingError, UsageError
from overclock.train.networks.flops import update_flops
from overclock.train.networks.peak import known_peak
from overclock.train.ppo import PPOConfig, make_agent, make_train

SCHEMA = "overclock.bench.training/1"
NUM_STEPS = 128  # of a rollout, per lane
STEP = "One step is one step of one lane, with everything that PPO learns from it; sps are summed over the lanes."
Training = tuple[Callable[[Any], Any], Callable[[Any, int], tuple[Any, Any]]]
"""(`init(key) -> state`, `advance(state, updates) -> (state, metrics)`), jitted."""


class TrainingRunner(UpdatesRunner):
    """Updates of one trainer in JAX."""

    def __init__(self, identity: Identity, training: Training, seed: int) -> None:
        super().__init__(identity)
        self._seed = seed
        self._compiled: Any = None
        self._init, self._advance = training

    def plan(self, seconds: float) -> int:
        """As `Runner.plan`; a call has whole updates."""
        state = self._init(jax.random.key(self._seed))
        began = time.perf_counter()
        self._compiled = self._advance.lower(state, 1).compile()  # pyright: ignore[reportFunctionMemberAccess]
        self._compile_seconds = time.perf_counter() - began
        self._state = state
        return NUM_STEPS * units_lasting(seconds, self._run)

    def prepare(self, steps: int) -> float:
        """As `Runner.prepare`: from the first state again."""
        self._updates, self._state = steps // NUM_STEPS, self._init(jax.random.key(self._seed))
        return self._compile_seconds

    def _run(self, updates: int) -> None:
        metrics: dict[str, Any] = {}
        for _ in range(updates):
            self._state, metrics = self._compiled(self._state)
        self._returns.append(float(np.asarray(metrics["return"])[-1]))  # which proves that the work is done


def measure_training(config: BenchConfig, progress: Announce | None = None) -> TrainingSpeed:
    """Time PPO at every batch (a number of lanes), in both precisions."""
    config.refuse_unused("training")
    emulated = registry.spec(config.env).rules_in_rust
    allowed = PYBOYS if emulated else (PUREJAXRL,)
    others = [name for name in config.peer_names() if name not in allowed]
    if others:
        raise UsageError(f"Training is measured beside {' and '.join(allowed)} only, not beside {', '.join(others)}.")
    if PUREJAXRL in config.peer_names():
        counterpart(registry.spec(config.env).id, "gymnax")
    dataclasses.replace(config, peers="").validate()
    if config.options and PUREJAXRL in config.peer_names():
        raise UsageError(f"{PUREJAXRL} knows no --options; leave one of the two out.")
    device, entry = machine.find_device(config.device), registry.spec(config.env)
    measured, skipped = at_every_batch(
        config, device, progress, lambda lanes: _runners(config, entry.id, lanes, device.platform)
    )
    results = [one.row(TrainingRow, **_use(config, one, device)) for one in measured]
    # Rows are compared within one precision only.
    by_precision = ([row for row in results if _in_bf16(row) == rounded] for rounded in (False, True))
    return TrainingSpeed(
        schema=SCHEMA, **header(config, device, "--training"), environment=entry.id, step=STEP,
        training=dataclasses.asdict(training_config(config.batch[0])), results=results,
        ratios=[ratio for rows in by_precision for ratio in ratios(rows)], skipped=skipped,
    )  # fmt: skip


def training_config(lanes: int) -> PPOConfig:
    """The same for every row: two layers of 64, four epochs of four minibatches over 128 steps of every lane."""
    return PPOConfig(num_envs=lanes, num_steps=NUM_STEPS, num_epochs=4, num_minibatches=4, anneal=False)


def _runners(config: BenchConfig, env_id: str, lanes: int, platform: str) -> Built:
    shared, skipped = training_config(lanes), []
    if registry.spec(env_id).rules_in_rust:
        return built(training_runners(env_id, config.peer_names(), lanes, config.static(), config.seed, shared))
    env, params = registry.make(env_id, **config.static())
    ours = {XLA: shared, BF16: dataclasses.replace(shared, precision="bf16")}
    runners: list[Runner] = []
    for name, training in ours.items():
        trainer = make_train(env, params, training)
        identity = Identity(name, overclock.__version__, lanes, platform, "same_step")
        runners.append(TrainingRunner(identity, (trainer.init, trainer.advance), config.seed))
    if PUREJAXRL in config.peer_names():
        try:
            from overclock.bench.purejaxrl import make

            version = f"on gymnax {importlib.metadata.version('gymnax')}"
            for name, training in zip((PUREJAXRL, f"{PUREJAXRL}-bf16"), ours.values(), strict=True):
                identity = Identity(name, version, lanes, platform, "same_step")
                runners.append(TrainingRunner(identity, make(training, env_id), config.seed))
        except (MissingError, ImportError) as error:
            skipped.append(Skip(PUREJAXRL, str(error)))
    return runners, skipped


def _use(config: BenchConfig, row: Timed, device: Any) -> dict[str, Any]:
    """What of the device's arithmetic the network made use of: `flops_per_second` and `mfu` of a row."""
    env, params = registry.make(config.env, **config.static())
    training = training_config(row.batch)
    agent = make_agent(env.observation_space(params), env.action_space(params), training)
    flops = update_flops(agent, training) / training.steps_per_update * row.sps.median
    peak = known_peak(device, "bf16" if _in_bf16(row) else "float32")
    return {"flops_per_second": flops, "mfu": None if peak is None else flops / peak}


def _in_bf16(row: Timed) -> bool:
    return row.implementation.endswith("bf16")
