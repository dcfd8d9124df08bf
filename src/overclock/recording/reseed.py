"""Seeds the generators that an instance holds, so that a step from a given state can be repeated with its draws."""

import random
from typing import Any

import numpy as np

from overclock.recording.sites.generators import bits

DEPTH = 3  # objects inside of objects


def reseed(instance: Any, seed: int) -> None:
    """Seed every generator that is an attribute of an instance, or of the objects that it holds."""
    waiting, known, number = [(getattr(instance, "unwrapped", instance), DEPTH)], set[int](), 0
    while waiting:
        holder, depth = waiting.pop()
        for one in list(getattr(holder, "__dict__", {}).values()):
            if id(one) in known:
                continue
            known.add(id(one))
            number += 1
            if isinstance(one, np.random.Generator):
                own = bits(one)
                own.state = type(own)(np.random.SeedSequence((seed, number))).state
            elif isinstance(one, np.random.RandomState):
                one.seed((seed, number))
            elif isinstance(one, random.Random):
                one.seed(f"{seed} {number}")
            elif depth and hasattr(one, "__dict__") and not callable(one):
                waiting.append((one, depth - 1))
