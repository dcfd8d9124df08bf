"""Verification results in words, for the terminal and the page."""

from typing import Any


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
