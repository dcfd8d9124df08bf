"""One of CartPole's modules, which claims to exercise a function that it never calls."""

import dataclasses

from overclock.envs.cartpole.modules import MODULES as HONEST
from overclock.envs.cartpole.modules import RULES

MODULES = tuple(
    dataclasses.replace(module, exercises=(*module.exercises, f"{RULES}.observe"))
    for module in HONEST
    if module.name == "termination"
)
