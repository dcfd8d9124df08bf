"""A chosen draw: comparisons are noted with their limits, every other use is noted as one."""

import bisect
import copy
import math
import pickle

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.recording.sites.call_sites import file_of
from overclock.recording.sites.install import hooked
from overclock.recording.sites.recorder import Site, SiteRecorder
from overclock.recording.sites.tracked_number import TrackedNumber

TABLE = np.array([0.25, 0.5, 1.0])

COMPARED = {
    "less": (lambda u: u < 0.5, [0.5]),
    "reflected": (lambda u: 0.5 > u, [0.5]),  # noqa: SIM300
    "chained": (lambda u: 0.1 < u <= 0.5, [0.1, 0.5]),
    "equal": (lambda u: u == 0.5, [0.5]),
    "not equal": (lambda u: u != 0.5, [0.5]),
    "a whole number": (lambda u: u >= 1, [1.0]),
    "a NumPy number": (lambda u: np.float64(0.5) > u, [0.5]),
    "an array": (lambda u: (TABLE[:3] > u).tolist(), TABLE.tolist()),
    "an array, from the left": (lambda u: (u < TABLE).tolist(), TABLE.tolist()),
    "a search": (lambda u: np.argmax(np.cumsum(np.full(4, 0.25)) > u), [0.25, 0.5, 0.75, 1.0]),
    "whole numbers": (lambda u: (np.arange(2) >= u).tolist(), [0.0, 1.0]),
    "bisection": (lambda u: bisect.bisect([0.25, 0.5, 1.0], u), [0.5, 0.25]),
    "a copy": (lambda u: copy.deepcopy(u) < 0.5, [0.5]),
}
TAKEN = {
    "sum": lambda u: u + 1.0,
    "product with an array": lambda u: (TABLE * u).tolist(),
    "rounding": lambda u: int(u * 4),
    "float()": float,
    "bool()": bool,
    "math": math.sin,
    "NumPy": np.sin,
    "an array of it": lambda u: np.asarray(u).tolist(),
    "a list of it": lambda u: np.array([u, 1.0]).tolist(),
    "searchsorted": lambda u: TABLE.searchsorted(u),
    "a comparison in float32": lambda u: bool(np.float32(0.3) > u),
    "an array of float32": lambda u: (TABLE.astype(np.float32) > u).tolist(),
    "a comparison with itself": lambda u: u < u,
    "hash": hash,
    "text": str,
    "format": lambda u: f"{u:.3f}",
    "its type": lambda u: isinstance(u, float),
    "a method": lambda u: u.is_integer(),
    "pickle": lambda u: pickle.loads(pickle.dumps(u)),
    "a dict": lambda u: {0.3: 1}.get(u),
    "maximum of NumPy": lambda u: np.maximum(u, 0.5),
    "a comparison into an array": lambda u: np.less(u, TABLE, out=np.zeros(3, np.bool_)).tolist(),
}


@pytest.mark.parametrize("name", COMPARED)
def test_what_it_is_compared_with_is_noted(name):
    use, limits = COMPARED[name]
    number = TrackedNumber(0.3)
    assert use(number) == use(0.3)
    assert TrackedNumber.noted(number) == (limits, True)


def test_it_has_nothing_that_could_be_looked_into():
    with pytest.raises(TypeError):
        vars(TrackedNumber(0.3))


@pytest.mark.parametrize("name", TAKEN)
def test_any_other_use_is_noted(name):
    number = TrackedNumber(0.3)
    assert TAKEN[name](number) == TAKEN[name](0.3)
    assert not TrackedNumber.noted(number)[1]


def unit(function):
    """The site of a function whose one line begins with `return generator.random`."""
    return Site("u", file_of(__name__, __file__), function.__code__.co_firstlineno + 1, 19, "random")


def test_a_recorder_hands_out_what_was_chosen_and_records_it():
    with hooked():
        generator = np.random.default_rng(0)

        def draw():
            return generator.random() < 0.5

        recorder = SiteRecorder([], [unit(draw)])
        assert recorder.choosable
        for number, below in ((0.25, True), (0.75, False)):
            with recorder.choosing(number), recorder.recording() as drawn:
                assert draw() is below
            assert drawn["u"] == number
        with recorder.recording() as drawn:
            draw()
        assert drawn["u"] not in (0.25, 0.75)  # the generator's own again


@pytest.mark.parametrize(
    "sites",
    [
        [Site("a", "f.py", 1, 0, "random"), Site("b", "f.py", 2, 0, "random")],
        [Site("a", "f.py", 1, 0, "random", count=2)],
        [Site("a", "f.py", 1, 0, "random", shape=(3,))],
        [Site("a", "f.py", 1, 0, "integers", dtype="int64")],
        [Site("a", "f.py", 1, 0, "normal")],
    ],
)
def test_other_draws_cannot_be_chosen(sites):
    assert not SiteRecorder([], sites).choosable
    assert not SiteRecorder(sites, []).choosable


def test_a_draw_of_several_numbers_is_not_replaced_by_one():
    with hooked():
        generator = np.random.default_rng(0)

        def draw():
            return generator.random(3)

        recorder = SiteRecorder([], [unit(draw)])
        wrong = pytest.raises(UsageError, match="is no single number from 0 to 1")
        with wrong, recorder.choosing(0.5), recorder.recording():
            draw()
