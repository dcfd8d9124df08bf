"""The three games as twins: the reference in Python, the performance side in JAX, with a bug or without."""

from pathlib import Path
from typing import Any

from verify.reach.games.fast import BUGS
from verify.reach.games.subjects import NAMES

from overclock.env import registry
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.subject import SubjectSpec

OUTPUTS = ("obs", "reward", "terminated", "truncated")


def twin(game: str, bug: str = "") -> Twin:
    """A game, whose performance side may have a bug."""
    assert not bug or bug in BUGS[game]
    names = (*OUTPUTS, "state.steps", *(f"state.{name}" for name in NAMES[game]))
    return Twin(
        game,
        _spec("verify.reach.games.subjects:subject", game=game),
        _spec("verify.reach.games.twins:performance", game=game, bug=bug),
        {"float32": Contract(tuple(Field(name) for name in names))},
        traced=True,
    )


def performance(num_envs: int, game: str, bug: str) -> JaxSubject:
    """The performance side, as verify starts it."""
    env_id = f"{game}-v0"
    registry.register(registry.Spec(env_id, f"verify.reach.games.fast:{game.capitalize()}"))
    return JaxSubject(num_envs, env_id, static={"bug": bug})


def _spec(entry_point: str, **options: Any) -> SubjectSpec:
    tests = str(Path(__file__).parents[3])
    return SubjectSpec(entry_point, tuple(options.items()), (("PYTHONPATH", tests),))
