"""The search for branches: in games of realistic size it reaches the rare rules that random play never does."""

import numpy as np
import pytest
from verify.reach.games.subjects import CLASSES, LISTS, read, write

from overclock.recording.reseed import reseed
from overclock.verify.reach.comparisons import comparisons, constants_of
from overclock.verify.reach.mutations import Layout
from overclock.verify.reach.nearest import NearestTracer
from overclock.verify.reach.rule_files import rule_files
from overclock.verify.reach.search import BranchSearch, SearchedInstance

PLAYED = 200  # steps of random play before a search
RARE = {
    "tetris": ["`self.board[row].all()` is true", "`self.board[row].all()` is true, 4 times in one step"],
    "snake": ["`len(self.body) > LONG` is true", "`self.hungry >= HUNGER` is true"],
    "sokoban": ["`GOALS[self.map, to_row, to_column]` is true", "`self._solved()` is true"],
}


def searched(game, seed=0, tries=6144):
    env = CLASSES[game]()
    env.action_space.seed(seed)
    env.reset(seed=seed)
    met, tracer = [], NearestTracer(rule_files(env))
    for number in range(PLAYED):
        met.append(read(game, env))
        if env.step(env.action_space.sample())[2]:
            env.reset(seed=seed + number)

    def put(state):
        write(game, env, state)
        return read(game, env)

    def step(choice):
        env.action_space.seed(choice)
        reseed(env, choice)
        action = env.action_space.sample()
        with tracer:
            return env.step(action)[2]

    instance = SearchedInstance(lambda: read(game, env), put, step)
    lists = LISTS.get(game, {})
    items = {name for names in lists.values() for name in (*names,)} | set(lists)
    plain = tuple(name for name in met[0] if name not in items)
    layout = Layout(plain, tuple((name,) for name in plain), lists)
    search = BranchSearch(instance, layout, tracer, met, constants_of(comparisons([CLASSES[game]], env)), seed)
    return search, search.run(tries, seconds=120.0)


@pytest.mark.parametrize("game", RARE)
def test_rare_rules_of_a_game_are_reached(game):
    search, counts = searched(game)
    reached = {text.partition(" ")[2] for one in search.found for text in one.reached}
    assert not [one for one in RARE[game] if one not in reached]
    assert not [one for one in counts.missed if "SIZE * SIZE" not in one], "all but a snake that fills the board"
    assert counts.steps > counts.tries // 2, "most of the states are such that the reference can go on from them"


def test_a_search_finds_the_same_again():
    (one, first), (other, second) = (searched("sokoban", tries=600) for _ in range(2))
    assert first == second
    assert [found.reached for found in one.found] == [found.reached for found in other.found]
    for a, b in zip(one.found, other.found, strict=True):
        assert a.attempt.choice == b.attempt.choice
        assert all(np.array_equal(a.attempt.state[name], b.attempt.state[name]) for name in a.attempt.state)


def test_it_tells_what_play_reached_from_what_a_changed_state_reached():
    _, counts = searched("tetris", tries=2500)
    line = "`self.board[row].all()` is true"
    assert any(line in one for one in counts.reached_from_changed_states)
    assert not any(line in one for one in counts.reached_by_play)
    assert any("`action == LEFT` is true" in one for one in counts.reached_by_play)
