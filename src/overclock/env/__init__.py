"""The contract every environment meets: base class, spaces, struct, draws and tape, registry."""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.env.autoreset import select
    from overclock.env.environment import Environment, EnvState, Params
    from overclock.env.precision import require_float64
    from overclock.env.registry import Spec, list_envs, make, register, spec
    from overclock.env.rng import Rng, Section
    from overclock.env.small import first_above, order_by, put
    from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space
    from overclock.env.struct import Struct, static
    from overclock.env.tape import Tape

__all__ = [
    "Box", "Dict", "Discrete", "EnvState", "Environment", "MultiDiscrete", "Params", "Rng", "Section", "Space", "Spec",
    "Struct", "Tape", "first_above", "list_envs", "make", "order_by", "put", "register", "require_float64",
    "select", "spec", "static",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(["Environment", "EnvState", "Params"], "overclock.env.environment"),
        **dict.fromkeys(["Spec", "list_envs", "make", "register", "spec"], "overclock.env.registry"),
        **dict.fromkeys(["Rng", "Section"], "overclock.env.rng"),
        **dict.fromkeys(["Box", "Dict", "Discrete", "MultiDiscrete", "Space"], "overclock.env.spaces"),
        **dict.fromkeys(["first_above", "order_by", "put"], "overclock.env.small"),
        **dict.fromkeys(["Struct", "static"], "overclock.env.struct"),
        "Tape": "overclock.env.tape",
        "require_float64": "overclock.env.precision",
        "select": "overclock.env.autoreset",
    },
)
