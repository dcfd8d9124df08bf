"""Draws by site: found where they stand, recorded as often as they happen, refused where nobody knows them."""

import ast
import contextlib
import inspect
import json
import random

import numpy as np
import pytest
from translate import lucky

from overclock.errors import UsageError
from overclock.recording.sites.facts import facts_of
from overclock.recording.sites.hooks import listening
from overclock.recording.sites.install import hooked
from overclock.recording.sites.sample import sample
from overclock.recording.sites.sites import Lanes, Site, SiteRecorder

SOURCE = inspect.getsource(lucky)
FILE = "translate/lucky.py"


@pytest.fixture(autouse=True)
def hooks():
    with hooked():
        yield


class Listener:
    """Hears the draws of instances, each in its lane."""

    def __init__(self):
        self.lanes, self.drawings = Lanes(), []

    @contextlib.contextmanager
    def recording(self, lane=0, seed=None):
        if seed is not None:
            self.lanes[lane].begin(seed)
        with listening(self, self.lanes[lane]):
            yield

    def draw(self, drawing):
        self.drawings.append((drawing, facts_of(drawing)))
        return drawing.run()


def heard(call):
    """The draws of a program and the facts of each, by the text of the call."""
    listener = Listener()
    with listener.recording(seed=0):
        call()
    return {text_at(drawing.place): (drawing, facts) for drawing, facts in listener.drawings}


def text_at(place):
    """The call that stands at a place, found by the parser alone."""
    assert place.file == FILE
    (node,) = [
        node for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == (place.line, place.column)
        and isinstance(node.func, ast.Attribute | ast.Name)
    ]  # fmt: skip
    return " ".join(ast.unparse(node).split())


def site(call, form, dtype="float64", **known):
    """A site at the only draw of a program."""
    ((drawing, _),) = heard(call).values()
    return Site("it", *drawing.place, drawing.method, form, source=drawing.source, dtype=dtype, **known)


def recorded(sites, call, seed=0):
    with SiteRecorder(sites, ()).recording(seed=seed) as drawn:
        call()
    return drawn


# ---- where ----


def test_every_generator_is_heard_and_its_call_is_found():
    def program():
        lucky.from_modules()
        lucky.from_instances(3)
        lucky.over_lines(np.random.default_rng(1))
        lucky.starred(np.random.default_rng(1), 2.0, 3.0)

    found = {text: (drawing.source, drawing.method) for text, (drawing, _) in heard(program).items()}
    assert found == {
        "np.random.uniform(0.0, 1.0)": ("numpy.random", "uniform"),
        "np.random.randint(5)": ("numpy.random", "randint"),
        "random.random()": ("random", "random"),
        "pick('abc')": ("random", "choice"),
        "state.rand(2)": ("RandomState", "rand"),
        "python.randint(1, 6)": ("Random", "randint"),
        "generator.integers(3)": ("Generator", "integers"),
        "generator.uniform(0.0, 1.0)": ("Generator", "uniform"),
        "generator.uniform(*bounds)": ("Generator", "uniform"),
    }


def test_modules_draw_what_their_seed_says():
    listener = Listener()
    with listener.recording(seed=9):
        found = lucky.from_modules()
    plain, python = np.random.RandomState(9), random.Random(9)
    assert found == (plain.uniform(0.0, 1.0), plain.randint(5), python.random(), python.choice("abc"))


def test_a_program_that_seeds_modules_itself_gets_what_it_asked_for():
    with Listener().recording(seed=9):
        found = lucky.seeds_itself()
    assert found == (np.random.RandomState(7).uniform(), random.Random(7).random())


def test_lanes_do_not_share_their_luck():
    listener = Listener()

    def luck(lane, seed=None):
        with listener.recording(lane, seed):
            return lucky.from_modules()

    alone = [luck(0, 5), luck(0), luck(0)]
    mixed = [luck(0, 5), luck(1, 6), luck(0), luck(1), luck(0)]
    assert mixed[::2] == alone
    assert mixed[1] != mixed[0]


def test_an_instance_is_the_same_again_even_where_it_seeds_nothing():
    def episodes(resets):
        listener, shown = Listener(), []
        with listener.lanes[0].making():
            wanderer = lucky.Wanderer()
        for seed in resets:
            with listener.recording(seed=seed):
                shown.append(wanderer.reset())
            with listener.recording():
                shown.append(wanderer.step())
        return wanderer.slope, shown

    listener = Listener()
    with listener.lanes[0].making():
        first = lucky.Wanderer().slope
    with listener.lanes[0].making():
        assert lucky.Wanderer().slope == first
    slope, shown = episodes([4, 5, 4])
    assert slope == first
    assert shown[:2] == shown[4:] != shown[2:4]
    assert episodes([4]) == (slope, shown[:2])


def test_hooks_leave_nothing_behind():
    before = np.random.Generator, np.random.uniform, random.choice, lucky.pick, lucky.default_rng
    listener = Listener()
    for level in range(2):
        with hooked(), listener.recording(seed=level):
            pass
    assert before == (np.random.Generator, np.random.uniform, random.choice, lucky.pick, lucky.default_rng)
    assert isinstance(np.random.mtrand._rand, np.random.RandomState)


# ---- what ----


def test_a_site_in_a_loop_has_a_row_for_every_time_and_zeros_after():
    known = site(lambda: lucky.in_loop(np.random.default_rng(0), 1), "unit", count=3)
    assert known.leaf_shape == (3,)
    plain = np.random.default_rng(2).random(2).tolist()
    drawn = recorded([known], lambda: lucky.in_loop(np.random.default_rng(2), 2))
    assert drawn["it"].tolist() == [*plain, 0.0]


def test_what_is_recorded_is_a_copy():
    known = site(lambda: lucky.in_place(np.random.default_rng(0)), "value", shape=(3,))
    drawn = recorded([known], lambda: lucky.in_place(np.random.default_rng(0)))
    np.testing.assert_array_equal(drawn["it"], np.random.default_rng(0).random(3))


def test_facts_mean_the_same_for_every_generator():
    seen = heard(lambda: lucky.from_instances(3))
    assert seen["python.randint(1, 6)"][1] == {"low": 1, "n": 6, "step": 1}
    assert seen["generator.integers(3)"][1] == {"low": 0, "n": 3, "step": 1}


def test_a_shuffle_is_an_order():
    known = site(
        lambda: lucky.shuffled(np.random.default_rng(0), list("abcd")), "permutation", "int64", shape=(4,),
        arguments=(("n", 4), ("k", 4)),
    )  # fmt: skip
    result = []
    drawn = recorded([known], lambda: result.extend(lucky.shuffled(np.random.default_rng(1), list("abcd"))))
    assert result == ["abcd"[place] for place in drawn["it"]]


# ---- what is not known ----


def test_an_unknown_site_is_said_with_its_place():
    with pytest.raises(UsageError, match=rf"\(uniform\) at {FILE}:\d+:\d+; known are: none"):
        recorded([], lucky.from_modules)


def test_more_draws_than_counted_are_said():
    known = site(lambda: lucky.in_loop(np.random.default_rng(0), 1), "unit", count=2)
    with pytest.raises(UsageError, match="more than 2 times"):
        recorded([known], lambda: lucky.in_loop(np.random.default_rng(0), 3))


def test_another_shape_is_said():
    other = site(lambda: lucky.in_place(np.random.default_rng(0)), "value", shape=(2,))
    with pytest.raises(UsageError, match=r"gave float64\[3\], not float64\[2\]"):
        recorded([other], lambda: lucky.in_place(np.random.default_rng(0)))


def test_a_program_cannot_hide_an_unknown_draw():
    with pytest.raises(UsageError, match="known are: none"):
        recorded([], lambda: lucky.careless(np.random.default_rng(0)))


def test_a_function_stored_away_is_noticed():
    stored = np.random.mtrand._rand.uniform  # as a program would hold it that was imported long ago
    with pytest.raises(UsageError, match="stored away"):
        recorded([], lambda: stored(0.0, 1.0))


def test_the_bit_generator_is_not_for_programs():
    generator = np.random.default_rng(0)
    assert generator.bit_generator is not None
    with pytest.raises(UsageError, match="bit generator"):
        recorded([], lambda: generator.bit_generator.random_raw())


# ---- on paper, and beyond what was reached ----


def test_a_site_is_read_as_it_was_written():
    known = Site("x", "a/b.py", 3, 4, "choice", "index", (2,), 3, (("n", 4), ("p", (0.5, 0.5))), "random", "int64")
    assert Site.from_json(json.loads(json.dumps(known.to_json()))) == known
    with pytest.raises(UsageError, match="'indices'"):
        Site("x", "a.py", 1, 0, "choice", "indices")


@pytest.mark.parametrize(
    ("form", "arguments", "mean"),
    [
        ("index", (("n", 3),), 1.0), ("index", (("n", 3), ("p", (0.0, 0.5, 0.5))), 1.5), ("unit", (), 0.5),
        ("normal", (), 0.0), ("value", (("scale", 2.0),), 2.0),
    ],
)  # fmt: skip
def test_a_sample_has_the_distribution_that_the_site_describes(form, arguments, mean):
    dtype = "int64" if form == "index" else "float64"
    method = "choice" if form == "index" else "exponential"
    known = Site("x", "a.py", 1, 0, method, form, (), 1, arguments, dtype=dtype)
    found = [sample(known, (seed,)) for seed in range(400)]
    assert abs(np.mean(found) - mean) < 0.4
    assert len(set(map(float, found))) > 1
    assert sample(known, (7,)) == sample(known, (7,))


def test_a_sampled_order_is_one():
    known = Site("x", "a.py", 1, 0, "shuffle", "permutation", (5,), 1, (("n", 5), ("k", 5)), dtype="int64")
    assert sorted(sample(known, (3,)).tolist()) == [0, 1, 2, 3, 4]
