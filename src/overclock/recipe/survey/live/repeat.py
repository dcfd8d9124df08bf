"""Is a reference the same as itself? Two copies with the same seeds and actions must say the same, bit for bit.

The quick look before a project starts; `overclock.verify.sides.selfcheck` asks again, more thoroughly, elsewhere.
"""

from typing import Any

from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.survey.live.loading import make, playing
from overclock.recipe.survey.static.obstacles import Obstacle
from overclock.recipe.survey.static.source import Source
from overclock.verify.property.captured import captured, digest


def diverges(source: Source, steps: int = 200, seed: int = 0) -> Obstacle | None:
    """The first difference between two seeded copies, None where there is none."""
    first, second = make(source), make(source)
    try:
        with playing(source):
            return _compare(source, first, second, steps, seed)
    finally:
        for env in (first, second):
            if hasattr(env, "close"):
                close(env)


def _compare(source: Source, first: Any, second: Any, steps: int, seed: int) -> Obstacle | None:
    first.action_space.seed(seed)
    one, other, info, length = _reset(first, second, seed)
    for _ in range(steps + 1):
        for name, value in one.items():
            if digest(captured(value)) != digest(captured(other[name])):
                return _obstacle(source, name, seed, length)
        if one.get("terminated") or one.get("truncated"):
            seed += 1
            one, other, info, length = _reset(first, second, seed)
            continue
        mask = info.get("action_mask")
        action = first.action_space.sample() if mask is None else first.action_space.sample(mask)
        one, info = _step(first, action)
        other, _ = _step(second, action)
        length += 1
    return None


def _reset(first: Any, second: Any, seed: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], int]:
    (obs, info), (other, _) = first.reset(seed=seed), second.reset(seed=seed)
    return {"obs": obs}, {"obs": other}, info, 0


def _step(env: Any, action: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    obs, reward, terminated, truncated, info = env.step(action)
    return {"obs": obs, "reward": reward, "terminated": terminated, "truncated": truncated}, info


def _obstacle(source: Source, field: str, seed: int, length: int) -> Obstacle:
    sentence = (
        f"Two copies of '{source.text}' with seed {seed} and the same actions differ in {field} after {length} steps; "
        "a reference must depend on nothing but its seed and its actions."
    )
    return Obstacle(str(source.files[0]), 0, "the same seed gives different episodes", "refuse", sentence)
