"""Which outcomes of a reference's branches are known, taken, missing, or set aside."""

import importlib
import json
import textwrap

import gymnasium
import numpy as np
import pytest

from overclock.results import decode, encode
from overclock.verify.reach.ledger import Ledger, Outcome, Seen, SeenOutcome
from overclock.verify.reach.watcher import Watcher

BASE = """
    import gymnasium

    class Board:
        def __init__(self, rows):
            self.rows = rows

        def full(self, row):
            return row >= 3

    class Game(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(9)
        action_space = gymnasium.spaces.Discrete(4)

        def bonus(self):
            return 5 if self.lines > 1 else 0

        def score(self):
            return 0
"""
RULES = """
    from small_game import tables
    from small_game.base import Board, Game
    from small_game.helpers import clear

    class Small(Game):
        def __init__(self, wide=False, render_mode=None):
            self.wide, self.render_mode = wide, render_mode
            self.board = Board(4)
            self.lines = 0
            if wide:
                self.lines = 0

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            if options:
                self.lines = options["lines"]
            self.lines = self.height = 0
            return 0, {}

        def score(self):
            return self.bonus()

        def step(self, action):
            if not 0 <= action < 4:
                raise ValueError("no such action")
            assert self.height < 100
            self.height += 1
            if self.board.full(self.height):
                self.height = 0
                self.lines += clear(self.board, action)
            if self.wide and self.lines:
                self.lines = 0
            if self.render_mode == "human":
                self.render()
            tables.MOVES[action](self)
            try:
                [1, 2, 3][self.lines]
            except IndexError:
                self.lines = 0
            return self.height, self.score(), False, False, {}

        def render(self):
            return "picture"
"""
HELPERS = """
    def clear(board, action):
        if action == 3 and board.rows > 2:
            return 1
        return 0
"""
TABLES = """
    def wait(game):
        pass

    def jump(game):
        game.height += 1

    MOVES = [wait, wait, jump, wait]
"""


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    (folder / "small_game").mkdir()
    for name, text in (("__init__", ""), ("base", BASE), ("rules", RULES), ("helpers", HELPERS), ("tables", TABLES)):
        (folder / "small_game" / f"{name}.py").write_text(textwrap.dedent(text))
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(folder)
        yield importlib.import_module("small_game.rules").Small


class Reference:
    def __init__(self, env):
        self.instances = [env]


def played(env, *episodes):
    """The ledger of these episodes, each a list of actions."""
    watcher, ledger = Watcher(Reference(env)), Ledger()
    for actions in episodes:
        with watcher:
            env.reset(seed=0)
            for action in actions:
                env.step(action)
    seen = decode(Seen, json.loads(json.dumps(encode(watcher.seen()))))  # as it comes from another process
    ledger.add(seen)
    return ledger


def texts(outcomes):
    return {str(outcome).removeprefix("small_game/") for outcome in outcomes}


def test_outcomes_of_everything_that_a_step_calls_are_known(game):
    ledger = played(game(), [0, 0, 0, 0])
    assert texts(ledger.missing) == {
        "helpers.py:3 `action == 3` is true",  # a helper of another module
        "base.py:16 `self.lines > 1` is true",  # of a base class
        "rules.py:39 `except IndexError` is entered",
        "tables.py:5 `jump` is called",  # dispatched by a table
    }
    assert "base.py:8 `Board.full` is called" in texts(ledger.taken)  # of an object that the environment holds


def test_what_lies_behind_a_missing_outcome_is_listed_once_it_is_reached(game):
    behind = "helpers.py:3 `board.rows > 2` is false"
    assert behind not in texts(played(game(), [0, 0, 0, 0]).missing)
    assert texts(played(game(), [0, 0, 3, 2], [3, 0, 2, 3, 3, 3, 3, 3, 3, 3, 3]).missing) == {behind}


def test_what_cannot_be_compared_is_set_aside_with_its_rule(game):
    aside = {str(outcome).removeprefix("small_game/"): why for outcome, why in played(game(), [0]).aside.items()}
    assert {text: why for text, why in aside.items() if text.startswith("rules.py")} == {
        "rules.py:16 `options` is true": "call",
        "rules.py:25 `0 <= action < 4` is false": "raises",
        "rules.py:27 `self.height < 100` is false": "raises",
        "rules.py:32 `self.wide` is true": "constructor",
        'rules.py:34 `self.render_mode == "human"` is true': "rendering",
        "rules.py:39 `except IndexError` is false": "raises",
    }
    wide = played(game(wide=True), [0, 0, 3])
    assert "rules.py:32 `self.lines` is true" in texts(wide.taken)
    assert wide.aside
    assert not any("self.wide` is true" in text for text in texts(wide.aside))


def test_a_ledger_adds_up_the_reports_of_several_processes(game):
    one, other = (played(game(), actions) for actions in ([0, 0, 0], [3, 2, 3]))
    both = Ledger()
    for ledger in (one, other):
        both.add(Seen([SeenOutcome(outcome, True) for outcome in ledger.taken], [], True))
        both.add(Seen([SeenOutcome(outcome, False) for outcome in ledger.missing], [], True))
    assert {*both.taken} == {*one.taken, *other.taken}
    assert {*both.missing} == {*one.missing, *other.missing} - {*both.taken}


def test_an_outcome_is_missing_only_where_its_branch_was_met():
    yes, no, call = (Outcome("a.py", 3, "x", said, "f") for said in ("is true", "is false", "is called"))
    ledger = Ledger()
    ledger.add(Seen([SeenOutcome(yes, False), SeenOutcome(no, False)], [], True))
    assert ledger.missing == []
    ledger.add(Seen([SeenOutcome(no, True), SeenOutcome(call, False)], [], True))
    assert ledger.missing == [call, yes]


def test_gymnasiums_rules_are_seen_and_its_machinery_is_not():
    env = gymnasium.make("FrozenLake-v1")
    assert not played(env, *[np.random.default_rng(seed).integers(0, 4, 4).tolist() for seed in range(60)]).outside
    ledger = played(env, [0])
    assert {outcome.file for outcome in ledger.known} <= {
        "gymnasium/envs/toy_text/frozen_lake.py", "gymnasium/envs/toy_text/utils.py",
    }  # fmt: skip


def test_a_reference_of_ours_without_instances_shows_no_branches():
    from overclock.verify.sides.native_subject import NativeSubject

    watcher, ledger = Watcher(object.__new__(NativeSubject)), Ledger()
    ledger.add(watcher.seen())
    assert not ledger.visible
