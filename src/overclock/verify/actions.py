"""Where the actions of a comparison come from. Both sides always get the same ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.verify.subject import Observed

ActionSource = Callable[[np.random.Generator, Observed], np.ndarray]
SourceMaker = Callable[[dict[str, Any]], ActionSource]
"""Makes a source from a subject's description of its action space."""


def uniform(description: dict[str, Any]) -> ActionSource:
    """Every action equally likely."""

    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        lanes = len(observed.outputs["obs"])
        if description["kind"] == "discrete":
            return generator.integers(0, description["n"], lanes, dtype=np.int32)
        if description["kind"] == "box":
            low, high = description["low"], description["high"]
            return generator.uniform(low, high, (lanes, *low.shape)).astype(low.dtype)
        raise UsageError(f"No uniform actions for the action space {description}.")

    return act


def controlled(controller: Callable[[np.ndarray], np.ndarray]) -> SourceMaker:
    """A scripted player with a share of random actions that differs from lane to lane, from none to one half.

    It reaches what random play does not: long episodes, and with them the time limit.
    """

    def make(description: dict[str, Any]) -> ActionSource:
        at_random = uniform(description)

        def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
            obs = observed.outputs["obs"]
            chosen, random = np.asarray(controller(obs)), at_random(generator, observed)
            share = np.linspace(0.0, 0.5, len(obs))
            return np.where(generator.random(len(obs)) < share, random, chosen).astype(random.dtype)

        return act

    return make
