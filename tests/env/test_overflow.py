"""`overflow`: what a state says of room that ran out, and who raises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Dealer, Duel

from overclock.env import Rng, Struct, Tape
from overclock.env.overflow import overflow_of, refuse_overflow, room_of
from overclock.errors import OverflowedError, UsageError

SHORT = Dealer(tape_words=1)  # action 1 needs two words


class Inner(Struct):
    overflow: jax.Array


class Nested(Struct):
    hand: Inner
    decks: dict


def test_a_state_without_flags_has_no_overflow():
    assert overflow_of({"points": jnp.zeros(2)}) is None
    assert Duel().overflow(Duel().reset(jax.random.key(0))[1].rules) is None


def test_a_number_called_overflow_is_no_flag():
    assert overflow_of({"overflow": jnp.int32(3)}) is None


@pytest.mark.parametrize("set_one", ["hand", "decks"])
def test_a_flag_anywhere_in_the_state_counts(set_one):
    flags = {"hand": jnp.bool_(False), "decks": jnp.zeros(3, bool)}
    flags[set_one] = jnp.ones_like(flags[set_one])
    assert overflow_of(Nested(Inner(flags["hand"]), {"overflow": flags["decks"]}))


def test_a_tape_that_is_kept_in_a_state_is_such_a_flag():
    tape = Tape.recorded(np.zeros(1, np.uint32), 1)
    assert not overflow_of({"tape": tape})
    assert overflow_of({"tape": tape.next_word()[1].next_word()[1]})


def test_every_step_tells_overflow_in_info_and_it_stays_until_the_next_episode():
    params = SHORT.default_params()
    _, state = SHORT.reset(jax.random.key(0), params)
    told = []
    for step, action in enumerate([0, 1, 0]):
        _, state, *_, info = SHORT.step_env(Rng.of(step), state, action, params)
        told.append(bool(info["overflow"]))
    assert told == [False, True, True]
    _, state = SHORT.reset(jax.random.key(1), params)
    assert not SHORT.facts(state.rules, params)["overflow"]


def test_the_step_that_ends_an_episode_still_tells_that_it_overflowed():
    params = SHORT.default_params().replace(max_steps=2)
    _, state = SHORT.reset(jax.random.key(0), params)
    _, state, *_ = SHORT.step(Rng.of(1), state, 1, params)
    _, state, _, _, truncated, info = SHORT.step(Rng.of(2), state, 0, params)
    assert truncated
    assert info["overflow"]
    assert not state.rules.overflow


def test_the_error_names_a_lane_and_the_room_that_is_known():
    with pytest.raises(OverflowedError, match=r"In lane 2 and 1 more .* \(room: body 32\)"):
        refuse_overflow(np.array([False, False, True, True]), room="body 32")
    refuse_overflow(np.zeros(3, bool))
    refuse_overflow(None)


def test_inside_jit_nothing_is_refused():
    assert jax.jit(lambda flag: (refuse_overflow(flag), flag)[1])(True)


def test_the_room_is_what_an_environment_says_of_its_capacities():
    assert room_of(SHORT) == ""


def test_what_an_adapter_does_about_overflow_is_one_of_two_words():
    from overclock.adapters.gymnax import GymnaxV0

    with pytest.raises(UsageError, match="'error' or 'info'"):
        GymnaxV0(SHORT, overflow="never")  # pyright: ignore[reportArgumentType]
