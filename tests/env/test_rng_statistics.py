"""Streams look independent and uniform: small checks with fixed seeds, here to catch a broken mixer or key schedule.

The serious batteries ran once and are recorded in docs/rng.md. Every threshold below says how often a perfect
generator would fail it; with fixed seeds the outcome never changes unless the generator does.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from overclock.env.rng import SITES_PER_SECTION, Rng, Section, mix

FALSE_ALARM = 1e-6  # per check
DRAWS = 1 << 18

U32 = np.uint32


def streams_of_seeds(seeds: np.ndarray) -> Rng:
    words = np.stack([seeds & 0xFFFFFFFF, seeds >> 32], axis=-1).astype(U32)
    return jax.tree.map(np.asarray, Rng.of(jnp.asarray(words)))


def index(section: Section, site: np.ndarray | int, half: int = 0) -> np.ndarray:
    return np.asarray(int(section) * SITES_PER_SECTION + 2 * np.asarray(site) + half, U32)


def grid(*lengths: int) -> list[np.ndarray]:
    """All combinations of counters 0 ... length - 1, the last running fastest, flat."""
    return [axis.reshape(-1).astype(U32) for axis in np.indices(lengths)]


INTERLEAVINGS = (
    "events of one lane", "sites of events", "sites of one event", "both halves", "lanes of a batch",
    "first words of seeds", "first words of high seeds", "keys of seeds", "sections",
)  # fmt: skip


@pytest.fixture(scope="module")
def interleavings() -> dict[str, np.ndarray]:
    """The orders in which a user meets the words."""
    one = Rng.of(1)
    k0, k1 = np.asarray(one.k0), np.asarray(one.k1)
    event, site = grid(DRAWS // 8, 8)
    late, section = grid(DRAWS // len(Section), len(Section))
    many = jax.tree.map(np.asarray, one.lanes(1024))
    step, lane = grid(DRAWS // 1024, 1024)
    seeds = streams_of_seeds(np.arange(DRAWS, dtype=np.uint64))
    fast_seeds = streams_of_seeds(np.arange(DRAWS, dtype=np.uint64) << 32)
    return {
        "events of one lane": mix(k0, k1, np.arange(DRAWS, dtype=U32), index(Section.STEP, 0)),
        "sites of events": mix(k0, k1, event, index(Section.STEP, site)),
        "sites of one event": mix(k0, k1, U32(5), index(Section.RESET, np.arange(DRAWS))),
        "both halves": mix(k0, k1, event, index(Section.STEP, site // 2, 0) + site % 2),
        "lanes of a batch": mix(many.k0[lane], many.k1[lane], step, index(Section.STEP, 0)),
        "first words of seeds": mix(seeds.k0, seeds.k1, U32(0), index(Section.RESET, 0)),
        "first words of high seeds": mix(fast_seeds.k0, fast_seeds.k1, U32(0), index(Section.RESET, 0)),
        "keys of seeds": np.stack([seeds.k0, seeds.k1], axis=-1).reshape(-1)[:DRAWS],
        "sections": mix(k0, k1, late, section * U32(SITES_PER_SECTION)),
    }


@pytest.mark.parametrize("name", INTERLEAVINGS)
def test_bytes_of_words_are_uniform(name, interleavings):
    words = interleavings[name]
    for shift in (0, 8, 16, 24):
        counts = np.bincount((words >> U32(shift)) & U32(0xFF), minlength=256)
        assert stats.chisquare(counts).pvalue > FALSE_ALARM / 4


@pytest.mark.parametrize("name", INTERLEAVINGS)
def test_neighbours_are_uncorrelated(name, interleavings):
    unit = interleavings[name].astype(np.float64) * 2.0**-32 - 0.5
    limit = stats.norm.isf(FALSE_ALARM / 2 / 10)
    for lag in (1, 2, 3, 4, 6, 8, 16, 64, 1024, 4096):
        z = np.mean(unit[lag:] * unit[:-lag]) * 12 * np.sqrt(len(unit) - lag)
        assert abs(z) < limit


@pytest.mark.parametrize("name", INTERLEAVINGS)
def test_pairs_of_neighbours_fill_the_square_evenly(name, interleavings):
    words = interleavings[name]
    cells = (words[0::2] >> U32(26)) * U32(64) + (words[1::2] >> U32(26))
    assert FALSE_ALARM / 2 < stats.chisquare(np.bincount(cells, minlength=4096)).pvalue < 1 - FALSE_ALARM / 2


def flips(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """How often each of 32 output bits changed."""
    return ((before ^ after)[:, None] >> np.arange(32, dtype=U32) & U32(1)).sum(axis=0)


@pytest.mark.parametrize("part", ["counter", "site", "seed", "lane"])
def test_one_changed_input_bit_changes_every_output_bit_half_of_the_time(part):
    samples = 4096
    random = np.random.default_rng(2)
    limit = stats.norm.isf(FALSE_ALARM / 2 / 32 / 32) * np.sqrt(samples) / 2
    value = random.integers(0, 2**19 if part == "site" else 2**32, samples, dtype=np.uint64)
    seeds = random.integers(0, 2**63, samples, dtype=np.uint64)

    def draw(value: np.ndarray) -> np.ndarray:
        streams = streams_of_seeds(value if part == "seed" else seeds)
        k0, k1 = streams.k0, streams.k1
        if part == "lane":
            base = U32(int(Section.LANES) * SITES_PER_SECTION)
            k0, k1 = (mix(k0, k1, value.astype(U32), base + U32(i)) for i in (0, 1))
        counter = value.astype(U32) if part == "counter" else U32(3)
        return mix(k0, k1, counter, index(Section.STEP, value if part == "site" else 1))

    before = draw(value)
    for bit in range(19 if part == "site" else 32):
        changed = flips(before, draw(value ^ np.uint64(1 << bit)))
        assert np.max(np.abs(changed - samples / 2)) < limit, f"bit {bit} of the {part}"


def test_different_lanes_sections_and_sites_share_no_words():
    lanes = jax.tree.map(np.asarray, Rng.of(4).lanes(64))
    lane, counter, section, site = grid(64, 4, 6, 8)
    words = mix(lanes.k0[lane], lanes.k1[lane], counter, section * U32(SITES_PER_SECTION) + U32(2) * site)
    # 12,288 words of 32 bits: 0.0176 equal pairs expected, so a perfect generator has three or more once in 10**6.
    assert len(words) - len(np.unique(words)) < 3


def test_lanes_do_not_depend_on_the_size_of_the_batch():
    few, many = Rng.of(7).lanes(5), Rng.of(7).lanes(5000)
    np.testing.assert_array_equal(few.k0, many.k0[:5])
    np.testing.assert_array_equal(few.k1, many.k1[:5])


def key_of(rng: Rng) -> np.ndarray:
    return np.asarray(rng.k0).astype(np.uint64) << np.uint64(32) | np.asarray(rng.k1)


def test_different_seeds_are_different_streams():
    # 2**20 keys of 64 bits: an equal pair happens to a perfect schedule once in 33 million.
    keys = key_of(streams_of_seeds(np.arange(1 << 20, dtype=np.uint64)))
    assert len(np.unique(keys)) == len(keys)


def test_no_two_events_of_a_batch_draw_the_same():
    lanes = jax.tree.map(np.asarray, Rng.of(3).lanes(4096))
    lane, counter = grid(4096, 256)
    first, second = (mix(lanes.k0[lane], lanes.k1[lane], counter, index(Section.STEP, site)) for site in (0, 1))
    # 2**20 pairs of words, 64 bits: as above.
    assert len(np.unique(first.astype(np.uint64) << np.uint64(32) | second)) == len(first)


# ---- distributions ----


def test_normals_are_standard_normal():
    values = np.asarray(Rng.of(2).normal(0, (DRAWS // 4,)), np.float64)
    assert stats.kstest(values, "norm").pvalue > FALSE_ALARM
    np.testing.assert_array_less(np.abs(values), 5.5)


def test_masked_choice_is_uniform_over_the_legal_entries():
    mask = jnp.array([False, True, True, False, True, False, True, True, False])
    picks = jax.vmap(lambda rng: rng.masked_choice(0, mask))(Rng.of(9).lanes(20_000))
    counts = np.bincount(np.asarray(picks), minlength=9)
    assert not counts[~np.asarray(mask)].any()
    assert stats.chisquare(counts[np.asarray(mask)]).pvalue > FALSE_ALARM


def test_integers_and_bernoulli_have_the_right_frequencies():
    rng = Rng.of(10)
    assert stats.chisquare(np.bincount(np.asarray(rng.integers(0, 13, (50_000,))), minlength=13)).pvalue > FALSE_ALARM
    heads = int(np.sum(np.asarray(rng.bernoulli(0, 0.3, (50_000,)))))
    assert stats.binomtest(heads, 50_000, 0.3).pvalue > FALSE_ALARM
    assert not np.any(np.asarray(rng.bernoulli(0, 0.0, (1000,))))
    assert np.all(np.asarray(rng.bernoulli(0, 1.0, (1000,))))
