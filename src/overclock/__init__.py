"""Overclock: a slow reinforcement-learning environment in, a fast one that provably behaves the same out.

>>> import overclock
>>> env, params = overclock.make("cartpole")
"""

from typing import TYPE_CHECKING

import overclock.envs as _envs  # names the environments that come with the package
from overclock._lazy import lazy_names
from overclock._moved import redirect_moved_modules
from overclock.adapters.gymnasium_plugin import register_when_imported as _register_in_gymnasium
from overclock.env.registry import Spec, list_envs, make, register, spec

if TYPE_CHECKING:
    from overclock.env.rng import Rng
    from overclock.vector import Fresh, Optimistic, Pool, vectorize

__version__ = "0.1.0"
__all__ = [
    "Fresh", "Optimistic", "Pool", "Rng", "Spec", "list_envs", "make", "register", "spec",
    "vectorize",
]  # fmt: skip

redirect_moved_modules()
_register_in_gymnasium()
del _envs, _register_in_gymnasium, redirect_moved_modules
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Rng": "overclock.env.rng",
        **dict.fromkeys(["Fresh", "Optimistic", "Pool", "vectorize"], "overclock.vector"),
    },
)
