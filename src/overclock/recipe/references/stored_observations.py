"""Observations that do not follow from the state: the last one is held, by both sides, as part of the state.

A translation keeps it in a field `observation`. On the reference's side the class is changed for the rest of the
process that plays it: what a reset or a step shows is left on the instance, where the codec finds it like any
attribute. The translation's process loads this module as well, and has no Gymnasium.
"""

import functools
from collections.abc import Collection
from typing import Any

import numpy as np

from overclock.recording.shapes import Array, Number, Shape
from overclock.translate.program import Program

STORED = "_observation"  # the attribute; without its underscore the field of the state
FIELD = STORED.strip("_")
_changed: set[type] = set()


def stored_shape(program: Program) -> dict[str, Shape]:
    """The attribute of the stored observation and its shape; empty where the program stores none."""
    if not program.stored_observation:
        return {}
    stored = program.step.results[FIELD].type
    return {STORED: Array(stored.dtype, stored.shape) if stored.shape else Number(stored.dtype)}


def can_store(env: Any, program: Program) -> bool:
    """Whether the attribute's name is free, and no wrapper changes what the rules return."""
    from overclock.recording.wrappers import TRANSPARENT, wrapped

    *around, rules = wrapped(env)
    if not all(isinstance(one, TRANSPARENT) for one in around):
        return False
    return not hasattr(rules, STORED) and FIELD not in {leaf.name for leaf in program.state}


def store_observations(env: Any, attributes: Collection[str]) -> None:
    """Make all instances of this class store what they return, if the attributes of their contract ask for it."""
    cls = type(env.unwrapped)
    if STORED not in attributes or cls in _changed:
        return
    _changed.add(cls)
    for name in ("reset", "step"):
        setattr(cls, name, _holding(getattr(cls, name)))


def _holding(function: Any) -> Any:
    from overclock.recording.observations import flatten

    @functools.wraps(function)
    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        result = function(self, *args, **keywords)
        vars(self)[STORED] = flatten(self.observation_space, result[0])
        return result

    return call


def store_initial_zeros(instance: Any, attributes: Collection[str]) -> None:
    """Give an instance that was never reset an observation of zeros, so that its state can be read."""
    from overclock.recording.observations import flat_space

    rules = instance.unwrapped
    if STORED in attributes and not hasattr(rules, STORED):
        known = flat_space(rules.observation_space)
        vars(rules)[STORED] = np.zeros(known.shape, known.dtype)
