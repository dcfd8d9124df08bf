"""A whole training job: train, evaluate, write policies and curves, and report. What `overclock train` calls."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from overclock.env import registry
from overclock.files import check_folder
from overclock.train.distributed import hosts
from overclock.train.distributed.devices import Devices
from overclock.train.evaluate import evaluate_policy
from overclock.train.files import write_json
from overclock.train.loop import Progress, Run, train
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
) -> dict[str, Any]:
    """Train `seeds` side by side and evaluate each policy on the same 100 episodes; returns the JSON report.

    `static` are the environment's options.

    The folder gets `curve.json` (the report), `seed-N/policy.{json,safetensors}`, and what resuming needs. On several
    hosts the first one evaluates and writes; the others' reports have no `seeds`.
    """
    hosts.on_first(lambda: check_folder(folder))
    env, params = registry.make(env_id, **(static or {}))
    trainer = make_train(env, params, config, devices=devices)
    peak = measured_peak(jax.local_devices()[0], config.precision) if measure_peak else None
    run = train(trainer, seeds, folder=folder, resume=resume, progress=progress, peak=peak)
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "env": registry.spec(env_id).id,
        "options": dict(static or {}),
        "finished": run.finished,
        "output": str(folder),
        "steps": len(run.curve.steps) * config.steps_per_update,
        "seconds": float(run.curve.seconds[-1]) if len(run.curve.seconds) else 0.0,
        "compile_seconds": run.compile_seconds,
        "device": jax.devices()[0].device_kind,
        **_speed(run, measured=peak is not None),
        "config": dataclasses.asdict(config),
        "seeds": [],
    }
    if not run.finished or not hosts.first():
        return report
    venv = vectorize(env, EVALUATION_EPISODES)
    luck = range(EVALUATION_SEEDS, EVALUATION_SEEDS + EVALUATION_EPISODES)
    for index, seed in enumerate(run.seeds):
        policy, home = run.policy(index), folder / f"seed-{seed}"
        returns = evaluate_policy(policy, venv, luck, params=params).returns[:, 0]
        evaluation = {
            "episodes": EVALUATION_EPISODES,
            "return_mean": float(np.mean(returns)),
            "return_std": float(np.std(returns, ddof=1)),
            "return_min": float(np.min(returns)),
        }
        save_policy(home, policy, {"env": report["env"], "seed": seed, "evaluation": evaluation})
        entry = {"seed": seed, "policy": str(home), "evaluation": evaluation, "curve": run.curve.to_json(index)}
        report["seeds"].append(entry)
    write_json(folder / CURVE, report)
    return report


def _speed(run: Run, measured: bool) -> dict[str, Any]:
    """The report's part about how fast it was, and how large what was trained."""
    agent, config = run.trainer.agent, run.trainer.config
    source = None if run.speed.peak is None else "measured" if measured else "data sheet"
    return {
        "devices": run.trainer.layout.count,
        "hosts": jax.process_count(),
        "parameters": parameters(agent),
        "steps_per_second": run.speed.steps_per_second,
        "flops_per_step": update_flops(agent, config) / config.steps_per_update,
        "peak_flops": run.speed.peak,
        "peak_source": source,
        "mfu": run.speed.mfu,
    }


def clear(folder: Path) -> None:
    """Remove an earlier run's files (and nothing else), so that another can take the folder."""
    policies = [home / name for home in folder.glob("seed-*") for name in (POLICY_SETTINGS, WEIGHTS)]
    for path in (folder / CURVE, folder / CHECKPOINT, folder / RUN_SETTINGS, *policies):
        path.unlink(missing_ok=True)
