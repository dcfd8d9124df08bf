"""Variations of boundary inputs: where counters fail, and on and beside what a reference compares with."""

import math

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.verify.property.module import Module, exact
from overclock.verify.property.variations import TINY, beside, compared, counted, counts, together


def test_a_counter_is_tried_where_narrower_types_end_and_where_it_can_still_count():
    tried = set(counts(np.int32).tolist())
    assert {*range(64)} < tried
    for width in (8, 15, 16, 24):
        assert {2**width - 1, 2**width, 2**width + 1} < tried
    assert {19_999, 20_000, 20_001} < tried
    assert max(tried) == 2**31 - 2
    assert max(counts(np.uint8)) == 254
    assert max(counts(np.int64)) == 2**63 - 2
    assert max(counts(np.int32, most=500)) == 500


def test_beside_a_number_lie_its_neighbours_in_both_precisions():
    limit = 0.7
    single = np.float32(limit)
    double = {math.nextafter(limit, 0), limit, math.nextafter(limit, 1)}
    singles = {float(single), *(float(np.nextafter(single, np.float32(end))) for end in (0, 1))}
    assert set(beside(limit)) == singles | double
    assert set(beside(limit, np.float32)) == singles
    assert beside(0.0) == [-TINY, 0.0, TINY]  # what is smaller may be taken for zero
    assert beside(math.inf) == []


def test_only_the_counter_is_varied_in_inputs_where_it_counts_and_some_others():
    inputs = {"hits": np.array([3, 4, 5, 6], np.int32), "x": np.array([0.5, 1.5, 2.5, 3.5])}
    varied = counted(inputs, "hits", [False, True, False, False])
    assert set(varied["x"].tolist()) == {1.5, 0.5, 3.5}  # the one that counts, two of the others
    for x in (1.5, 0.5, 3.5):
        assert varied["hits"][varied["x"] == x].tolist() == counts().tolist()


def test_every_number_of_a_compared_input_is_put_on_and_beside_every_constant_alone():
    inputs = {"q": np.zeros((1, 2)), "steps": np.array([7], np.int32)}
    varied = compared(inputs, ["q"], [0.7, math.inf])
    values = {*beside(0.7), *beside(-0.7)}
    assert {tuple(row) for row in varied["q"]} == {(one, 0.0) for one in values} | {(0.0, one) for one in values}
    assert set(varied["steps"].tolist()) == {7}
    assert len(compared(inputs, ["q"], [])["q"]) == 0
    assert len(together(inputs, varied)["q"]) == 1 + 2 * len(values)


def test_a_module_without_boundary_inputs_has_none_to_vary():
    with pytest.raises(UsageError, match="varies boundary inputs"):
        Module("m", (), lambda call: None, lambda *_: {}, (), {"float64": exact("x")}, counters=("steps",))
