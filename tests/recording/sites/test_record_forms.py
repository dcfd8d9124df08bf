"""The forms of draws: same stream, same values, same types as NumPy and Python give, and the record says why."""

import random

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.recording.sites.generators import LaneGenerators, SiteGenerator, SiteRandom, SiteRandomState, listening
from overclock.recording.sites.record_forms import FORMS

TIMES = 50
P = [0.1, 0.2, 0.3, 0.4]


class Formed:
    """Makes every call in one form, and keeps the records."""

    def __init__(self, form):
        self.form, self.records = form, []

    def draw(self, drawing):
        value, record = FORMS[self.form](drawing)
        self.records.append(np.array(record))
        return value


def pair(source):
    """The plain generator and the heard one, from the same seed."""
    return {
        "Generator": lambda: (np.random.default_rng(5), SiteGenerator(np.random.PCG64(5))),
        "RandomState": lambda: (np.random.RandomState(5), SiteRandomState(5)),
        "Random": lambda: (random.Random(5), SiteRandom(5)),
    }[source]()


def both(source, form, call):
    """(plain values, heard values, records) of many calls; afterwards both generators are at the same place."""
    plain, heard = pair(source)
    listener = Formed(form)
    expected = [call(plain, number) for number in range(TIMES)]
    with listening(listener, LaneGenerators()):
        found = [call(heard, number) for number in range(TIMES)]
    assert plain.random() == heard.random(), "the streams went apart"
    return expected, found, listener.records


def same(expected, found):
    for one, other in zip(expected, found, strict=True):
        assert type(one) is type(other)
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other), strict=True)


GENERATOR, STATE, PYTHON = "Generator", "RandomState", "Random"
CASES = {
    "integers": (GENERATOR, "index", lambda g, i: g.integers(2, 9), lambda i, r: 2 + r),
    "integers endpoint": (GENERATOR, "index", lambda g, i: g.integers(6, endpoint=True, size=3), lambda i, r: r),
    "integers varying": (GENERATOR, "unit", lambda g, i: g.integers(-i, 3 * i + 1),
                         lambda i, r: -i + int(r * (4 * i + 1))),
    "randint": (STATE, "index", lambda g, i: g.randint(5), lambda i, r: r),
    "python randint": (PYTHON, "index", lambda g, i: g.randint(1, 6), lambda i, r: 1 + r),
    "randrange": (PYTHON, "unit", lambda g, i: g.randrange(1, 9 + i, 2),
                  lambda i, r: 1 + 2 * int(r * len(range(1, 9 + i, 2)))),
    "choice": (GENERATOR, "index", lambda g, i: g.choice(list("abcd")), lambda i, r: "abcd"[r]),
    "choice of n": (GENERATOR, "index", lambda g, i: g.choice(7), lambda i, r: r),
    "choice several": (GENERATOR, "index", lambda g, i: g.choice([5, 6, 7], 4), lambda i, r: np.array([5, 6, 7])[r]),
    "choice rows": (GENERATOR, "index", lambda g, i: g.choice(np.eye(3)), lambda i, r: np.eye(3)[r]),
    "choice p": (STATE, "index", lambda g, i: g.choice(4, p=P), lambda i, r: r),
    "choice varying": (GENERATOR, "unit", lambda g, i: g.choice(range(i + 1)), lambda i, r: int(r * (i + 1))),
    "choice varying p": (GENERATOR, "unit", lambda g, i: g.choice(list("abcd"), p=np.roll(P, i)),
                         lambda i, r: "abcd"[np.searchsorted(np.cumsum(np.roll(P, i)), r, side="right")]),
    "legacy choice varying p": (STATE, "unit", lambda g, i: g.choice(4, size=2, p=np.roll(P, i)),
                                lambda i, r: np.searchsorted(np.cumsum(np.roll(P, i)), r, side="right")),
    "python choice": (PYTHON, "index", lambda g, i: g.choice("abc"), lambda i, r: "abc"[r]),
    "python choices": (PYTHON, "index", lambda g, i: g.choices("abc", k=2), lambda i, r: ["abc"[k] for k in r]),
    "python choices weights": (PYTHON, "unit", lambda g, i: g.choices("abcd", [1, 2, 3, i], k=2),
                               lambda i, r: ["abcd"[np.searchsorted([1, 3, 6], u * (6 + i), side="right")] for u in r]),
    "uniform": (GENERATOR, "unit", lambda g, i: g.uniform(-0.1 * i, 0.3 * i),
                lambda i, r: -0.1 * i + (0.3 * i - -0.1 * i) * r),
    "uniform arrays": (GENERATOR, "unit", lambda g, i: g.uniform([0.0, -i], [1.0, 0.7]),
                       lambda i, r: np.array([0.0, -i]) + (np.array([1.0, 0.7]) - np.array([0.0, -i])) * r),
    "legacy uniform": (STATE, "unit", lambda g, i: g.uniform(0.1, 0.3 * i, 2), lambda i, r: 0.1 + (0.3 * i - 0.1) * r),
    "python uniform": (PYTHON, "unit", lambda g, i: g.uniform(0.1, 0.3 * i), lambda i, r: 0.1 + (0.3 * i - 0.1) * r),
    "normal": (GENERATOR, "normal", lambda g, i: g.normal(0.1 * i, 0.7), lambda i, r: 0.1 * i + 0.7 * r),
    "normal several": (GENERATOR, "normal", lambda g, i: g.normal(0.1 * i, 0.7, (2, 2)),
                       lambda i, r: 0.1 * i + 0.7 * r),
    "legacy normal": (STATE, "normal", lambda g, i: g.normal(0.1, 0.1 * i), lambda i, r: 0.1 + 0.1 * i * r),
    "gauss": (PYTHON, "normal", lambda g, i: g.gauss(0.1, 0.1 * i), lambda i, r: 0.1 + r * (0.1 * i)),
    "normalvariate": (PYTHON, "normal", lambda g, i: g.normalvariate(0.1, 0.1 * i), lambda i, r: 0.1 + r * (0.1 * i)),
    "permutation of n": (GENERATOR, "permutation", lambda g, i: g.permutation(6), lambda i, r: r),
    "permutation": (GENERATOR, "permutation", lambda g, i: g.permutation(list("abcd")),
                    lambda i, r: np.array(list("abcd"))[r]),
    "permutation rows": (STATE, "permutation", lambda g, i: g.permutation(np.eye(4)), lambda i, r: np.eye(4)[r]),
    "choice without replacement": (GENERATOR, "permutation", lambda g, i: g.choice(list("abcd"), 3, replace=False),
                                   lambda i, r: np.array(list("abcd"))[r]),
    "legacy without replacement": (STATE, "permutation", lambda g, i: g.choice(5, 3, replace=False), lambda i, r: r),
    "sample": (PYTHON, "permutation", lambda g, i: g.sample(range(10, 40), 4), lambda i, r: [10 + k for k in r]),
    "value": (GENERATOR, "value", lambda g, i: g.exponential(2.0, 3), lambda i, r: r),
    "poisson": (STATE, "value", lambda g, i: g.poisson(3.0), lambda i, r: r),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_form_changes_no_number_and_tells_what_it_is_made_of(case):
    source, form, call, rebuilt = CASES[case]
    expected, found, records = both(source, form, call)
    same(expected, found)
    for number, (value, record) in enumerate(zip(found, records, strict=True)):
        np.testing.assert_array_equal(value, rebuilt(number, record))


@pytest.mark.parametrize(
    ("source", "kind"),
    [(GENERATOR, list), (GENERATOR, np.array), (STATE, list), (STATE, np.array), (PYTHON, list)],
)
def test_a_shuffle_is_recorded_as_an_order(source, kind):
    def call(generator, number):
        deck = kind([3, 1, 4, 1, 5, 9, 2, 6])
        generator.shuffle(deck)
        return deck

    expected, found, records = both(source, "permutation", call)
    same(expected, found)
    for value, order in zip(found, records, strict=True):
        assert sorted(order) == list(range(8))
        assert list(value) == [[3, 1, 4, 1, 5, 9, 2, 6][place] for place in order]


def test_rows_are_shuffled_as_an_order_too():
    def call(generator, number):
        rows = np.arange(12).reshape(4, 3)
        generator.shuffle(rows)
        return rows

    expected, found, records = both(GENERATOR, "permutation", call)
    same(expected, found)
    for value, order in zip(found, records, strict=True):
        np.testing.assert_array_equal(value, np.arange(12).reshape(4, 3)[order])


@pytest.mark.parametrize(
    ("form", "call"),
    [
        ("index", lambda g: g.random()), ("unit", lambda g: g.normal()), ("normal", lambda g: g.integers(3)),
        ("permutation", lambda g: g.choice(3)), ("value", lambda g: g.shuffle([1, 2])),
    ],
)  # fmt: skip
def test_a_form_that_does_not_fit_is_said(form, call):
    with listening(Formed(form), LaneGenerators()), pytest.raises(UsageError, match=form):
        call(SiteGenerator(np.random.PCG64(0)))


def test_chances_that_numpy_refuses_are_refused():
    with listening(Formed("unit"), LaneGenerators()), pytest.raises(ValueError, match="sum to 1"):
        SiteGenerator(np.random.PCG64(0)).choice(2, p=[0.5, 0.6])
