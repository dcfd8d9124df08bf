"""Installs reporting generators where programs look for randomness, and removes them again.

That is `np.random.default_rng`, `np.random.Generator`, `np.random.RandomState`, `random.Random`, Gymnasium's
`seeding.np_random`, and every function of `np.random` and `random`; also where a module holds one of them under a name
of its own (`from random import choice`). A function of a module draws from the lane that runs now.
"""

import contextlib
import functools
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overclock.recording.sites import generators

SEEDING = ("gymnasium.utils.seeding", "gym.utils.seeding")
NUMPY_NAMES = {"ranf": "random_sample", "sample": "random_sample", "seed": "seed"}  # further names of methods
OURS = "overclock."

_numpy, _random = np.random.mtrand._rand, random._inst  # pyright: ignore[reportAttributeAccessIssue]
_default_rng = np.random.default_rng
_installed = 0  # how many callers need them


@contextlib.contextmanager
def hooked() -> Iterator[None]:
    """Inside, programs get reporting generators."""
    undo = install()
    try:
        yield
    finally:
        undo()


def install() -> Callable[[], None]:
    """Install the reporting generators, where they are not yet; returns the function that removes them."""
    global _installed
    _installed += 1
    changed = _swap(_replacements()) if _installed == 1 else []

    def undo() -> None:
        global _installed
        _installed -= 1
        for module, name, ours, before in changed:
            if vars(module).get(name) is ours:
                setattr(module, name, before)

    return undo


def global_state() -> tuple[Any, ...]:
    """The state of the modules' own generators, which no recorded program may change."""
    legacy = _numpy.get_state(legacy=False)
    return _random.getstate(), legacy["state"]["key"].tobytes(), legacy["state"]["pos"], legacy["has_gauss"]


def _replacements() -> list[tuple[Any, Any]]:
    """Pairs of what programs hold and what they shall hold instead."""
    pairs: list[tuple[Any, Any]] = [
        (generators.PlainGenerator, generators.SiteGenerator),
        (generators.PlainRandomState, generators.SiteRandomState),
        (generators.PlainRandom, generators.SiteRandom),
        (_default_rng, _reporting_default_rng),
    ]
    for name, value in vars(np.random).items():
        if getattr(value, "__self__", None) is _numpy or name in NUMPY_NAMES:
            pairs.append((value, _module_function(value, lambda lane: lane.numpy, NUMPY_NAMES.get(name, name))))
    for name, value in vars(random).items():
        if getattr(value, "__self__", None) is _random:
            pairs.append((value, _module_function(value, lambda lane: lane.random, name)))
    for name in SEEDING:
        if name in sys.modules:
            made = sys.modules[name].np_random
            pairs.append((made, _reporting_np_random(made)))
    return pairs


def _swap(pairs: list[tuple[Any, Any]]) -> list[tuple[types.ModuleType, str, Any, Any]]:
    """Replace them in every loaded module but ours; returns (module, name, new, old) of each."""
    by_id = {id(old): (old, new) for old, new in pairs}
    changed = []
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType) and not module.__name__.startswith(OURS):
            for name, value in list(vars(module).items()):
                if id(value) in by_id and name not in ("_rand", "_inst"):
                    old, new = by_id[id(value)]
                    setattr(module, name, new)
                    changed.append((module, name, new, old))
    return changed


def _module_function(
    original: Callable[..., Any], of: Callable[[generators.LaneGenerators], Any], method: str
) -> Callable[..., Any]:
    """A function of a module: the method of the lane that runs, or of the module's own generator where none does."""

    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        lane = generators.running()
        if lane is None:
            return original(*args, **kwargs)
        generators.settle(of(lane))
        return getattr(of(lane), method)(*args, **kwargs)

    return function


def _reporting_default_rng(seed: Any = None) -> Any:
    if type(seed) is generators.SiteGenerator:
        return seed
    return generators.SiteGenerator(generators.bits(_default_rng(generators.new_seed() if seed is None else seed)))


def _reporting_np_random(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def np_random(seed: Any = None) -> Any:
        words = generators.new_seed() if seed is None else None
        if words is not None:
            seed = int(np.random.SeedSequence(words).generate_state(1)[0])
        generator, used = original(seed)
        return generators.SiteGenerator(generators.bits(generator)), used

    return np_random
