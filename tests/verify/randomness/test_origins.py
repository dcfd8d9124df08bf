"""Where draws come from: honest uses of words and state pass, own generators and mixed bits are named."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import Box, Discrete, Environment, Params, Section, Struct, Tape
from overclock.env.rng import mix, scale_word
from overclock.env.small import first_above
from overclock.verify.randomness.origins import KEY, MIXED, SENTENCES, STATE, origins_of_draws


class WalkState(Struct):
    position: jax.Array
    count: jax.Array
    deck: jax.Array


@dataclasses.dataclass(frozen=True)
class Walk(Environment[WalkState, Params]):
    """A walk whose draws are given."""

    of_step: object = None
    of_reset: object = None

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Box(-np.inf, np.inf, ())

    def action_space(self, params):
        return Discrete(2)

    def draw_reset(self, rng, params):
        return self.of_reset(rng) if self.of_reset else rng.unit(0)

    def draw_step(self, rng, state, params):
        return self.of_step(rng, state)

    def init(self, draw, params):
        return WalkState(position=jnp.float32(0.5), count=jnp.int32(3), deck=jnp.arange(8))

    def transition(self, state, action, draw, params):
        return state, jnp.float32(0), jnp.bool_(False)

    def observe(self, state, params):
        return state.position


def hashed(state):
    return jax.lax.bitcast_convert_type(state.position, jnp.uint32)


def later_words(rng, mask):
    return mix(rng.k0, rng.k1, rng.counter & jnp.uint32(mask), jnp.uint32(0))


def in_a_loop(rng, state):
    def body(carry):
        place, found = carry
        return place + 1, found + (rng.unit(0, (8,))[place] * state.deck[place]).astype(jnp.int32)

    return jax.lax.while_loop(lambda carry: carry[0] < state.count, body, (jnp.int32(0), jnp.int32(0)))[1]


def carried_key(rng, state):
    def turn(carry, site):
        return carry, carry.unit(0) + site

    return jax.lax.scan(turn, rng, jnp.arange(4.0))[1]


def chosen(rng, state):
    return jax.lax.cond(state.count > 2, lambda: rng.unit(0), lambda: rng.unit(1) / 2)


HONEST = {
    "a unit": lambda rng, state: rng.unit(0, (3,)),
    "a normal": lambda rng, state: rng.normal(2, (2, 2)),
    "a uniform number with bounds of the state": lambda rng, state: rng.uniform(0, -state.position, state.position),
    "a number below a constant": lambda rng, state: (rng.integers(0, 6, (2,)), rng.integers(3, 8)),
    "a number below one of the state": lambda rng, state: scale_word(rng.words(0), state.count),
    "the remainder of a word": lambda rng, state: rng.words(0) % state.count.astype(jnp.uint32),
    "a product in floats": lambda rng, state: jnp.floor(rng.unit(0) * state.count).astype(jnp.int32),
    "a legal choice": lambda rng, state: rng.masked_choice(0, state.deck > state.count),
    "a chance of the state": lambda rng, state: rng.bernoulli(0, state.position),
    "an entry of the state": lambda rng, state: state.deck[rng.integers(0, 8)],
    "an order": lambda rng, state: jnp.argsort(rng.unit(0, (8,))),
    "a search": lambda rng, state: first_above(jnp.cumsum(state.deck) / 28, rng.unit(0)),
    "a bit of a bitboard": lambda rng, state: (state.count >> rng.integers(0, 4)) & 1,
    "a place after the state's": lambda rng, state: (state.count + 1 + rng.integers(0, 3)) % 4,
    "only sometimes": lambda rng, state: jnp.where(state.count > 2, rng.unit(0), 0.0),
    "one of two": chosen,
    "a tape": lambda rng, state: Tape.draw(rng, 5),
    "in a loop": in_a_loop,
    "in a scan": carried_key,
    "a compiled part": lambda rng, state: jax.jit(lambda r: r.unit(0))(rng),
    "a constant": lambda rng, state: jnp.float32(0),
    "nothing": lambda rng, state: (),
}
OWN = {
    "the counter": (lambda rng, state: rng.counter, KEY),
    "a repeating counter": (lambda rng, state: later_words(rng, 0xFFFF), KEY),
    "a key of its own": (lambda rng, state: rng.replace(k1=rng.k1 ^ 1).unit(0), KEY),
    "one key for all": (lambda rng, state: rng.replace(k0=jnp.uint32(7), k1=jnp.uint32(9)).unit(0), KEY),
    "a constant when it is late": (lambda rng, state: jnp.where(rng.counter > 1 << 16, 0.5, rng.unit(0)), KEY),
    "other words when it is late": (
        lambda rng, state: jax.lax.cond(rng.counter > 9, lambda: rng.unit(0), lambda: rng.unit(1)), KEY,
    ),
    "the next event": (lambda rng, state: rng.advance().unit(0), KEY),
    "the words of the policy": (lambda rng, state: rng.of_section(Section.ACTION).unit(0), KEY),
    "a key in a loop": (
        lambda rng, state: jax.lax.fori_loop(0, 3, lambda i, r: r.advance(), rng).unit(0), KEY,
    ),
    "another multiplier": (lambda rng, state: (rng.counter * jnp.uint32(747796405) + rng.k0) >> 8, KEY),
    "mixed with the state": (lambda rng, state: rng.words(0) ^ hashed(state), MIXED),
    "added to the state": (lambda rng, state: rng.words(0) + hashed(state), MIXED),
    "mixed in a float": (
        lambda rng, state: jax.lax.bitcast_convert_type(
            jax.lax.bitcast_convert_type(rng.unit(0), jnp.uint32) ^ (hashed(state) & 255), jnp.float32
        ),
        MIXED,
    ),
    "mixed and scaled": (lambda rng, state: scale_word(rng.words(0) ^ hashed(state), 6), MIXED),
    "of the state alone": (lambda rng, state: (hashed(state) * jnp.uint32(1664525)) >> 8, STATE),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_draw_is_of_words_constants_and_the_state(name):
    assert origins_of_draws(Walk(of_step=HONEST[name]), Params()) == []


@pytest.mark.parametrize("name", OWN)
def test_a_draw_with_randomness_of_its_own_is_named(name):
    draw, label = OWN[name]
    assert origins_of_draws(Walk(of_step=lambda rng, state: {"wind": draw(rng, state)}), Params()) == [
        ("draw_step.wind", SENTENCES[label])
    ]


def test_a_reset_is_looked_at_as_well():
    env = Walk(of_step=HONEST["nothing"], of_reset=lambda rng: later_words(rng, 0xFF))
    assert origins_of_draws(env, Params()) == [("draw_reset", SENTENCES[KEY])]


def test_the_words_of_both_halves_are_words_in_float64():
    with jax.enable_x64(True):
        assert origins_of_draws(Walk(of_step=lambda rng, state: rng.normal(0, (2,))), Params()) == []
