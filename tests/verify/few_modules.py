"""The modules of level 1 that XLA compiles quickly, of two twins; their workers load them from here."""

from typing import Any

from overclock.env import registry
from overclock.verify.property.level import modules_of

NAMES = {"halfcheetah": ("cost", "observe", "info"), "cartpole": ("dynamics", "termination")}


def few(name: str) -> Any:
    """Of the twin of this environment."""
    twin = registry.load(f"overclock.envs.{name}.twin:twin")()
    return tuple(module for module in modules_of(twin) if module.name in NAMES[name])


HALFCHEETAH, CARTPOLE = few("halfcheetah"), few("cartpole")
