"""`verify(env_id)`: run a twin's comparisons and say what they show. Level 3 (whole episodes) is what exists so far."""

import dataclasses
import datetime
import importlib.metadata
import platform
from collections.abc import Callable
from typing import Any

from overclock.env import registry
from overclock.errors import MissingError, UsageError
from overclock.verify.actions import SourceMaker, controlled, uniform
from overclock.verify.contract import Twin
from overclock.verify.rollout import Mode, Precision, RolloutResult, compare_rollouts

SCHEMA = "overclock.verify/1"
SUMMARY = (
    "mode", "precision", "actions", "passed", "episodes", "steps", "terminated", "truncated", "excused_flags",
    "beyond_horizon", "divergence_bound",
)  # fmt: skip
CONTROLLED_SHARE = 10  # one controlled (long) episode for this many random ones
PACKAGES = ("overclock", "jax", "jaxlib", "numpy", "gymnasium")

Progress = Callable[[str, int, int], None]  # comparison, finished episodes, all episodes


def verify(
    env_id: str,
    episodes: int = 100,
    seed: int = 0,
    timeout: float = 120.0,
    progress: Progress = lambda name, done, total: None,
) -> dict[str, Any]:
    """Compare a registered environment with its reference; returns the report (schema overclock.verify/1)."""
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, got {episodes}.")
    spec = registry.spec(env_id)
    twin = load_twin(spec)
    comparisons = []
    for mode, precision, actions, source, count in _plan(spec, twin, episodes):
        name = f"{actions} actions, {precision}, {mode.replace('_', ' ')}"
        result = compare_rollouts(
            twin, count, mode, precision, actions, source, seed, timeout=timeout,
            progress=lambda done, name=name, count=count: progress(name, done, count),
        )  # fmt: skip
        comparisons.append(_describe(result))
    verdict = "pass" if all(comparison["passed"] for comparison in comparisons) else "fail"
    return {
        "schema": SCHEMA,
        "env": spec.id,
        "reference": spec.reference,
        "verdict": verdict,
        "levels": [{"level": 3, "name": "rollout", "verdict": verdict, "comparisons": comparisons}],
        "seed": seed,
        "command": f"overclock verify {spec.id} --episodes {episodes} --seed {seed}",
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def load_twin(spec: registry.Spec) -> Twin:
    """The twin behind an id, or one sentence on why there is none."""
    if spec.twin is None:
        raise UsageError(f"{spec.id} has no reference to be compared with.")
    try:
        return registry.load(spec.twin)()
    except ModuleNotFoundError as error:
        raise MissingError(
            f"The reference of {spec.id} needs the package '{error.name}': pip install 'overclock[gymnasium]'."
        ) from error


def _plan(spec: registry.Spec, twin: Twin, episodes: int) -> list[tuple[Mode, Precision, str, SourceMaker, int]]:
    plan: list[tuple[Mode, Precision, str, SourceMaker, int]] = []
    for precision in twin.contracts:
        plan.append(("per_step", precision, "uniform", uniform, episodes))
        plan.append(("free_running", precision, "uniform", uniform, episodes))
        if spec.controller is not None:
            controller = controlled(registry.load(spec.controller))
            plan.append(("per_step", precision, "controlled", controller, max(1, episodes // CONTROLLED_SHARE)))
    return plan


def _describe(result: RolloutResult) -> dict[str, Any]:
    described: dict[str, Any] = {key: getattr(result, key) for key in SUMMARY}
    described["fields"] = [
        {
            "name": field.field.name,
            "compared": field.compared,
            "largest_error": field.largest_error,
            "tolerance": field.tolerance,
            "reason": field.field.reason,
            "passed": field.first_divergence is None,
        }
        for field in result.fields.values()
    ]
    first = result.first_divergence
    described["first_divergence"] = None if first is None else dataclasses.asdict(first)
    return described


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
