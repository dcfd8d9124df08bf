"""Writes vectors.csv beside this file from the Python generator: `python make_vectors.py`, with overclock installed.

Every number is a hexadecimal bit pattern. Columns: kind, seed, lane (empty: the seed's own stream), counter,
section, site, expected value, then what the kind needs: half (word), low and high (uniform), n (integers).
The float64 rows need x64, which this script switches on.
"""

import pathlib
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env import Rng, Section

SEEDS = (0, 1, 7, 0xFFFFFFFF, 0x1_0000_0000, 0x0123_4567_89AB_CDEF, 0xFFFF_FFFF_FFFF_FFFF)
EVENTS = ((0, 0), (1, 3), (0xFFFFFFFF, 1000))  # (counter, site)
LANES = (None, 0, 5)


def bits(value: object) -> str:
    """A scalar's bit pattern."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        array = array.view({4: np.uint32, 8: np.uint64}[array.dtype.itemsize])
    return f"{int(array):x}"


def rows() -> Iterator[str]:
    """Every vector, one line each."""
    for seed in SEEDS:
        for lane in LANES:
            stream = Rng.of(seed)
            if lane is not None:
                stream = jax.tree.map(lambda leaf, lane=lane: leaf[lane], stream.lanes(8))
            where = f"{seed:x},{'' if lane is None else f'{lane:x}'}"
            yield f"k0,{where},0,0,0,{bits(stream.k0)}"
            yield f"k1,{where},0,0,0,{bits(stream.k1)}"
            for section, (counter, site) in zip((Section.STEP, Section.RESET, Section.POOL), EVENTS, strict=True):
                rng = stream.replace(counter=jnp.uint32(counter)).of_section(section)
                here = f"{where},{counter:x},{int(section):x},{site:x}"
                for half in (0, 1):
                    yield f"word,{here},{bits(rng.words(site, half=half))},{half}"
                for dtype in (np.float32, np.float64):
                    name = np.dtype(dtype).name.replace("float", "f")
                    yield f"unit_{name},{here},{bits(rng.unit(site, dtype=dtype))}"
                    high = dtype(0.05)
                    uniform = bits(rng.uniform(site, -high, high, dtype=dtype))
                    yield f"uniform_{name},{here},{uniform},{bits(-high)},{bits(high)}"
                for n in (3, 65536, 2**31 - 1):
                    yield f"integers,{here},{bits(rng.integers(site, n))},{n:x}"


def text() -> str:
    """The whole file."""
    with jax.enable_x64(True):
        lines = list(rows())
    return "\n".join(["# Written by make_vectors.py; its docstring explains the columns.", *lines, ""])


if __name__ == "__main__":
    pathlib.Path(__file__).with_name("vectors.csv").write_text(text())
