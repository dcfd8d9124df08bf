"""Is a reference deterministic? Two copies with the same seeds and actions must return the same, bit for bit.

The quick check before a project starts; `overclock.verify.sides.selfcheck` checks again, more thoroughly, elsewhere.
"""

from typing import Any

from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.survey.live.loading import make, playing
from overclock.recipe.survey.static.obstacles import Obstacle
from overclock.recipe.survey.static.source import Source
from overclock.verify.property.captured import captured, digest

OUTPUTS = ("obs", "reward", "terminated", "truncated")  # of a step; a reset returns the first, and both an info


def diverges(source: Source, steps: int = 200, seed: int = 0) -> Obstacle | None:
    """The first difference between two copies with the same seeds and actions, None where there is none."""
    copies = [make(source), make(source)]
    try:
        with playing(source):
            found = _first_difference(copies, steps, seed)
    finally:
        for env in copies:
            close(env)
    if found is None:
        return None
    field, seed, length = found
    sentence = (
        f"Two copies of '{source.text}' with seed {seed} and the same actions differ in {field} after {length} steps; "
        "a reference must depend on nothing but its seed and its actions."
    )
    return Obstacle(str(source.files[0]), 0, "the same seed gives different episodes", "refuse", sentence)


def _first_difference(copies: list[Any], steps: int, seed: int) -> tuple[str, int, int] | None:
    copies[0].action_space.seed(seed)
    results, length = [env.reset(seed=seed) for env in copies], 0
    for _ in range(steps + 1):
        (*shown, info), (*others, _) = results
        for name, value, other in zip(OUTPUTS, shown, others, strict=False):
            if digest(captured(value)) != digest(captured(other)):
                return name, seed, length
        if any(shown[2:]):
            seed, length = seed + 1, 0
            results = [env.reset(seed=seed) for env in copies]
        else:
            mask = info.get("action_mask")
            action = copies[0].action_space.sample() if mask is None else copies[0].action_space.sample(mask)
            results, length = [env.step(action) for env in copies], length + 1
    return None
