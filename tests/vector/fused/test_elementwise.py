"""Every primitive on single numbers: kernel, and JAX operation by operation, on ordinary and on nasty numbers."""

import itertools
import struct

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from vector.fused.programs import assert_same, batched, lane_by_lane, nasty, pairs, through_kernel
from vector.fused.test_library import BOUNDS

from overclock.vector.fused.clamp_fold import folds_a_test_into_a_clamp
from overclock.vector.fused.elementwise import FORMULAS

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")

OF_ONE = {
    "neg": lax.neg,
    "sign": lax.sign,
    "square": lax.square,
    "copy": lax.copy_p.bind,
    **{f"integer_pow {y}": (lambda x, y=y: lax.integer_pow(x, y)) for y in (0, 1, 2, 3, 7, 10)},
}
OF_TWO = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "min": lax.min,
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
}
OF_INTEGERS = {"not": lax.bitwise_not, "population_count": lax.population_count, "clz": lax.clz}
OF_TWO_INTEGERS = {
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "shift_left": lax.shift_left,
    "shift_right_logical": lax.shift_right_logical,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
}
OF_BOOLS = {"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "max": lax.max, "min": lax.min}
EXACT = {
    "abs": lax.abs,
    "floor": lax.floor,
    "ceil": lax.ceil,
    "sqrt": lax.sqrt,
    "is_finite": lax.is_finite,
    "round away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
}


@pytest.fixture(scope="module", autouse=True)
def _x64():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_are_equal_to_the_last_bit(dialect, bits):
    def one(numbers):
        results = {}
        for dtype, (a, b) in numbers.items():
            mine = {name: f(a) for name, f in (OF_ONE | OF_INTEGERS).items()}
            mine |= {} if dtype[0] == "u" else {"abs": lax.abs(a)}
            mine |= {name: f(a, b) for name, f in (OF_TWO | OF_TWO_INTEGERS).items()}
            results[dtype] = mine | {"clamp": lax.clamp(b, a, lax.max(b, jnp.asarray(9, dtype)))}
        return results

    dtypes = [dtype for dtype in INTEGERS if dtype.endswith(f"int{bits}")]
    longest = max(len(pairs(dtype)[0]) for dtype in dtypes)
    inputs = {dtype: tuple(np.resize(x, longest) for x in pairs(dtype)) for dtype in dtypes}
    assert_same(through_kernel(one, inputs), batched(one, inputs), inputs=inputs)


def test_bools_are_equal(dialect):
    def one(a, b):
        results = {name: f(a, b) for name, f in OF_BOOLS.items()}
        results |= {name: f(a, b) for name, f in OF_TWO.items() if name in ("eq", "ne", "lt", "le", "gt", "ge")}
        return results | {"not": lax.bitwise_not(a), "select": lax.select(a, b, ~b)}

    inputs = pairs("bool")
    assert_same(through_kernel(one, *inputs), lane_by_lane(one, *inputs), inputs=inputs)


def test_floats_are_equal_to_the_last_bit_where_arithmetic_is_exactly_rounded(dialect):
    def one(numbers):
        results = {}
        for dtype, (a, b, divisor) in numbers.items():
            mine = {name: f(a) for name, f in (OF_ONE | EXACT).items()}
            mine |= {name: f(a, b) for name, f in OF_TWO.items() if name != "rem"}
            mine |= {
                "rem": lax.rem(a, divisor),
                "integer_pow -2": lax.integer_pow(a, -2),
                "clamp": lax.clamp(b, a, b + 1),
            }
            mine |= {"max with a constant": lax.max(a, jnp.asarray(1.5, dtype)), "max with 0": lax.max(a, a * 0)}
            results[dtype] = mine
        return results

    def normal(numbers):
        """A denormal divisor is zero for some versions of XLA and not for others: NaN or a number."""
        denormal = (np.abs(numbers) < np.finfo(numbers.dtype).tiny) & (numbers != 0)
        return np.where(denormal, numbers.dtype.type(1), numbers)

    inputs = {dtype: (*pairs(dtype), normal(pairs(dtype)[1])) for dtype in FLOATS}
    assert_same(through_kernel(one, inputs), lane_by_lane(one, inputs), inputs=inputs)


def test_division_by_a_constant_is_rounded_once(dialect):
    """Against NumPy: XLA multiplies by the reciprocal of a number that all lanes share, which rounds twice."""
    divisors = (3.0, -8.0, 1.1, 0.02, 7e5, 1e30, 0.0, -np.inf)

    def one(numbers):
        return {d: {str(k): lax.div(x, jnp.asarray(k, d)) for k in divisors} for d, x in numbers.items()}

    rng = np.random.default_rng(5)
    others = rng.normal(size=3000) * 10.0 ** rng.uniform(-30, 30, 3000)
    inputs = {dtype: np.concatenate([nasty(dtype), others.astype(dtype)]) for dtype in FLOATS}
    for numbers in inputs.values():  # whether a denormal is zero is the machine's to say
        numbers[np.abs(numbers) < np.finfo(numbers.dtype).tiny] = 0
    with np.errstate(all="ignore"):
        expected = {d: {str(k): x / np.asarray(k, d) for k in divisors} for d, x in inputs.items()}
    assert_same(through_kernel(one, inputs), expected, inputs=inputs)


def test_a_clamped_number_is_compared_with_the_ends(dialect):
    """An assembler of NVIDIA's took one of these tests from the wrong place (clamp_fold.py)."""
    ways = {
        "min max": lambda x, low, high: lax.max(lax.min(x, high), low),
        "max min": lambda x, low, high: lax.min(lax.max(x, low), high),
        "clamp": lambda x, low, high: lax.clamp(low, x, high),
        "spelt out": lambda x, low, high: jnp.where(
            jnp.where(x > high, high, x) < low, low, jnp.where(x > high, high, x)
        ),
    }

    def one(numbers):
        results = {}
        for dtype, x in numbers.items():
            for (name, way), (low, high) in itertools.product(ways.items(), [(0, 2), (1, 3)]):
                number = way(x, jnp.asarray(low, dtype), jnp.asarray(high, dtype))
                among = [number == jnp.asarray(end, dtype) for end in (low, low + 1, high)]
                results[f"{dtype} {name} {low} {high}"] = (number, among)
        return results

    inputs = {dtype: np.arange(-5, 11).astype(dtype) for dtype in ("int8", "int32", "int64", "uint32")}
    assert_same(through_kernel(one, inputs), lane_by_lane(one, inputs), inputs=inputs)


def test_machine_code_with_the_fault_is_recognised():
    """Instructions as nvdisasm prints them: VIMNMX.RELU R0, P0, P0, R2, 0x2, PT; the same without; plain VIMNMX."""
    faulty = struct.pack("<4Q", 0, 0, 0x0000000202007848, 0x004FDA0003801100)
    harmless = struct.pack("<4Q", 0x0000000202077848, 0x004FCA0003FE1100, 0x0000000700077248, 0x004FCA0003FE0100)
    assert folds_a_test_into_a_clamp(harmless + faulty)
    assert not folds_a_test_into_a_clamp(harmless + b"end")
    assert folds_a_test_into_a_clamp(elf(code=harmless + faulty, data=harmless))
    assert not folds_a_test_into_a_clamp(elf(code=harmless, data=faulty)), "a table may hold the same bits"


def elf(code: bytes, data: bytes) -> bytes:
    """A file of two sections, one of which is executed; in front of them 64 bytes of header, behind them theirs."""
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<Q", header, 0x28, 64 + len(code) + len(data))
    struct.pack_into("<HH", header, 0x3A, 64, 2)
    sections = [(1, 2 | 4, 64, len(code)), (1, 2, 64 + len(code), len(data))]
    table = [struct.pack("<IIQQQQ", 0, kind, flags, 0, start, size) for kind, flags, start, size in sections]
    return bytes(header) + code + data + b"".join(row.ljust(64, b"\0") for row in table)


def test_numbers_of_every_type_become_numbers_of_every_other(dialect):
    dtypes = ("bool", *INTEGERS, *FLOATS)

    def one(numbers):
        return {was: {to: lax.convert_element_type(x, to) for to in dtypes} for was, x in numbers.items()}

    inputs = {dtype: np.resize(nasty(dtype), 48) for dtype in dtypes}
    assert_same(through_kernel(one, inputs), batched(one, inputs), inputs=inputs)


def test_bits_are_read_as_those_of_another_type(dialect):
    def one(numbers):
        return {
            was: {to: lax.bitcast_convert_type(x, to) for to in (*INTEGERS, *FLOATS) if was[-2:] == to[-2:]}
            for was, x in numbers.items()
        }

    inputs = {dtype: np.resize(nasty(dtype), 48) for dtype in (*INTEGERS, *FLOATS)}
    assert_same(through_kernel(one, inputs), batched(one, inputs), inputs=inputs)


WIDTHS_APART = [
    ("uint8", "uint32"), ("int8", "float64"), ("uint16", "int64"), ("float32", "uint8"), ("float64", "int16"),
    ("int64", "uint32"),
]  # fmt: skip


@pytest.mark.parametrize("rows", [3, 20])
def test_bits_are_read_as_those_of_a_wider_or_narrower_type(dialect, rows):
    """Few numbers, which stay variables, and more, which are read in loops."""

    def one(numbers):
        found = {}
        for was, to in WIDTHS_APART:
            narrow = np.dtype(to).itemsize // np.dtype(was).itemsize
            bits = numbers[was][:, :narrow] if narrow else numbers[was][:, 0]
            found[f"{was} as {to}"] = lax.bitcast_convert_type(bits, to)
        return found

    inputs = {dtype: np.resize(nasty(dtype), (20, rows, 8)) for dtype, _ in WIDTHS_APART}
    assert_same(through_kernel(one, inputs), batched(one, inputs), inputs=inputs)


def test_every_formula_is_tried():
    """Here, among the functions of libraries, or as a part of jnp's functions on arrays."""
    here = {name.split()[0] for table in (OF_ONE, OF_TWO, OF_INTEGERS, OF_TWO_INTEGERS, EXACT) for name in table}
    library = {*BOUNDS, "sin", "cos", "atan2", "pow", "nextafter", "erfc"}
    others = {"clamp", "convert_element_type", "eq_to", "lt_to", "le_to"}
    nothing = {"add_any", "copy_p", "stop_gradient", "name", "reduce_precision"}
    assert set(FORMULAS) == (here | library | others | nothing) - {"integer_pow"}
