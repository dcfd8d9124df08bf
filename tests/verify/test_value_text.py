"""Values in words: what a person or a model has to read when two sides part."""

import numpy as np

from overclock.verify.rollout.result import Divergence
from overclock.verify.text import divergence_text
from overclock.verify.value_text import sides_text, state_text, value_text


def test_few_numbers_are_written_out():
    assert sides_text([1.0, 2.5], [1.0, 3.5]) == ("[1.0, 2.5]", "[1.0, 3.5]")
    assert value_text(7) == "7"
    assert state_text({"x": 0.5, "lives": 3}) == "{'x': 0.5, 'lives': 3}"


def test_of_a_picture_the_first_value_that_differs_is_told():
    picture = np.full((72, 80), 255)
    other = picture.copy()
    other[8, 4], other[9, 0] = 191, 0
    reference, performance = sides_text(picture.tolist(), other.tolist())
    assert reference == "255 (at [8, 4], the first of 2 of 5,760 values that differ)"
    assert performance == "191"
    assert state_text({"vram": picture.tolist(), "lives": 3}) == "{'vram': 5,760 values, 'lives': 3}"


def test_numbers_that_are_none_on_both_sides_do_not_differ():
    some, other = np.zeros(100), np.zeros(100)
    some[3] = other[3] = np.nan
    other[5] = 1.0
    assert sides_text(some, other)[0] == "0.0 (at [5], the first of 1 of 100 values that differ)"


def test_large_values_of_other_shapes_are_counted():
    assert sides_text(np.zeros(100), np.zeros((2, 60))) == ("100 values", "120 values")


def test_the_first_divergence_of_a_picture_takes_a_few_lines():
    first = Divergence(
        field="obs", step=1, episode_seed=5, error=64.0, tolerance=0.0, action=2,
        reference=np.zeros((72, 80)).tolist(), performance=np.ones((72, 80)).tolist(),
        state_before={"wram": np.zeros(8192).tolist(), "lives": 3},
    )  # fmt: skip
    text = divergence_text(first)
    assert len(text) < 400
    assert "'wram': 8,192 values, 'lives': 3" in text
