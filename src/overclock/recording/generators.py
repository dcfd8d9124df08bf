"""Who draws random numbers: the classes of NumPy and Python, and their functions that need no instance."""

import random
from typing import Any

import numpy as np

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def owner_of(function: Any) -> Any:
    """The generator behind a bound method or a function of `random` or `numpy.random`; None where there is none."""
    owner = getattr(getattr(function, "__wrapped__", function), "__self__", None)
    owner = getattr(function, "__self__", owner)
    return owner if isinstance(owner, GENERATORS) else None
