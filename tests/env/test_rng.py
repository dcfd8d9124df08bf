"""The generator does exactly what docs/rng.md says, on every path: eager, jit, vmap, NumPy, x64 on and off.

`word`, `stream_of_words` and the rest of the first section are a second implementation, written from that page alone.
"""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtri

from overclock.env.normal import inverse_normal_cdf
from overclock.env.rng import Rng, Section, mix, multiply_high, scale_word
from overclock.errors import UsageError

PAGE = (Path(__file__).parents[2] / "docs" / "rng.md").read_text()
SECTIONS = {"STEP": 0, "RESET": 1, "ACTION": 2, "LANES": 3, "SEED": 4, "POOL": 5}
U32 = 0xFFFFFFFF


def word(k0: int, k1: int, counter: int, index: int) -> int:
    event = (counter * 0x9E3779B9 + k0) & U32
    x = event ^ (event >> 16)
    x = (x * 0x21F0AAAD) & U32
    x ^= x >> 15
    x = (x + index * 0x85EBCA6B) & U32
    x ^= x >> 16
    x = (x * 0x21F0AAAD) & U32
    x ^= x >> 15
    x = ((x + event + k1) * 0xD35A2D97) & U32
    return x ^ (x >> 15)


def stream_of_words(words: list[int]) -> tuple[int, int]:
    k0 = k1 = 0
    for p, w in enumerate(words):
        k0, k1 = word(k0, k1, w, 4194304 + 2 * p), word(k0, k1, w, 4194304 + 2 * p + 1)
    return k0, k1


def stream_of_seed(seed: int) -> tuple[int, int]:
    return stream_of_words([seed & U32, (seed >> 32) & U32])


def lane_of(stream: tuple[int, int], lane: int) -> tuple[int, int]:
    return word(*stream, lane, 3145728), word(*stream, lane, 3145729)


def index_of(section: str, site: int, half: int = 0) -> int:
    return SECTIONS[section] * 1048576 + 2 * site + half


def stream_named(name: str) -> tuple[int, int]:
    """A stream as the page's tables write it: 'seed S', 'seed S lane L' or 'words A B'."""
    kind, *numbers = [part for part in name.split() if part != "lane"]
    values = [int(number) for number in numbers]
    if kind == "words":
        return stream_of_words(values)
    stream = stream_of_seed(values[0])
    return lane_of(stream, values[1]) if len(values) > 1 else stream


def rng_named(name: str) -> Rng:
    """The same stream from the library."""
    kind, *numbers = [part for part in name.split() if part != "lane"]
    values = [int(number) for number in numbers]
    if kind == "words":
        return Rng.of(jnp.array(values, jnp.uint32))
    rng = Rng.of(values[0])
    return jax.tree.map(lambda leaf: leaf[values[1]], rng.lanes(values[1] + 1)) if len(values) > 1 else rng


def table_under(first_columns: str) -> list[list[str]]:
    """The rows of the page's table whose heading starts so."""
    match = re.search(rf"^\| {re.escape(first_columns)}.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert match, f"docs/rng.md has no table that starts with {first_columns}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in match[1].splitlines()]


@pytest.fixture(params=[False, True], ids=["x32", "x64"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


# ---- test vectors ----


@pytest.mark.parametrize("row", table_under("stream | k0"), ids=lambda row: row[0])
def test_streams_have_the_keys_of_the_page(row, x64):
    name, k0, k1 = row
    expected = (int(k0, 16), int(k1, 16))
    assert stream_named(name) == expected
    rng = rng_named(name)
    assert (int(rng.k0), int(rng.k1), int(rng.counter)) == (*expected, 0)


@pytest.mark.parametrize("row", table_under("stream | counter"), ids=lambda row: " ".join(row[:4]))
def test_draws_have_the_values_of_the_page(row, x64):
    name, counter, section, site, first, second, unit32, unit64, below = row
    words = [word(*stream_named(name), int(counter), index_of(section, int(site), half)) for half in (0, 1)]
    assert words == [int(first, 16), int(second, 16)]
    rng = rng_named(name).replace(counter=jnp.uint32(int(counter))).of_section(Section[section])
    assert [int(rng.words(int(site), half=half)) for half in (0, 1)] == words
    assert float(rng.unit(int(site), dtype=np.float32)).hex() == unit32
    assert int(rng.integers(int(site), 6)) == int(below) == words[0] * 6 >> 32
    if x64:
        assert float(rng.unit(int(site))).hex() == unit64


def test_section_numbers_are_those_of_the_page():
    assert {section.name: int(section) for section in Section} == SECTIONS
    assert {row[0]: int(row[1]) for row in table_under("section")} == SECTIONS


# ---- the same bits on every path ----


def numpy_words(rng: Rng, section: str, site: int, count: int, half: int = 0) -> np.ndarray:
    index = np.array([index_of(section, site + i, half) for i in range(count)], np.uint32)
    k0, k1, counter = (np.asarray(leaf)[..., None] for leaf in (rng.k0, rng.k1, rng.counter))
    return mix(k0, k1, counter, index)


def test_words_and_units_are_bit_equal_between_eager_jit_vmap_and_numpy(x64):
    rng = Rng.of(11).lanes(16).replace(counter=jnp.arange(16, dtype=jnp.uint32) * 1000).of_section(Section.RESET)
    host = numpy_words(rng, "RESET", 5, 7)
    python = [
        [word(int(a), int(b), int(c), index_of("RESET", 5 + i)) for i in range(7)]
        for a, b, c in zip(rng.k0, rng.k1, rng.counter, strict=True)
    ]
    np.testing.assert_array_equal(host, python)

    def draw(lane):
        return lane.words(5, (7,)), lane.unit(5, (7,), np.float32)

    lanes = [jax.tree.map(lambda leaf: leaf[i], rng) for i in range(16)]  # noqa: B023
    eager = jax.tree.map(lambda *leaves: np.stack(leaves), *[draw(lane) for lane in lanes])
    for words, units in (eager, jax.vmap(draw)(rng), jax.jit(jax.vmap(draw))(rng)):
        assert words.dtype == np.uint32
        assert units.dtype == np.float32
        np.testing.assert_array_equal(words, host)
        np.testing.assert_array_equal(units, (host >> 8).astype(np.float32) * np.float32(2.0**-24))


# Where counters of a narrower type would wrap or stop, each with its neighbours; the last event is followed by event 0.
LONG = sorted({(2**width + by) & U32 for width in (8, 15, 16, 24, 31, 32) for by in (-2, -1, 0, 1)})


def test_streams_are_those_of_the_page_at_long_counters_however_they_are_computed(x64):
    stream = stream_of_seed(5)
    expected = [word(*stream, counter, index_of("STEP", 3)) for counter in LONG]
    counters = np.array(LONG, np.uint32)
    rng = Rng.of(5)

    def one(counter):
        return rng.replace(counter=counter).words(3)

    assert [int(one(jnp.uint32(counter))) for counter in LONG] == expected
    assert jax.jit(jax.vmap(one))(counters).tolist() == expected
    assert numpy_words(rng.replace(counter=counters), "STEP", 3, 1)[:, 0].tolist() == expected


@pytest.mark.parametrize("start", [2**width - 4 for width in (8, 16, 24, 31, 32)])
def test_events_that_follow_each_other_are_those_of_the_page_beyond_every_width(start):
    def following(rng, _):
        return rng.advance(), (rng.counter, rng.words(0))

    _, (counters, words) = jax.lax.scan(following, Rng.of(5).replace(counter=jnp.uint32(start)), length=8)
    expected = [(start + by) & U32 for by in range(8)]
    assert counters.tolist() == expected
    assert words.tolist() == [word(*stream_of_seed(5), counter, index_of("STEP", 0)) for counter in expected]


def test_no_bit_of_the_counter_is_without_effect():
    apart = [word(*stream_of_seed(5), 1 << bit, 0) for bit in range(32)]
    assert len({*apart, word(*stream_of_seed(5), 0, 0)}) == 33
    counters = np.array([0, *(1 << bit for bit in range(32))], np.uint32)
    assert len(np.unique(numpy_words(Rng.of(5).replace(counter=counters), "STEP", 0, 1))) == 33


def test_float64_units_are_bit_equal_to_numpy():
    with jax.enable_x64(True):
        rng = Rng.of(5)
        high, low = (numpy_words(rng, "STEP", 0, 100, half).astype(np.float64) for half in (0, 1))
        expected = (np.floor(high / 2**5) * 2**26 + np.floor(low / 2**6)) * 2.0**-53
        assert rng.unit(0, (100,)).dtype == np.float64
        np.testing.assert_array_equal(rng.unit(0, (100,)), expected)
        np.testing.assert_array_equal(jax.jit(lambda r: r.unit(0, (100,)))(rng), expected)


def test_x64_changes_the_default_dtype_and_nothing_else():
    def draws():
        rng = Rng.of(9)
        mask = jnp.array([True, False, True])
        return [rng.words(0, (9,)), rng.unit(0, (9,), np.float32), rng.uniform(0, -2, 2, (9,), np.float32),
                rng.normal(0, (9,), np.float32), rng.integers(0, 7, (9,)), rng.masked_choice(0, mask)]  # fmt: skip

    off = draws()
    with pytest.warns(UserWarning, match="float64"):
        assert Rng.of(9).unit(0, dtype=np.float64).dtype == np.float32
    with jax.enable_x64(True):
        on = draws()
        assert Rng.of(9).unit(0).dtype == np.float64
    for a, b in zip(off, on, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("high", [0.05, 1.0, 3.7, 1e30])
def test_symmetric_uniforms_are_bit_equal_to_numpy(high, x64):
    dtype = np.float64 if x64 else np.float32
    rng = Rng.of(3)
    top = dtype(high)
    unit = np.asarray(rng.unit(0, (1000,)))
    expected = (unit - dtype(0.5)) * (top + top)
    assert expected.dtype == dtype
    drawn = jax.jit(lambda r, b: r.uniform(0, -b, b, (1000,)))(rng, top)
    for value in (drawn, rng.uniform(0, -top, top, (1000,))):
        np.testing.assert_array_equal(value, expected)
    assert np.all((drawn >= -top) & (drawn < top))


def test_other_uniforms_are_within_an_ulp_of_the_larger_bound():
    unit = np.asarray(Rng.of(3).unit(0, (1000,)))
    low, high = np.float32(0.1), np.float32(0.7)
    expected = (unit - np.float32(0.5)) * (high - low) + (high + low) * np.float32(0.5)
    drawn = jax.jit(lambda r: r.uniform(0, 0.1, 0.7, (1000,)))(Rng.of(3))
    # A compiler may fuse the product and the sum into one rounding.
    np.testing.assert_allclose(drawn, expected, rtol=0, atol=np.spacing(high))


# ---- normals ----


def centred(dtype: type, count: int) -> np.ndarray:
    """The arguments of the normal's inverse: random cells, the two outermost ones and those around the seams."""
    bits = 53 if dtype is np.float64 else 24
    cells = [int(x * 2**bits) for x in np.random.default_rng(0).random(count)]
    cells += [0, 1, 2, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, int(0.075 * 2**bits), int(0.925 * 2**bits)]
    unit = np.array(cells, np.float64).astype(dtype) * dtype(2.0**-bits)
    return (unit - dtype(0.5)) + dtype(2.0 ** -(bits + 1))


# Two backends round the logarithm and fuse multiply-adds differently, each time moving the value by about an ulp;
# the distances measured over 2.4 million (float32) and 2 million (float64) arguments are 5 and 8 ulp.
ULPS = {np.float32: 8, np.float64: 12}


@pytest.mark.parametrize(("dtype", "bound", "reach"), [(np.float32, 5e-7, 5.42), (np.float64, 2e-15, 8.29)])
def test_normals_are_a_few_ulp_from_numpy_and_accurate_against_scipy(dtype, bound, reach):
    with jax.enable_x64(dtype is np.float64):
        c = centred(dtype, 20_000)
        host = inverse_normal_cdf(c, xp=np)
        device = np.asarray(jax.jit(inverse_normal_cdf)(jnp.asarray(c)))
    assert host.dtype == device.dtype == dtype
    assert np.max(np.abs(host - device) / np.spacing(np.abs(host))) <= ULPS[dtype]
    # Above one half through the symmetric point below it, where the argument keeps its precision.
    tail = 0.5 - np.abs(c.astype(np.float64))
    exact = -np.sign(c) * ndtri(tail)
    error = np.abs(host - exact) / np.maximum(np.abs(exact), 1)
    assert np.max(error) < bound
    assert round(float(np.max(np.abs(host))), 2) == reach


def test_normals_come_from_the_middle_of_the_cell_of_the_unit_draw(x64):
    dtype, bits = (np.float64, 53) if x64 else (np.float32, 24)
    unit = np.asarray(Rng.of(8).unit(2, (500,)))
    expected = inverse_normal_cdf((unit - dtype(0.5)) + dtype(2.0 ** -(bits + 1)), xp=np)
    drawn = Rng.of(8).normal(2, (500,))
    assert drawn.dtype == dtype
    assert np.max(np.abs(drawn - expected) / np.spacing(np.abs(expected))) <= ULPS[dtype]


# ---- integers and choices ----

EDGE_WORDS = np.array([0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 255, 256, 1000, 65_535, 65_536, 65_537, 1_000_003, 2**31 - 1, 2**31])
def test_integers_are_the_exact_floor(n):
    words = np.concatenate([EDGE_WORDS, np.asarray(Rng.of(n).words(0, (500,)))])
    exact = [int(w) * n >> 32 for w in words]
    assert max(exact) < n
    for scaled in (
        scale_word(words, n),
        scale_word(jnp.asarray(words), n),
        jax.jit(scale_word)(jnp.asarray(words), jnp.uint32(n)),
        np.asarray(multiply_high(words, np.uint32(n))).astype(np.int32),
    ):
        assert scaled.dtype == np.int32
        np.testing.assert_array_equal(scaled, exact)
    np.testing.assert_array_equal(Rng.of(n).integers(0, n, (500,)), exact[len(EDGE_WORDS) :])


def test_masked_choice_takes_the_legal_entry_of_the_scaled_rank():
    masks = np.random.default_rng(1).random((300, 9)) < 0.4
    masks[0] = False
    rng = Rng.of(6).lanes(300)
    picks = jax.vmap(lambda r, m: r.masked_choice(4, m))(rng, jnp.asarray(masks))
    words = jax.vmap(lambda r: r.words(4))(rng)
    for mask, pick, w in zip(masks, np.asarray(picks), np.asarray(words), strict=True):
        legal = np.flatnonzero(mask)
        assert pick == (legal[int(w) * len(legal) >> 32] if len(legal) else 0)


# ---- what is refused ----


@pytest.mark.parametrize("source", ["7", 1.5, None, jnp.int32(7), jnp.zeros(2), jnp.zeros((2,), jnp.int32)])
def test_other_sources_of_randomness_are_refused_in_one_sentence(source):
    with pytest.raises(UsageError, match=r"jax.random.key\(seed\)"):
        Rng.of(source)


@pytest.mark.parametrize("n", [0, -1, 2**31 + 1])
def test_integers_refuses_impossible_bounds(n):
    with pytest.raises(UsageError, match=r"1 <= n <= 2\*\*31"):
        Rng.of(0).integers(0, n)


@pytest.mark.parametrize(("site", "shape"), [(-1, ()), (524_288, ()), (524_280, (9,))])
def test_sites_of_another_section_are_out_of_reach(site, shape):
    with pytest.raises(UsageError, match="draw sites 0 to 524287"):
        Rng.of(0).words(site, shape)


def test_other_floats_are_refused():
    with pytest.raises(UsageError, match="float32 or float64"):
        Rng.of(0).normal(0, dtype=np.float16)
