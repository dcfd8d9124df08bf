"""The types in which a caller writes actions and states are not seen by the rules."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import Box, Discrete, Environment, Params, Struct


class Place(Struct):
    x: jax.Array


@dataclasses.dataclass(frozen=True, eq=False)
class Watching(Environment):
    """Shows in its observation what types its rules are given."""

    seen: dict = dataclasses.field(default_factory=dict)

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Box((-1.0,), (1.0,), (1,))

    def action_space(self, params):
        return Discrete(3)

    def init(self, draw, params):
        return Place(jnp.float32(0.0))

    def transition(self, state, action, draw, params):
        self.seen.setdefault("types", set()).add((jax.typeof(action), jax.typeof(state.x)))
        return Place(state.x + action), state.x, state.x > 5

    def observe(self, state, params):
        return state.x[None]


@pytest.mark.parametrize("how", [jax.jit, lambda function: function], ids=["jit", "as it is"])
def test_rules_see_one_type_of_action_and_of_state_however_they_are_written(how):
    env = Watching()
    _, state = env.reset(jax.random.key(0))
    step = how(lambda state, action: env.step(jax.random.key(1), state, action)[1].rules.x)
    kinds = (np.int8, np.uint8, np.int16, np.int32, np.int64, jnp.int8, jnp.int32)
    found = {float(step(state, action)) for action in (2, *(kind(2) for kind in kinds))}
    found.add(float(step(state.replace(rules=Place(0.0)), 2)))
    assert found == {2.0}
    ((action, x),) = env.seen["types"]
    assert (action.dtype, action.weak_type, x.dtype, x.weak_type) == (np.int32, False, np.float32, False)


def test_batches_of_actions_are_of_the_spaces_type_as_well():
    env = Watching()
    lanes = jax.vmap(lambda key: env.reset(key)[1])(jax.random.split(jax.random.key(0), 3))
    jax.vmap(lambda state, action: env.step(jax.random.key(1), state, action))(lanes, jnp.arange(3, dtype=jnp.uint8))
    assert {action.dtype for action, _ in env.seen["types"]} == {np.dtype(np.int32)}
