"""An exhaustive walk over a finite environment in words, the same ones wherever it is told."""

import dataclasses

from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.result import LevelResult
from overclock.verify.rollout.result import RolloutLevel
from overclock.verify.text import level_text


def proof_text(walk: WalkResult) -> str:
    """What a walk that is a proof has shown, and what it has not."""
    return (
        f"proven in {walk.precision} for every reachable state, action and drawn number "
        "(the time limit and how numbers are drawn are not part of it)"
    )


def walk_text(walk: WalkResult) -> str:
    """What a walk saw, and whether that is a proof."""
    if walk.proof:
        return f"{walk.states:,} states x {walk.actions:,} actions: {proof_text(walk)}"
    return f"{walk.sentence}; not a proof"


def seen_text(level: LevelResult) -> str:
    """What one level saw, in one line; a proof with its limits."""
    walk = level.exhaustive if isinstance(level, RolloutLevel) else None
    if walk is None or not walk.proof:
        return level_text(level)
    return f"{level_text(dataclasses.replace(level, exhaustive=None))}; {walk_text(walk)}"
