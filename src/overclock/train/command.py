"""A whole training job: train, evaluate, write policies and curves, and report. What `overclock train` calls."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from overclock.env import registry
from overclock.files import check_folder
from overclock.train.evaluate import evaluate_policy
from overclock.train.files import write_json
from overclock.train.loop import CHECKPOINT, Progress, train
from overclock.train.loop import SETTINGS as RUN_SETTINGS
from overclock.train.policy import SETTINGS as POLICY_SETTINGS
from overclock.train.policy import WEIGHTS, save_policy
from overclock.train.ppo import PPOConfig, make_train
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
) -> dict[str, Any]:
    """Train `seeds` side by side and evaluate each policy on the same 100 episodes; returns the JSON report.

    The folder gets `curve.json` (the report), `seed-N/policy.{json,safetensors}`, and what resuming needs.
    """
    check_folder(folder)
    env, params = registry.make(env_id)
    run = train(make_train(env, params, config), seeds, folder=folder, resume=resume, progress=progress)
    report: dict[str, Any] = {
        "schema": SCHEMA,
        "env": registry.spec(env_id).id,
        "finished": run.finished,
        "output": str(folder),
        "steps": len(run.curve.steps) * config.steps_per_update,
        "seconds": float(run.curve.seconds[-1]) if len(run.curve.seconds) else 0.0,
        "compile_seconds": run.compile_seconds,
        "device": jax.devices()[0].device_kind,
        "config": dataclasses.asdict(config),
        "seeds": [],
    }
    if not run.finished:
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


def clear(folder: Path) -> None:
    """Remove an earlier run's files (and nothing else), so that another can take the folder."""
    policies = [home / name for home in folder.glob("seed-*") for name in (POLICY_SETTINGS, WEIGHTS)]
    for path in (folder / CURVE, folder / CHECKPOINT, folder / RUN_SETTINGS, *policies):
        path.unlink(missing_ok=True)
