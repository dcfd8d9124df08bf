"""One of CartPole's modules, which claims to exercise a function that it never calls; and a side that hides its own."""

import dataclasses

from overclock.envs.cartpole.modules import MODULES as HONEST
from overclock.envs.cartpole.modules import RULES
from overclock.verify.property.runner import ModuleRunner

MODULES = tuple(
    dataclasses.replace(module, exercises=(*module.exercises, f"{RULES}.observe"))
    for module in HONEST
    if module.name == "termination"
)


class HidingRunner(ModuleRunner):
    """Lists a single function as its own, one that is run."""

    def exported(self) -> list[str]:
        return [name for name in super().exported() if name.endswith(".fallen")]
