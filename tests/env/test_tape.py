"""A tape is read front to back, never silently past its end."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from probes import Dealer

from overclock.env import Rng, Tape
from overclock.errors import UsageError

WORDS = [7, 0xFFFFFFFF, 0, 0x80000000]


def read(tape: Tape, count: int) -> tuple[list[int], Tape]:
    words = []
    for _ in range(count):
        word, tape = tape.next_word()
        words.append(int(word))
    return words, tape


def test_a_drawn_tape_holds_the_words_of_its_sites():
    rng = Rng.of(3)
    words, tape = read(Tape.draw(rng, 6, site=10), 6)
    assert words == [int(rng.words(site)) for site in range(10, 16)]
    assert not tape.overflow
    assert tape.capacity == 6


@pytest.mark.parametrize("capacity", [4, 5, 9])
def test_a_recording_replays_its_words_and_then_overflows_at_once(capacity):
    words, tape = read(Tape.recorded(WORDS, capacity), 4)
    assert words == WORDS
    assert not tape.overflow
    past, tape = read(tape, 1)
    assert past == [0]
    assert tape.overflow


def test_overflow_is_sticky_and_position_stays():
    _, tape = read(Tape.recorded(WORDS, 4), 50)
    assert tape.overflow
    assert int(tape.position) == 4
    assert tape.position.dtype == np.int32
    # A flag that came from elsewhere survives a good read, too.
    assert read(Tape.recorded(WORDS, 4).replace(overflow=jnp.bool_(True)), 1)[1].overflow


def test_an_empty_recording_overflows_on_the_first_read():
    _, tape = read(Tape.recorded([], 3), 1)
    assert tape.overflow


def test_tapes_of_one_capacity_have_one_structure_whatever_their_length():
    full, short = Tape.recorded(WORDS, 6), Tape.recorded(WORDS[:1], 6)
    drawn = Tape.draw(Rng.of(0), 6)
    shapes = [jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), tape) for tape in (full, short, drawn)]
    assert len({str(shape) for shape in shapes}) == 1


@given(word=st.integers(0, 2**32 - 1), n=st.integers(1, 2**31))
@settings(max_examples=60, deadline=None)
def test_next_below_is_the_exact_floor_and_takes_one_word(word, n):
    tape = Tape.recorded(np.array([word], np.uint32), 2)
    for bound in (n, jnp.uint32(n)):
        value, after = tape.next_below(bound)
        assert int(value) == word * n >> 32
        assert int(after.position) == 2


@pytest.mark.parametrize(
    ("words", "capacity", "sentence"),
    [
        (WORDS, 3, "4 words but the tape holds 3"),
        ([], 0, "room for a word"),
        ([[1, 2]], 4, "one axis"),
    ],
)
def test_impossible_tapes_are_refused(words, capacity, sentence):
    with pytest.raises(UsageError, match=sentence):
        Tape.recorded(words, capacity)


def test_rules_read_a_varying_number_of_words_and_replay_from_a_recording():
    env = Dealer()
    params = env.default_params()
    _, state = env.reset(Rng.of(0), params)
    rng = Rng.of(4)
    drawn = env.advance(state, jnp.int32(1), env.draw_step(rng, state.rules, params), params)
    recorded = Tape.recorded([int(rng.words(0)), int(rng.words(1))], env.tape_words)
    replayed = env.advance(state, jnp.int32(1), recorded, params)
    assert int(replayed[0].rules.total) == int(drawn[0].rules.total)
    assert not replayed[0].rules.overflow
    too_short = env.advance(state, jnp.int32(2), recorded, params)
    assert too_short[0].rules.overflow
