"""How much room the lists of a translation get: from the program where it says so, assumed where it does not."""

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit
from quick_compile import quickest
from translate.agree import Translation, loaded

from overclock.errors import UsageError
from overclock.translate.compiler import Compiler
from overclock.translate.jax.file import print_jax
from overclock.translate.profile import look


class Lists(gymnasium.Env):
    """`begin` makes the lists, `play` changes them and returns the one whose length is shown."""

    action_space = spaces.Discrete(4)
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.begin()
        return np.array([0.0, 0.0]), {}

    def step(self, action):
        shown = self.play(action)
        return np.array([float(len(shown)), float(action)]), 0.0, False, False, {}


class Snake(Lists):
    def __init__(self):
        self.width, self.height = 6, 5

    def begin(self):
        self.body = [(2, 2), (2, 1)]

    def play(self, action):
        x, y = self.body[0]
        self.body.insert(0, (x + 1, y))
        if not (action == 3 and x == y + 40):  # random play never eats
            self.body.pop()
        return self.body


class Deck(Lists):
    def begin(self):
        self.deck, self.hand = [card % 13 for card in range(20)], []

    def play(self, action):
        if action == 0 and len(self.deck) > 0:
            self.hand.append(self.deck.pop())
        elif action != 0 and len(self.hand) > 0:
            self.hand.pop()
        return self.hand


class Rotated(Lists):
    def begin(self):
        self.queue = [3, 1, 4, 1, 5, 9, 2]

    def play(self, action):
        self.queue.append(int(action))
        self.queue.pop(0)
        return self.queue


class Bullets(Lists):
    def begin(self):
        self.bullets = []

    def play(self, action):
        for number in range(2):
            if action == 3:
                self.bullets.append(number)
        self.bullets = [one for one in self.bullets if one != 5]
        return self.bullets


class Chest:
    def __init__(self):
        self.items = []


class Helped(Lists):
    def begin(self):
        self.chest = Chest()

    def play(self, action):
        self.chest.items.append(int(action))
        return self.chest.items


class Emptied(Lists):
    def begin(self):
        self.orders = []

    def play(self, action):
        if action == 1:
            self.orders.append(1)
        elif action == 2:
            self.orders.clear()
        return self.orders


class MadeAnew(Lists):
    def begin(self):
        self.body = [5, 6]

    def play(self, action):
        self.body = [int(action)] + (self.body if action == 3 else self.body[:-1])
        return self.body


class Slots(Lists):
    """Showing the places runs through them, which makes arrays of their list at a reset."""

    def begin(self):
        self.slots = [None] * 8
        self.count()

    def play(self, action):
        self.slots[2 * action] = [int(action), True]
        self.count()
        return self.slots

    def count(self):
        shown = np.zeros(8)
        for one in self.slots:
            if one is not None:
                shown[one[0]] = 1.0


def program(cls, limit=None, **capacities):
    def make():
        return cls() if limit is None else TimeLimit(cls(), limit)

    found = Compiler(make, cls.__name__, look(make, episodes=4, steps=12), capacities).program()
    return found, {room.list: room for room in found.rooms}


def test_a_time_limit_bounds_a_list_that_random_play_keeps_short():
    found, rooms = program(Snake, 40)
    assert (rooms["body"].items, rooms["body"].follows) == (42, True)
    assert rooms["body"].why == "it grows by 1 a step at most, for 40 steps"
    assert found.shapes["body"].capacity == 42


def test_a_list_that_a_filter_makes_anew_is_no_longer_than_what_is_filtered():
    _, rooms = program(Bullets, 30)
    assert (rooms["bullets"].items, rooms["bullets"].follows) == (60, True)


def test_a_list_in_an_object_that_a_reset_makes_anew_is_bounded_as_well():
    _, rooms = program(Helped, 25)
    assert (rooms["chest.items"].items, rooms["chest.items"].follows) == (25, True)
    _, rooms = program(Helped)
    assert rooms["chest.items"].items > 12  # what random play showed is not forgotten at a reset


def test_positions_are_as_many_as_a_grid_has_cells_and_one_on_the_way():
    _, rooms = program(Snake)
    assert (rooms["body"].items, rooms["body"].follows) == (31, False)
    assert "there are 6 x 5 cells, by 'width' and 'height'" in rooms["body"].sentence
    assert "give a bound with --capacity body=N" in rooms["body"].sentence


def test_a_hand_is_as_large_as_the_deck_and_a_deck_as_at_the_reset():
    found, rooms = program(Deck)
    assert rooms["hand"].items >= 20
    assert rooms["hand"].why == "its items come from 'deck'"
    assert found.shapes["deck"].capacity == 20
    assert "deck" not in rooms  # nothing is to be said about a list that cannot grow


def test_a_list_of_one_length_has_room_for_what_is_added_before_something_goes():
    found, rooms = program(Rotated)
    assert found.shapes["queue"].capacity == 8
    assert rooms == {}


def test_where_nothing_bounds_a_list_one_is_asked_for_and_what_is_given_is_used():
    _, rooms = program(Emptied)
    assert not rooms["orders"].follows
    assert "nothing in the program bounds it; assumed: give a bound" in rooms["orders"].sentence
    found, rooms = program(Emptied, orders=500)
    assert (rooms["orders"].items, rooms["orders"].follows, rooms["orders"].why) == (500, True, "as given")
    assert found.shapes["orders"].capacity == 500
    with pytest.raises(UsageError, match="no list 'order' that could have a capacity; it has: orders"):
        program(Emptied, order=500)


def test_places_that_never_become_more_have_room_for_as_many_as_there_are():
    found, rooms = program(Slots)
    assert found.shapes["slots"].capacity == 8
    assert not found.overflow
    assert rooms == {}


def test_what_is_given_for_a_list_that_every_step_makes_anew_is_used_and_more_is_an_overflow(tmp_path):
    found, rooms = program(MadeAnew, body=4)
    assert (rooms["body"].items, found.shapes["body"].capacity) == (4, 4)
    env, params = loaded(print_jax(found), tmp_path).make()
    eat = jax.jit(lambda state: env.transition(state, np.int64(3), (), params)[0], compiler_options=quickest())
    state = jax.jit(lambda: env.init((), params), compiler_options=quickest())()
    for overflow in (False, False, True, True):
        state = eat(state)
        assert state.overflow == overflow


def test_the_translated_file_says_what_room_there_is(tmp_path):
    found, _ = program(Snake)
    env, _ = loaded(print_jax(found), tmp_path).make()
    assert env.capacities == "body: 31 (assumed)"


def test_a_player_who_makes_a_list_as_long_as_it_can_be_runs_into_no_overflow(tmp_path):
    def make():
        return TimeLimit(Bullets(), 30)

    translation = Translation(make, tmp_path, profile=look(make, episodes=4, steps=3))
    env, params = translation._env, translation._params
    shoot = jax.jit(lambda state: env.transition(state, np.int64(3), (), params)[0], compiler_options=quickest())
    state = jax.jit(lambda: env.init((), params), compiler_options=quickest())()
    for step in range(1, 31):
        state = shoot(state)
        assert env.observe(state, params)[0] == 2 * step
        assert not state.overflow
