"""What is set aside takes what lies behind it along, and objects inside an environment are configured as it is."""

import importlib
import textwrap

import pytest
from verify.reach.test_watcher import played, texts

from overclock.verify.reach.ledger import Ledger, Outcome, Seen, SeenOutcome

RULES = """
    import gymnasium

    class Walker:
        def __init__(self, quick):
            self.quick = quick
            self.at = 0

        def move(self, action):
            if self.quick:
                self.at += 1
            self.at += action

    class Runner(Walker):
        pass

    class Spark:
        def __init__(self, bright):
            self.bright = bright

        def glow(self):
            return 2 if self.bright else 1

    class Twins:
        def __init__(self, left):
            self.left = left

        def side(self):
            return 1 if self.left else 0

    def low(options):
        return int(options["low"])

    def bounds(options):
        if options is None:
            return 0
        return low(options)

    def rare(at):
        return at

    def caught(at):
        return at

    MOVES = [abs, lambda at: at + 1]

    class Nested(gymnasium.Env):
        observation_space = gymnasium.spaces.Discrete(9)
        action_space = gymnasium.spaces.Discrete(4)

        def __init__(self, wide=False, render_mode=None):
            self.wide, self.render_mode = wide, render_mode
            self.walker = Runner(False)
            self.spark = Spark(False)
            self.twins = Twins(True), [Twins(False)]

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = bounds(options)
            return 0, {}

        def _frame(self):
            return 1

        def _stretched(self):
            return 2

        def step(self, action):
            self.spark = Spark(False)
            self.walker.move(action)
            self.at += self.spark.glow() + self.twins[0].side()
            self.at += self._stretched() if self.wide else 0
            self.at += sum(rare(one) for one in [1]) if action == 3 else 0
            try:
                self.at = MOVES[0](self.at)
            except ZeroDivisionError:
                self.at = caught(self.at)
            if self.render_mode == "human":
                self._frame()
            return 0, 0, False, False, {}
"""


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nested")
    (folder / "nested_game").mkdir()
    (folder / "nested_game" / "__init__.py").write_text("")
    (folder / "nested_game" / "rules.py").write_text(textwrap.dedent(RULES))
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(folder)
        yield importlib.import_module("nested_game.rules").Nested


def named(outcomes):
    """Without files and lines."""
    return {text.partition(" ")[2] for text in texts(outcomes)}


def test_a_function_that_is_called_only_behind_what_nobody_took_is_not_listed_itself(nested):
    missing = named(played(nested(), [0, 1, 0]).missing)
    assert not missing & {f"`{name}` is called" for name in ("low", "rare", "caught", "Nested._frame")}
    assert "`Nested._stretched` is called" not in missing
    assert {"`action == 3` is true", "`except ZeroDivisionError` is entered"} <= missing
    assert "`<lambda>` is called" in missing  # of a table, which a line that ran reads
    assert "`rare` is called" in named(played(nested(), [3]).taken)


def test_the_configuration_of_an_object_inside_the_environment_is_set_aside(nested):
    ledger = played(nested(), [0, 1, 0])
    aside = {text: why for outcome, why in ledger.aside.items() for text in named([outcome])}
    assert aside["`self.quick` is true"] == "constructor"
    assert aside["`options` is not None"] == "call"
    assert aside["`self.wide` is true"] == "constructor"
    missing = named(ledger.missing)
    assert "`self.bright` is true" in missing  # play makes new ones
    assert "`self.left` is false" in missing  # there is another, with another value
    assert "`self.quick` is true" not in missing


def test_what_any_process_asks_for_is_not_set_aside(nested):
    yes, no = (Outcome("a.py", 3, "self.x", said, "f") for said in ("is true", "is false"))
    reports = [
        Seen([SeenOutcome(yes, True), SeenOutcome(no, False, aside)], [], True) for aside in (None, "constructor")
    ]
    for order in (reports, reports[::-1]):
        ledger = Ledger()
        for seen in order:
            ledger.add(seen)
        assert ledger.missing == [no]
