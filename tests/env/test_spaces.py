"""Spaces contain what they sample, say what they are, and refuse definitions that make no sense."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overclock.env import Box, Dict, Discrete, MultiDiscrete, Rng, Space
from overclock.env.spaces import as_jax_holds_it, structure
from overclock.errors import UsageError

INTEGER_DTYPES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.bool_]


@st.composite
def float_boxes(draw):
    dtype = draw(st.sampled_from([np.float16, np.float32]))
    shape = draw(st.sampled_from([(), (3,), (2, 2), (0,)]))
    number = st.floats(width=16 if dtype is np.float16 else 32, allow_nan=False)
    low, high = sorted((draw(number), draw(number)))
    low, high = (-math.inf if low == math.inf else low), (math.inf if high == -math.inf else high)
    return Box(low, high, shape, dtype)


@st.composite
def integer_boxes(draw):
    dtype = np.dtype(draw(st.sampled_from(INTEGER_DTYPES)))
    smallest, largest = (0, 1) if dtype == np.bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    bounds = st.integers(int(smallest), int(largest)) | st.sampled_from([int(smallest), int(largest)])
    pairs = [sorted((draw(bounds), draw(bounds))) for _ in range(3)]
    return Box(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), (3,), dtype)


leaves = (
    float_boxes()
    | integer_boxes()
    | st.builds(Discrete, st.integers(1, 2**31))
    | st.builds(MultiDiscrete, st.lists(st.integers(1, 2**20), min_size=1, max_size=4).map(tuple))
)
spaces = st.recursive(leaves, lambda inner: st.dictionaries(st.text(), inner, max_size=3).map(Dict), max_leaves=4)


@given(space=spaces, seed=st.integers(0, 2**64 - 1), site=st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_a_sample_is_contained_and_has_the_stated_structure(space: Space, seed, site):
    sample = space.sample(Rng.of(seed), site)
    assert space.contains(sample)
    assert jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), sample) == structure(space)
    hash(space)


@pytest.mark.parametrize(
    "space",
    [
        Discrete(2**31),
        Box(-1.0, 1.0, (3,)),
        Box(-3e38, 3e38, (2,)),
        Box((0.1, -math.inf, 0.0, -math.inf), (0.3, 2.0, math.inf, math.inf), (4,)),
        Box(0.1, 0.1000001, (2,)),
        Box(0, 255, (84, 84), np.uint8),
        Box(-(2**31), 2**31 - 1, (2,), np.int32),
        Box(5, 5, (2,), np.int8),
        MultiDiscrete((2, 3, 100_000)),
    ],
    ids=str,
)
def test_many_seeds_stay_inside(space):
    many = jax.jit(jax.vmap(space.sample))(Rng.of(1).lanes(500))
    for i in range(500):
        assert space.contains(np.asarray(many)[i])
    if space != Box(5, 5, (2,), np.int8):
        assert len(np.unique(np.asarray(many).reshape(500, -1)[:, 0])) > 1


def test_integer_samples_reach_both_ends_equally_often():
    space = Box(-2, 2, (), np.int8)
    values = np.asarray(jax.vmap(space.sample)(Rng.of(2).lanes(5000)))
    counts = np.bincount(values.astype(int) + 2, minlength=5)
    # Standard deviation of each count is 28.
    assert np.all(np.abs(counts - 1000) < 6 * 28)


def test_float64_and_int64_spaces_sample_under_x64():
    with jax.enable_x64(True):
        for space in (
            Box(-1.0, 1.0, (3,), np.float64),
            Box(-1e308, 1e308, (3,), np.float64),
            Box(2**40, 2**40 + 9, (3,), np.int64),
            Box(2**64 - 9, 2**64 - 1, (), np.uint64),
            Discrete(9, np.int64),
        ):
            assert space.contains(space.sample(Rng.of(3)))
        with pytest.raises(UsageError, match=r"at most 2\*\*32 values"):
            Box(0, 2**32, (), np.int64).sample(Rng.of(3))


def test_masks_restrict_discrete_samples():
    mask = jnp.array([False, True, False, True])
    picks = jax.vmap(lambda rng: Discrete(4).sample(rng, 0, mask))(Rng.of(0).lanes(200))
    assert set(np.asarray(picks).tolist()) == {1, 3}
    joint = jax.vmap(lambda rng: MultiDiscrete((2, 2)).sample(rng, 0, mask))(Rng.of(0).lanes(50))
    np.testing.assert_array_equal(joint, np.ones((50, 2)))


def test_samples_of_neighbouring_sites_do_not_share_words():
    pair = Dict({"a": Box(0.0, 1.0, (3,)), "b": Box(0.0, 1.0, (2,)), "c": MultiDiscrete((1000, 1000))})
    assert pair.sites == 7
    sample = pair.sample(Rng.of(5))
    numbers = np.concatenate([np.asarray(sample[name], np.float64) for name in "abc"])
    assert len(np.unique(numbers)) == 7


@pytest.mark.parametrize(
    ("space", "outside"),
    [
        (Discrete(3), [np.int32(3), np.int32(-1), 3, np.uint64(2**63), np.float32(1), 1.0, True, "1", 2**70,
                       np.zeros(1, np.int32), None]),
        (MultiDiscrete((2, 3)), [np.array([2, 0], np.int32), np.array([0], np.int32), np.array([0, 3]), [0, -1],
                                 np.array([0.0, 0.0]), [True, False]]),
        (Box(0.0, 1.0, (2,)), [np.zeros(3, np.float32), np.zeros(2), np.full(2, 1.5, np.float32),
                               np.full(2, math.nan, np.float32)]),
        (Dict({"a": Discrete(2)}), [{}, {"b": np.int32(0)}, {"a": np.int32(5)}, np.int32(0), {1: 2, "a": 3}]),
    ],
    ids=["Discrete", "MultiDiscrete", "Box", "Dict"],
)  # fmt: skip
def test_what_lies_outside_is_not_contained(space, outside):
    for value in outside:
        assert not space.contains(value)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint8, np.uint64, jnp.int32])
def test_discrete_values_may_be_of_any_integer_type(kind):
    assert all(Discrete(3).contains(kind(value)) for value in range(3))
    assert MultiDiscrete((2, 3)).contains([kind(1), kind(2)])
    assert Dict({"a": Discrete(2)}).contains({"a": kind(1)})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Discrete(0), "whole number n >= 1"),
        (lambda: Discrete(2.5), "whole number n >= 1"),  # type: ignore[arg-type]
        (lambda: Discrete(True), "whole number n >= 1"),
        (lambda: Discrete(300, np.uint8), "integer dtype that holds 299"),
        (lambda: Discrete(3, np.float32), "integer dtype"),
        (lambda: MultiDiscrete(()), "at least one whole number"),
        (lambda: MultiDiscrete((2, 0)), "whole number n >= 1"),
        (lambda: MultiDiscrete(3), "list of at least one"),  # type: ignore[arg-type]
        (lambda: Box(1.0, 0.0, (2,)), "low <= high"),
        (lambda: Box(math.nan, 1.0, (2,)), "low <= high"),
        (lambda: Box(math.inf, math.inf, (2,)), "low <= high"),
        (lambda: Box((0.0, 0.0), 1.0, (3,)), "Box.low has 2 numbers"),
        (lambda: Box(0, 256, (2,), np.uint8), "does not fit into uint8"),
        (lambda: Box(-1, 1, (2,), np.uint8), "does not fit into uint8"),
        (lambda: Box(0, math.inf, (2,), np.int32), "does not fit into int32"),
        (lambda: Box(0.5, 2, (2,), np.int32), "does not fit into int32"),
        (lambda: Box(0.0, 1.0, 4), "a shape like"),  # type: ignore[arg-type]
        (lambda: Dict({"a": 3}), "spaces under string names"),  # type: ignore[dict-item]
        (lambda: Dict({"a": Discrete(2)}).sample(Rng.of(0), mask=jnp.ones(2, bool)), "no action mask"),
        (lambda: Box(0.0, 1.0, (2,)).sample(Rng.of(0), mask=jnp.ones(2, bool)), "no action mask"),
    ],
)
def test_bad_definitions_are_one_sentence(make, sentence):
    with pytest.raises(UsageError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_equal_spaces_are_equal_and_hash_alike():
    for build in (
        lambda: Discrete(np.int64(3)),
        lambda: MultiDiscrete(np.array([2, 3])),  # type: ignore[arg-type]
        lambda: Box(np.zeros(2), [1.0, 2.0], [2]),  # type: ignore[arg-type]
        lambda: Dict({"b": Discrete(2), "a": Discrete(3)}),
    ):
        assert build() == build()
        assert hash(build()) == hash(build())
    assert Dict({"b": Discrete(2), "a": Discrete(3)}) == Dict({"a": Discrete(3), "b": Discrete(2)})


def test_without_x64_a_space_holds_32_bits_with_its_bounds_rounded_as_values_are():
    wide = Dict({"a": Box(-0.1, 0.1, (2,), np.float64), "b": Box(0, 2**40, (), np.int64), "c": Discrete(3, np.int64)})
    with jax.enable_x64(True):
        assert as_jax_holds_it(wide) == wide
    held = as_jax_holds_it(wide)
    assert isinstance(held, Dict)
    assert [leaf.dtype for leaf in jax.tree.leaves(structure(held))] == [np.float32, np.int32, np.int32]
    value = {"a": np.full(2, 0.1, np.float32), "b": np.array(2**31 - 1, np.int32), "c": np.int32(2)}
    assert held.contains(value)
    assert not held.contains({**value, "a": np.full(2, 0.11, np.float32)})
    assert not held.contains({**value, "b": np.array(-1, np.int32)})
