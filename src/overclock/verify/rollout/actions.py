"""Where the actions of a comparison come from. Both sides always get the same ones.

A source is made from a subject's description of its action space, then called once per step with what the reference
shows; `guided.py` has the one that also learns from it.
"""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from overclock.errors import UsageError
from overclock.verify.sides.subject import Observed

ActionSource = Callable[[np.random.Generator, Observed], np.ndarray]
SourceMaker = Callable[[dict[str, Any]], ActionSource]
"""Makes a source from a subject's description of its action space."""


@runtime_checkable
class GuidedSource(Protocol):
    """A source that also chooses episodes and hears about the branches of the reference that each lane reached."""

    def __call__(self, generator: np.random.Generator, observed: Observed) -> np.ndarray: ...

    def begin(self, generator: np.random.Generator, lane: int, seed: int) -> int:
        """A new episode starts in a lane; returns the seed it shall start from, usually the proposed one."""
        ...

    def learn(self, observed: Observed) -> None:
        """What the reference showed after a step, the last one of an episode included."""
        ...


def uniform(description: dict[str, Any]) -> ActionSource:
    """Every action equally likely, legal or not."""
    players = (description["players"],) if "players" in description else ()

    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        shape = (len(observed.outputs["obs"]), *players)
        if description["kind"] == "discrete":
            return generator.integers(0, description["n"], shape, dtype=np.int32)
        if description["kind"] == "box":
            low, high = description["low"], description["high"]
            if low.dtype.kind in "iu":  # whole numbers, the highest included
                return generator.integers(low, high, (*shape, *low.shape), low.dtype, endpoint=True)
            return generator.uniform(low, high, (*shape, *low.shape)).astype(low.dtype)
        raise UsageError(f"No uniform actions for the action space {description}.")

    return act


def mask_uniform(description: dict[str, Any]) -> ActionSource:
    """Every legal action equally likely; the first action where a lane has none (its episode is over)."""
    if description["kind"] != "discrete":
        raise UsageError(f"Only discrete actions have masks, not '{description['kind']}'; take uniform actions.")

    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        mask = observed.outputs.get("action_mask")
        if mask is None:
            raise UsageError("Neither side reports an action mask; take uniform actions.")
        # The largest of independent uniform numbers is equally likely to belong to any of them.
        return np.argmax(np.where(mask, generator.random(mask.shape), -1.0), axis=-1).astype(np.int32)

    return act


def random_legal(description: dict[str, Any]) -> ActionSource:
    """Every legal action equally likely where a mask says which are; every action where there is none."""
    anything = uniform(description)
    masked = mask_uniform(description) if description["kind"] == "discrete" else anything

    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        return (masked if "action_mask" in observed.outputs else anything)(generator, observed)

    return act


def sticky(repeat: float = 0.75, base: SourceMaker = uniform) -> SourceMaker:
    """Repeats a lane's last action with this probability: long pushes in one direction, which random play rarely has.

    An action is not repeated where a mask forbids it, nor from one episode into the next.
    """
    if not 0.0 <= repeat <= 1.0:
        raise UsageError(f"The probability to repeat an action lies between 0 and 1, got {repeat}.")

    def make(description: dict[str, Any]) -> ActionSource:
        fresh, last = base(description), None

        def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
            nonlocal last
            new = fresh(generator, observed)
            stays = (generator.random(len(new)) < repeat) & (observed.state["steps"] > 0)
            if last is not None:
                stays = stays.reshape(-1, *(1,) * (new.ndim - 1)) & legal(last, observed)
                new = np.where(stays, last, new)
            last = new
            return new

        return act

    return make


def controlled(controller: Callable[[np.ndarray], np.ndarray]) -> SourceMaker:
    """A scripted player that is a function from observations to actions, with random actions as `scripted` has them."""
    return scripted(policy(controller))


def scripted(*players: SourceMaker) -> SourceMaker:
    """Scripted players, who take the lanes in turn; the share of random actions grows over the lanes of each.

    It is none in a player's first lane and one half in the last. They reach what random play does not: long episodes,
    and with them the time limit. What a player needs to know of an episode, the reference's state shows.
    """

    def make(description: dict[str, Any]) -> ActionSource:
        at_random, sources = uniform(description), [player(description) for player in players]

        def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
            random = at_random(generator, observed)
            turns, whose = np.divmod(np.arange(len(random)), len(sources))
            chosen = random
            for number, source in enumerate(sources):
                chosen = np.where(_rows(whose == number, random), source(generator, observed), chosen)
            instead = generator.random(len(random)) < 0.5 * turns / max(1, turns[-1])
            return np.where(_rows(instead, random), random, chosen)

        return act

    return make


def _rows(chosen: np.ndarray, actions: np.ndarray) -> np.ndarray:
    return chosen.reshape(-1, *(1,) * (actions.ndim - 1))


def policy(act_on: Callable[[np.ndarray], np.ndarray]) -> SourceMaker:
    """A function from observations of all lanes to actions, such as a trained policy."""

    def make(description: dict[str, Any]) -> ActionSource:
        dtype = np.int32 if description["kind"] == "discrete" else description["low"].dtype

        def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
            return np.asarray(act_on(observed.outputs["obs"])).astype(dtype)

        return act

    return make


def legal(actions: np.ndarray, observed: Observed) -> np.ndarray:
    """Which discrete actions the mask allows; every one where there is no mask."""
    mask = observed.outputs.get("action_mask")
    if mask is None:
        return np.ones(actions.shape, np.bool_)
    return np.take_along_axis(mask, actions[..., None], axis=-1)[..., 0]
