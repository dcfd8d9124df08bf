"""`verify(env_id)`: run a twin's levels and say what they show together."""

import dataclasses
import datetime
import importlib.metadata
import platform
from collections.abc import Callable, Sequence
from typing import Any

from overclock.env import registry
from overclock.errors import MissingError, UsageError
from overclock.verify.actions import SourceMaker, controlled, uniform
from overclock.verify.contract import Twin
from overclock.verify.interaction import check_interactions
from overclock.verify.property import check_properties
from overclock.verify.rollout import Mode, Precision, RolloutResult, compare_rollouts
from overclock.verify.selfcheck import check_reference
from overclock.verify.transfer import check_transfer

SCHEMA = "overclock.verify/1"
SUMMARY = (
    "mode", "precision", "actions", "passed", "episodes", "steps", "terminated", "truncated", "excused_flags",
    "beyond_horizon", "divergence_bound",
)  # fmt: skip
GRAVEST_FIRST = ("could not verify", "fail", "inconclusive")
CONTROLLED_SHARE = 10  # one controlled (long) episode for this many random ones
PACKAGES = ("overclock", "jax", "jaxlib", "numpy", "gymnasium")

Progress = Callable[[str, int, int], None]  # comparison, finished episodes, all episodes


def verify(
    env_id: str,
    episodes: int = 100,
    seed: int = 0,
    timeout: float = 120.0,
    levels: Sequence[int] = (1, 2, 3, 4),
    plant: str | None = None,
    progress: Progress = lambda what, done, total: None,
) -> dict[str, Any]:
    """Compare a registered environment with its reference, level by level; returns the report (overclock.verify/1).

    The reference is first compared with itself. `plant` puts one of the twin's known bugs into the performance side.
    """
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, got {episodes}.")
    if not timeout > 0:
        raise UsageError(f"timeout must be a positive number of seconds, got {timeout:g}.")
    spec = registry.spec(env_id)
    twin = load_twin(spec)
    twin = twin if plant is None else twin.planted(plant)
    progress("the reference against itself", 0, 1)
    itself = check_reference(twin, seed=seed, timeout=timeout)
    progress("the reference against itself", 1, 1)
    checks: dict[int, Callable[[], dict[str, Any]]] = {
        1: lambda: check_properties(twin, seed=seed, progress=progress, timeout=timeout),
        2: lambda: check_interactions(twin, timeout),
        3: lambda: check_rollouts(spec, twin, episodes, seed, timeout, progress),
        4: lambda: check_transfer(twin, seed=seed, timeout=timeout, progress=progress),
    }
    results = [checks[level]() for level in sorted(levels)]
    return {
        "schema": SCHEMA,
        "env": spec.id,
        "reference": spec.reference,
        "verdict": overall([result["verdict"] for result in results]),
        "self_check": itself,
        "levels": results,
        "planted": plant,
        "seed": seed,
        "command": _command(spec.id, episodes, seed, levels, plant),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def overall(verdicts: Sequence[str]) -> str:
    """The verdict of a report: the gravest of its levels'."""
    return next((verdict for verdict in GRAVEST_FIRST if verdict in verdicts), "pass")


def check_rollouts(
    spec: registry.Spec, twin: Twin, episodes: int, seed: int, timeout: float, progress: Progress
) -> dict[str, Any]:
    """Level 3: every comparison of whole episodes that the twin's contract and the environment's player allow."""
    comparisons = []
    for mode, precision, actions, source, count in _plan(spec, twin, episodes):
        name = f"{actions} actions, {precision}, {mode.replace('_', ' ')}"
        result = compare_rollouts(
            twin, count, mode, precision, actions, source, seed, timeout=timeout,
            progress=lambda done, name=name, count=count: progress(name, done, count),
        )  # fmt: skip
        comparisons.append(_describe(result))
    verdict = "pass" if all(comparison["passed"] for comparison in comparisons) else "fail"
    return {"level": 3, "name": "rollout", "verdict": verdict, "comparisons": comparisons}


def _command(env_id: str, episodes: int, seed: int, levels: Sequence[int], plant: str | None) -> str:
    chosen = sorted(levels)
    words = ["overclock", "verify", env_id, "--episodes", str(episodes), "--seed", str(seed)]
    if len(chosen) == 1 and chosen != [1]:
        words += ["--only", str(chosen[0])]
    elif chosen[-1] < 4:
        words += ["--level", str(chosen[-1])]
    return " ".join(words if plant is None else [*words, "--plant", plant])


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
