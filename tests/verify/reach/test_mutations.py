"""Changed states stay what a contract can compare: whole numbers stay whole, and lists keep room for a step."""

import numpy as np

from overclock.verify.reach.mutations import SLACK, Layout, Mutations

TRIES = 2_000


def changed(met, constants=(0.5, 1.0, 3.0), tries=TRIES):
    layout, generator = Layout.of(met[0]), np.random.default_rng(0)
    mutations = Mutations(layout, met, constants)
    pairs = [(1.0, 1.0), (1.0, 0.5), (2.0, 1.0)]
    for number in range(tries):
        one, other = (met[int(place)] for place in generator.integers(len(met), size=2))
        yield mutations.change(one, other, pairs if number % 2 else [], generator)


def test_a_float_that_was_whole_each_time_stays_whole():
    """A contract compares it exactly, in float32 as well, which does not hold the neighbours of a float64."""
    generator = np.random.default_rng(1)
    met = [
        {"board": np.rint(generator.random((4, 4))), "speed": generator.normal(), "left": np.float64(number)}
        for number in range(20)
    ]
    met = [{name: np.asarray(value) for name, value in state.items()} for state in met]
    found = [*changed(met)]
    assert all((np.rint(state[name]) == state[name]).all() for state in found for name in ("board", "left"))
    assert any((np.rint(state["speed"]) != state["speed"]).any() for state in found)
    assert len({float(state["left"]) for state in found}) > 20  # it is changed all the same


def test_a_number_that_is_infinite_may_be_changed():
    met = [{"best": np.asarray(np.inf), "n": np.asarray(number)} for number in range(4)]
    assert len([*changed(met)]) == TRIES


def lists(lengths, capacity):
    return [{"x_length": np.asarray(length), "x_0": np.arange(capacity) % 5} for length in lengths]


def test_a_list_that_play_never_filled_keeps_room_for_a_step():
    assert max(int(state["x_length"]) for state in changed(lists(range(6), 64))) == 64 - SLACK
    assert max(int(state["x_length"]) for state in changed(lists(range(3), 4))) == 3


def test_a_list_that_play_filled_is_filled():
    assert max(int(state["x_length"]) for state in changed(lists((64, 50, 20), 64))) == 64
