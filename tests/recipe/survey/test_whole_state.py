"""Nothing of a state is missed in silence: what play did not change, what is taken apart, what no array holds."""

import pytest

from overclock.errors import UsageError
from overclock.recipe.project.new_contract import contract_of
from overclock.recipe.survey.live.profile import Profile, profile
from overclock.recipe.survey.static.attribute_writes import writes
from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.source import resolve

POND = """
    import typing

    import gymnasium
    import numpy as np


    class Place(typing.NamedTuple):
        row: int
        column: int


    class Pond(gymnasium.Env):
        shared = 0
        depth = 3.0

        def __init__(self):
            self.observation_space = gymnasium.spaces.Box(-1e6, 1e6, (1,), np.float64)
            self.action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.x = float(self.np_random.uniform(-1.0, 1.0))
            {begin}
            return np.array([self.x]), {{}}

        def step(self, action):
            self.x = self.x + (1.0 if action == 1 else -1.0)
            {go}
            return np.array([self.x]), float({pay}), {end}, False, {{}}
    """


def pond(write, begin="pass", go="pass", pay="1.0", end="abs(self.x) > 9.0"):
    """What is seen of a reference that does a little more."""
    lines = {"begin": begin, "go": go, "pay": pay, "end": end}
    source = resolve(str(write("whole_state_pond.py", POND.format(**lines))) + ":Pond", None, 60)
    return source, profile(source, 200)


def state(seen: Profile) -> set[str]:
    return {one.path for one in seen.fields if one.used}


def test_a_tuple_that_is_taken_apart_by_position_is_state(write):
    _, seen = pond(
        write, "self.place = Place(0, 0)", "r, c = self.place; self.place = Place(r + action, c + 1)",
        "self.place[0] + c",
    )  # fmt: skip
    assert state(seen) == {"x", "place.row", "place.column"}
    assert seen.restored.works


def test_what_only_a_rare_step_changes_is_state(write):
    source, seen = pond(
        write, "self.lives, self.seen = 3, np.zeros(4)",
        "seen = self.seen; (setattr(self, 'lives', 2), seen.__setitem__(0, 1.0)) if self.x > 400 else None",
        "self.lives + self.seen[0]",
    )  # fmt: skip
    assert "lives" in state(seen)
    assert [field.name for field in contract_of(source, seen).state] == ["x", "lives"]
    _, seen = pond(
        write, "self.lives, self.seen = 3, np.zeros(4)", "seen = self.seen; seen[:1] = 1.0 * (self.x > 400)",
        "self.lives + self.seen[0]",
    )  # fmt: skip
    assert state(seen) == {"x", "seen"}, "a name that stands for an attribute"


REFUSED = {
    "a set": ({"begin": "self.places = {0}", "go": "self.places.add(int(self.x))", "pay": "len(self.places)"}, "a set"),
    "an attribute of the class": (
        {"go": "type(self).shared = type(self).shared + 1", "pay": "type(self).shared"}, "all instances share"),
    "a value that a rare step makes of None": (
        {"begin": "self.goal = None", "go": "self.goal = 3.0 if self.x > 400 else self.goal",
         "pay": "self.goal is None"}, "None, until a step"),
    "a list that a rare step makes longer": (
        {"begin": "self.path = [1, 2]", "go": "self.path.append(3) if self.x > 400 else None",
         "pay": "len(self.path)"}, "longer or shorter"),
    "what is hidden in a function": (
        {"begin": "count = [0]; self.count = lambda: count.append(1) or len(count)", "pay": "self.count()"},
        "not its whole state"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_contract_without_a_part_of_the_state_is_not_written(write, name):
    lines, says = REFUSED[name]
    source, seen = pond(write, **lines)
    with pytest.raises(UsageError, match=says) as error:
        contract_of(source, seen)
    assert "\n" not in str(error.value)


HARMLESS = {
    "a log that nobody reads": {"begin": "self.log = []", "go": "self.log.append(self.x)"},
    "what changes when an episode ends": {
        "begin": "self.over = None",
        "go": "over = abs(self.x) > 9.0; self.over = 0 if over else self.over",
        "pay": "self.over is None",
    },
    "a constant of the class": {"pay": "self.depth"},
    "a number that is bounded by an attribute": {
        "begin": "self.most = 5.0",
        "go": "speed = self.x; speed = self.most if speed > self.most else speed; speed += 1.0",
        "pay": "speed",
    },
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_no_step_depends_on_is_no_state(write, name):
    source, seen = pond(write, **HARMLESS[name])
    assert [field.name for field in contract_of(source, seen).state] == ["x"]


def test_constants_are_those_that_no_step_assigns(write):
    source, seen = pond(
        write, "self.lives, self.width = 3, 2.0", "self.lives -= self.x > 400", "self.lives * self.width"
    )
    assert seen.constants == {"width": 2.0}
    assert "lives" in writes(rules(source)).assigned


def test_thresholds_and_what_a_float32_action_does_are_found_by_asking(write):
    _, seen = pond(write)
    assert seen.rounding.limits == {"x": (-9.0, 9.0)}
    assert seen.rounding.spread == {}
    cart = profile(resolve("gymnasium:CartPole-v1"), 200)
    assert cart.rounding.limits == {"state[0]": (-2.4, 2.4), "state[2]": (-0.20943951, 0.20943951)}
    swing = profile(resolve("gymnasium:Pendulum-v1"), 100)
    assert 1e-9 < swing.rounding.spread["state"] < 1e-7
    assert swing.rounded_rewards
    assert not cart.rounded_rewards
