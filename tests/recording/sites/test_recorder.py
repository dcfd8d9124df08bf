"""Draws by site: found where they stand, recorded as often as they happen, refused where nobody knows them."""

import ast
import inspect
import json
import random

import numpy as np
import pytest
from recording.sites.site_watcher import VARYING, SiteWatcher
from translate import random_calls

from overclock.errors import UsageError
from overclock.recording.sites.install import hooked
from overclock.recording.sites.recorder import Site, SiteRecorder
from overclock.recording.sites.sampling import sample

SOURCE = inspect.getsource(random_calls)
FILE = "translate/random_calls.py"


@pytest.fixture(autouse=True)
def hooks():
    with hooked():
        yield


def watched(call, times=1, seed=0):
    """What a watcher sees of a program, by the text of the draws."""
    watcher = SiteWatcher()
    for number in range(times):
        with watcher.recording(seed=seed):
            call(number)
    return {text_at(seen.place): seen for seen in watcher.seen()}


def text_at(place):
    """The call that stands at a place, found by the parser alone."""
    assert place.file == FILE
    (node,) = [
        node for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == (place.line, place.column)
        and isinstance(node.func, ast.Attribute | ast.Name)
    ]  # fmt: skip
    return " ".join(ast.unparse(node).split())


def site(seen, name="it", when="reset"):
    return seen.site(name, when)


def recorded(sites, call, seed=0):
    with SiteRecorder(sites, ()).recording(seed=seed) as drawn:
        call()
    return drawn


# ---- where ----


def test_every_generator_is_heard_and_its_call_is_found():
    def program(number):
        random_calls.from_modules()
        random_calls.from_instances(3)
        random_calls.over_lines(np.random.default_rng(1))
        random_calls.starred(np.random.default_rng(1), 2.0, 3.0)

    found = {text: (min(seen.sources), min(seen.methods)) for text, seen in watched(program).items()}
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
    watcher = SiteWatcher()
    with watcher.recording(seed=9):
        found = random_calls.from_modules()
    plain, python = np.random.RandomState(9), random.Random(9)
    assert found == (plain.uniform(0.0, 1.0), plain.randint(5), python.random(), python.choice("abc"))


def test_a_program_that_seeds_modules_itself_gets_what_it_asked_for():
    with SiteWatcher().recording(seed=9):
        found = random_calls.seeds_itself()
    assert found == (np.random.RandomState(7).uniform(), random.Random(7).random())


def test_lanes_do_not_share_their_luck():
    watcher = SiteWatcher()

    def luck(lane, seed=None):
        with watcher.recording(lane, seed):
            return random_calls.from_modules()

    alone = [luck(0, 5), luck(0), luck(0)]
    mixed = [luck(0, 5), luck(1, 6), luck(0), luck(1), luck(0)]
    assert mixed[::2] == alone
    assert mixed[1] != mixed[0]


def test_an_instance_is_the_same_again_even_where_it_seeds_nothing():
    def episodes(resets):
        watcher, shown = SiteWatcher(), []
        with watcher.making():
            wanderer = random_calls.Wanderer()
        for seed in resets:
            with watcher.recording(seed=seed):
                shown.append(wanderer.reset())
            with watcher.recording():
                shown.append(wanderer.step())
        return wanderer.slope, shown

    watcher = SiteWatcher()
    with watcher.making():
        first = random_calls.Wanderer().slope
    with watcher.making():
        assert random_calls.Wanderer().slope == first
    slope, shown = episodes([4, 5, 4])
    assert slope == first
    assert shown[:2] == shown[4:] != shown[2:4]
    assert episodes([4]) == (slope, shown[:2])


def test_hooks_leave_nothing_behind():
    heard = np.random.Generator, np.random.uniform, random.choice, random_calls.pick, random_calls.default_rng
    watcher = SiteWatcher()
    for level in range(2):
        with hooked(), watcher.recording(seed=level):
            pass
    assert heard == (np.random.Generator, np.random.uniform, random.choice, random_calls.pick, random_calls.default_rng)
    assert isinstance(np.random.mtrand._rand, np.random.RandomState)


# ---- what ----


def test_a_site_in_a_loop_has_a_row_for_every_time_and_zeros_after():
    generator = np.random.default_rng(0)
    seen = watched(lambda number: random_calls.in_loop(generator, number), times=4)
    (loop,) = seen.values()
    assert (loop.reset.fewest, loop.reset.most) == (0, 3)
    known = site(loop)
    assert (known.count, known.leaf_shape) == (3, (3,))
    plain = np.random.default_rng(2).random(2).tolist()
    drawn = recorded([known], lambda: random_calls.in_loop(np.random.default_rng(2), 2))
    assert drawn["it"].tolist() == [*plain, 0.0]


def test_what_is_recorded_is_a_copy():
    (seen,) = watched(lambda number: random_calls.in_place(np.random.default_rng(0))).values()
    drawn = recorded([site(seen)], lambda: random_calls.in_place(np.random.default_rng(0)))
    np.testing.assert_array_equal(drawn["it"], np.random.default_rng(0).random(3))


def test_arguments_that_stay_give_values_and_those_that_change_what_they_are_made_of():
    chances = ([0.5, 0.5, 0.0], [0.25, 0.25, 0.5])
    constant = watched(
        lambda number: random_calls.by_chance(np.random.default_rng(number), 2, 3, chances[0], 1.0), times=3
    )
    varying = watched(
        lambda number: random_calls.by_chance(
            np.random.default_rng(number), number, 3 + number, chances[number], 1.0 + number
        ),
        times=2,
    )
    forms = {text: (site(constant[text]).form, site(varying[text]).form) for text in constant}
    assert forms == {
        "generator.integers(low, low + n)": ("index", "unit"),
        "generator.choice(n)": ("index", "unit"),
        "generator.choice(len(p), p=p)": ("index", "unit"),
        "generator.uniform(low, low + scale)": ("value", "unit"),
        "generator.normal(low, scale)": ("value", "normal"),
    }
    assert constant["generator.integers(low, low + n)"].facts["n"] == 3
    assert varying["generator.integers(low, low + n)"].facts["n"] is VARYING
    assert site(constant["generator.choice(len(p), p=p)"]).arguments == (("n", 3), ("p", (0.5, 0.5, 0.0)))
    assert site(constant["generator.normal(low, scale)"]).arguments == (("loc", 2), ("scale", 1.0))


def test_facts_mean_the_same_for_every_generator():
    seen = watched(lambda number: random_calls.from_instances(3))
    assert seen["python.randint(1, 6)"].facts == {"low": 1, "n": 6, "step": 1}
    assert seen["generator.integers(3)"].facts == {"low": 0, "n": 3, "step": 1}


def test_a_range_of_one_size_is_an_index_wherever_it_begins():
    seen = watched(lambda number: random_calls.by_chance(np.random.default_rng(number), number, 3, [1.0], 1.0), times=2)
    assert site(seen["generator.integers(low, low + n)"]).form == "index"


def test_a_shuffle_is_an_order():
    (seen,) = watched(lambda number: random_calls.shuffled(np.random.default_rng(0), list("abcd"))).values()
    known = site(seen)
    assert (known.form, known.shape, known.arguments) == ("permutation", (4,), (("n", 4), ("k", 4)))
    result = []
    drawn = recorded([known], lambda: result.extend(random_calls.shuffled(np.random.default_rng(1), list("abcd"))))
    assert result == ["abcd"[place] for place in drawn["it"]]


def test_lengths_that_change_have_no_order_to_record():
    seen = watched(lambda number: random_calls.shuffled(np.random.default_rng(0), list("abcd"[number:])), times=2)
    with pytest.raises(UsageError, match="several shapes"):
        site(next(iter(seen.values())))


# ---- what is not known ----


def test_an_unknown_site_is_said_with_its_place():
    with pytest.raises(UsageError, match=rf"\(uniform\) at {FILE}:\d+:\d+; known are: none"):
        recorded([], random_calls.from_modules)


def test_more_draws_than_counted_are_said():
    (seen,) = watched(lambda number: random_calls.in_loop(np.random.default_rng(0), 2)).values()
    with pytest.raises(UsageError, match="more than 2 times"):
        recorded([site(seen)], lambda: random_calls.in_loop(np.random.default_rng(0), 3))


def test_another_shape_is_said():
    (seen,) = watched(lambda number: random_calls.in_place(np.random.default_rng(0))).values()
    other = Site(**{**site(seen).to_json(), "shape": (2,)})
    with pytest.raises(UsageError, match=r"gave float64\[3\], not float64\[2\]"):
        recorded([other], lambda: random_calls.in_place(np.random.default_rng(0)))


def test_a_program_cannot_hide_an_unknown_draw():
    with pytest.raises(UsageError, match="known are: none"):
        recorded([], lambda: random_calls.careless(np.random.default_rng(0)))


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
