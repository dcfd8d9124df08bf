"""The rules of one lane give arrays, as they do without being traced on their own."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import Discrete, Environment, Params, Struct
from overclock.recipe.judging.hygiene.programs import digest
from overclock.recipe.judging.one_lane import one_lane
from overclock.vector.fused.control import scan_counts


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


@pytest.mark.parametrize("loops", [1, 2])
def test_constants_of_a_loop_may_be_handed_over_in_any_order_and_not_for_each_other(loops):
    low, high = np.array([1.0, 2.0], np.float32), np.array([3.0, 5.0], np.float32)

    def step(y, _):
        return y * jnp.asarray(high) - jnp.asarray(low), None

    def several(y, _):
        return jax.lax.scan(step, y, length=3)[0], None

    one = jax.make_jaxpr(lambda x: jax.lax.scan(step if loops == 1 else several, x, length=3))(jnp.zeros(2))
    loop = one.eqns[-1]
    assert (loop.primitive.name, scan_counts(loop.params, len(loop.invars))[0]) == ("scan", 2)
    inner = loop.params["jaxpr"]

    def swapped(places):
        return [places[1], places[0], *places[2:]]

    def with_loop(**changed):
        return one.replace(jaxpr=one.jaxpr.replace(eqns=[*one.eqns[:-1], loop.replace(**changed)]))

    turned = inner.replace(jaxpr=inner.jaxpr.replace(invars=swapped(inner.jaxpr.invars)))
    both = with_loop(invars=swapped(loop.invars), params={**loop.params, "jaxpr": turned})
    assert digest(both) == digest(one)
    assert digest(with_loop(invars=swapped(loop.invars))) != digest(one)
    assert digest(with_loop(params={**loop.params, "jaxpr": turned})) != digest(one)
