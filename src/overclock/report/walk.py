"""An exhaustive walk over a finite environment in words, the same ones wherever it is told."""

from typing import Any

from overclock.verify.text import level_text

Walk = dict[str, Any]


def proof_text(walk: Walk) -> str:
    """What a walk that is a proof has shown, and what it has not."""
    return (
        f"proven in {walk['precision']} for every reachable state, action and drawn number "
        "(the time limit and how numbers are drawn are not part of it)"
    )


def walk_text(walk: Walk) -> str:
    """What a walk saw, and whether that is a proof."""
    if walk["proof"]:
        return f"{walk['states']:,} states x {walk['actions']:,} actions: {proof_text(walk)}"
    return f"{walk['sentence']}; not a proof"


def seen_text(level: dict[str, Any]) -> str:
    """What one level saw, in one line; a proof with its limits."""
    walk = level.get("exhaustive")
    if walk is None or not walk["proof"]:
        return level_text(level)
    return f"{level_text({**level, 'exhaustive': None})}; {walk_text(walk)}"
