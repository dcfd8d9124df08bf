"""A whole training job: train, evaluate, write policies and curves, and report. What `overclock train` calls."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import jax
import numpy as np

from overclock.env import registry
from overclock.files import check_folder
from overclock.results import encode
from overclock.train.distributed import hosts
from overclock.train.distributed.devices import Devices
from overclock.train.evaluate import evaluate_policy
from overclock.train.files import write_json
from overclock.train.loop import Progress, train
from overclock.train.networks.flops import update_flops
from overclock.train.networks.peak import measured_peak
from overclock.train.networks.sizes import parameters
from overclock.train.policy import SETTINGS as POLICY_SETTINGS
from overclock.train.policy import WEIGHTS, save_policy
from overclock.train.ppo import PPOConfig, make_train
from overclock.train.run_folder import CHECKPOINT
from overclock.train.run_folder import SETTINGS as RUN_SETTINGS
from overclock.vector.vectorize import vectorize

SCHEMA = "overclock.train/1"
CURVE = "curve.json"
EVALUATION_EPISODES = 100
EVALUATION_SEEDS = 1 << 32  # the first of them: training seeds end below, so no policy is judged on what it trained on


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Returns of a trained policy over the same episodes as every other seed's.

    `overflowed` counts the episodes in which room ran out, which are not the reference's; None where it cannot.
    """

    episodes: int
    return_mean: float
    return_std: float
    return_min: float
    overflowed: int | None = None


@dataclasses.dataclass(frozen=True)
class TrainedSeed:
    """What one seed learned: the folder of its policy, its evaluation, and the columns of its curve."""

    seed: int
    policy: str
    evaluation: Evaluation
    curve: dict[str, list[Any]]


@dataclasses.dataclass(frozen=True)
class TrainingReport:
    """The report of `overclock train`; `mfu` is the part of the device's peak arithmetic that was used.

    `overflowed_steps` counts the steps of training in which room had run out (`overflow` in the environment's info),
    which are not the reference's; None where the environment has no such flag.
    """

    schema: Literal["overclock.train/1"]
    env: str
    options: dict[str, Any]
    finished: bool
    output: str
    steps: int
    seconds: float
    compile_seconds: float
    device: str
    devices: int
    hosts: int
    parameters: int
    steps_per_second: float
    flops_per_step: float
    peak_flops: float | None
    peak_source: Literal["measured", "data sheet"] | None
    mfu: float | None
    config: PPOConfig
    seeds: list[TrainedSeed]
    overflowed_steps: int | None = None


def train_and_report(
    env_id: str,
    config: PPOConfig,
    seeds: Sequence[int],
    folder: Path,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    devices: Devices = None,
    measure_peak: bool = False,
    static: Mapping[str, Any] | None = None,
) -> TrainingReport:
    """Train `seeds` side by side and evaluate each policy on the same 100 episodes.

    `static` are the environment's options.

    The folder gets `curve.json` (the report), `seed-N/policy.{json,safetensors}`, and what resuming needs. On several
    hosts the first one evaluates and writes; the others' reports have no `seeds`.
    """
    hosts.on_first(lambda: check_folder(folder))
    env, params = registry.make(env_id, **(static or {}))
    trainer = make_train(env, params, config, devices=devices)
    peak = measured_peak(jax.local_devices()[0], config.precision) if measure_peak else None
    run = train(trainer, seeds, folder=folder, resume=resume, progress=progress, peak=peak)
    agent = run.trainer.agent
    report = TrainingReport(
        schema=SCHEMA,
        env=registry.spec(env_id).id,
        options=dict(static or {}),
        finished=run.finished,
        output=str(folder),
        steps=len(run.curve.steps) * config.steps_per_update,
        seconds=float(run.curve.seconds[-1]) if len(run.curve.seconds) else 0.0,
        compile_seconds=run.compile_seconds,
        device=jax.devices()[0].device_kind,
        devices=run.trainer.layout.count,
        hosts=jax.process_count(),
        parameters=parameters(agent),
        steps_per_second=run.speed.steps_per_second,
        flops_per_step=update_flops(agent, config) / config.steps_per_update,
        peak_flops=run.speed.peak,
        peak_source=None if run.speed.peak is None else "data sheet" if peak is None else "measured",
        mfu=run.speed.mfu,
        config=config,
        seeds=[],
        overflowed_steps=run.curve.overflowed,
    )
    if not run.finished or not hosts.first():
        return report
    venv = vectorize(env, EVALUATION_EPISODES)
    episodes = range(EVALUATION_SEEDS, EVALUATION_SEEDS + EVALUATION_EPISODES)
    for index, seed in enumerate(run.seeds):
        policy, home = run.policy(index), folder / f"seed-{seed}"
        played = evaluate_policy(policy, venv, episodes, params=params)
        returns = played.returns[:, 0]
        spread = float(np.std(returns, ddof=1))
        evaluation = Evaluation(
            EVALUATION_EPISODES, float(np.mean(returns)), spread, float(np.min(returns)), played.overflowed
        )
        save_policy(home, policy, {"env": report.env, "seed": seed, "evaluation": encode(evaluation)})
        report.seeds.append(TrainedSeed(seed, str(home), evaluation, run.curve.to_json(index)))
    write_json(folder / CURVE, encode(report))
    return report


def clear(folder: Path) -> None:
    """Remove an earlier run's files (and nothing else), so that another can take the folder."""
    policies = [home / name for home in folder.glob("seed-*") for name in (POLICY_SETTINGS, WEIGHTS)]
    for path in (folder / CURVE, folder / CHECKPOINT, folder / RUN_SETTINGS, *policies):
        path.unlink(missing_ok=True)
