"""The rules of one lane give arrays, as they do without being traced on their own."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env import Discrete, Environment, Params, Struct
from overclock.recipe.judging.hygiene.programs import digest
from overclock.recipe.judging.one_lane import one_lane


class Door(Struct):
    closed: jax.Array
    turns: jax.Array


@dataclasses.dataclass(frozen=True)
class Doors(Environment[Door, Params]):
    """Begins with constants, which a trace keeps as plain numbers."""

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Discrete(2)

    def action_space(self, params):
        return Discrete(2)

    def init(self, draw, params):
        return Door(jnp.asarray(False), jnp.asarray(0, jnp.int32))

    def transition(self, state, action, draw, params):
        opened = ~state.closed
        return state.replace(turns=state.turns + 1), opened.astype(jnp.float32), opened

    def observe(self, state, params):
        return state.turns


def test_constant_results_are_arrays_that_the_next_rule_can_use():
    env = one_lane(Doors())

    def played(action):
        state = env.init((), Params())
        assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(state))
        return env.transition(state, action, (), Params())

    after, reward, opened = jax.vmap(played)(jnp.zeros(3, jnp.int32))
    assert reward.tolist() == [1.0] * 3
    assert opened.all()
    assert after.turns.dtype == jnp.int32


def test_the_order_in_which_constants_are_listed_is_no_other_program_and_their_values_are():
    def spread(low, high):
        return jax.make_jaxpr(lambda x: x * (jnp.asarray(high) - jnp.asarray(low)))(jnp.zeros(2))

    low, high = np.array([1.0, 2.0], np.float32), np.array([3.0, 5.0], np.float32)
    one = spread(low, high)
    turned = one.jaxpr.replace(constvars=one.jaxpr.constvars[::-1])
    assert len(one.consts) == 2
    assert digest(one.replace(jaxpr=turned, consts=one.consts[::-1])) == digest(one)
    assert digest(one.replace(consts=one.consts[::-1])) != digest(one)
    assert digest(spread(low, high + 1)) != digest(one)
