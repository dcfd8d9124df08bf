"""The text of a right candidate for a small reference: float fields, one uniform draw at reset, two actions."""

ENVIRONMENT = """\
import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct
{constants}

class {name}Params(Params):
    max_steps: int | None = {max_steps}


class {name}State(Struct):
{fields}


class {name}Reset(Struct):
    uniform_0: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class {name}(Environment[{name}State, {name}Params]):
    def default_params(self):
        return {name}Params()

    def observation_space(self, params):
        return Box(-{bound}, {bound}, ({size},))

    def action_space(self, params):
        return Discrete(2)

    def draw_reset(self, rng: Rng, params):
        return {name}Reset(uniform_0=rng.uniform(0, {draw}))

    def init(self, draw, params):
        return {name}State({init})

    def transition(self, state, action, draw, params):
{rules}
        return {name}State({after}), jnp.float32(1.0), {terminated}

    def observe(self, state, params):
        return jnp.stack([{observed}]).astype(jnp.float32)


def make():
    return {name}(), {name}Params()
"""


def environment(name, fields, rules, *, constants="", max_steps, bound, draw, init, terminated):
    """env.py of an environment whose observation is its state; `rules` assign the new value of every field."""
    return ENVIRONMENT.format(
        name=name, constants=constants, max_steps=max_steps, bound=bound, size=len(fields), draw=draw, init=init,
        fields="\n".join(f'    {field}: Float[Array, ""]' for field in fields),
        rules="\n".join(f"        {rule}" for rule in rules),
        after=", ".join(f"{field}={field}" for field in fields),
        observed=", ".join(f"state.{field}" for field in fields), terminated=terminated,
    )  # fmt: skip
