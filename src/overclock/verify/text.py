"""Verification results in words, for the terminal and the page."""

from typing import Any


def rollouts(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The comparisons of a report's level 3, if that was run."""
    return next((level["comparisons"] for level in report["levels"] if level["level"] == 3), [])


def worst_text(comparison: dict[str, Any]) -> str:
    """The largest error of a comparison and the field that has it."""
    worst = max(comparison["fields"], key=lambda field: field["largest_error"])
    return "0" if worst["largest_error"] == 0 else f"{worst['largest_error']:.1e} ({worst['name']})"


def divergence_text(first: dict[str, Any]) -> str:
    """Where two sides part, in a few lines."""
    return (
        f"first divergence: {first['field']} at step {first['step']} of the episode with seed {first['episode_seed']}\n"
        f"  reference {first['reference']}, performance {first['performance']} "
        f"(error {first['error']:.3g}, tolerance {first['tolerance']:.3g})\n"
        f"  state before {first['state_before']}, action {first['action']}"
    )


def level_text(level: dict[str, Any]) -> str:
    """What one level saw, in one line."""
    if level["level"] == 1:
        cases = sum(module["recorded"] + module["boundary"] for module in level["modules"])
        found = f"{len(level['modules'])} modules, {cases:,} recorded and boundary cases"
        first = level["first_failure"]
        return found if first is None else f"{found}; first failure: {first['module']}.{first['field']}"
    if level["level"] == 2:
        checks = level["metamorphic"]
        found = f"{len(level['scenarios'])} scenarios, {len(checks)} metamorphic checks"
        wrong = [s["name"] for s in level["scenarios"] if s["verdict"] != "pass"]
        wrong += [check["name"] for check in checks if not check["passed"]]
        return f"{found}; not passed: {', '.join(wrong)}" if wrong else found
    if level["level"] == 3:
        episodes = sum(comparison["episodes"] for comparison in level["comparisons"])
        steps = sum(comparison["steps"] for comparison in level["comparisons"])
        return f"{episodes:,} episodes, {steps:,} steps, every field at every step"
    return level["summary"]


def verdict_text(report: dict[str, Any]) -> str:
    """The whole report in one line."""
    uniform = [c["divergence_bound"] for c in rollouts(report) if c["actions"] == "uniform"]
    if report["verdict"] == "pass" and uniform:
        return f"pass: no difference; at 95 % confidence fewer than {max(uniform):.2%} of random episodes diverge."
    sentences = {"pass": "no difference found.", "fail": "the two sides differ."}
    return f"{report['verdict']}: {sentences.get(report['verdict'], 'see the level that says so.')}"
