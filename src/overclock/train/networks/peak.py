"""What a device could do at best in matrix products: from its maker's data sheet, or measured here.

Figures are dense (no sparsity), with float32 sums. A product of float32 factors runs on a GPU's matrix units, which
keep ten bits of them (TF32), unless `jax_default_matmul_precision` asks for more; TPUs round them to bf16.
"""

import re
import time
from typing import Any

import jax
import jax.numpy as jnp

from overclock.train.networks.products import Precision, times

# Whole words of a device's kind -> FLOP/s in bf16, TF32, float32; the first that fit count.
PEAKS: tuple[tuple[str, tuple[float, float, float]], ...] = (
    ("H200 NVL", (835e12, 418e12, 60e12)),
    ("H200", (989e12, 494e12, 67e12)),
    ("H100 PCIe", (756e12, 378e12, 51e12)),
    ("H100 NVL", (835e12, 418e12, 60e12)),
    ("H100", (989e12, 494e12, 67e12)),
    ("A100", (312e12, 156e12, 19.5e12)),
    ("A10G", (70e12, 35e12, 35e12)),
    ("L40S", (362e12, 183e12, 91.6e12)),
    ("L4", (121e12, 60e12, 30.3e12)),
    ("TPU v4", (275e12, 275e12, 275e12)),
    ("TPU v5 lite", (197e12, 197e12, 197e12)),
    ("TPU v5p", (459e12, 459e12, 459e12)),
    ("TPU v6 lite", (918e12, 918e12, 918e12)),
)
FULL_FLOAT32 = ("float32", "highest")  # of jax_default_matmul_precision: no TF32
SIZES = {"cpu": 1024}  # sides of the square matrices that are multiplied to measure
USUAL_SIZE = 8192
ROUNDS = 5


def known_peak(device: Any, precision: Precision) -> float | None:
    """FLOP/s of one device's products by its data sheet; None for one that is not in the table, and for CPUs."""
    if device.platform == "cpu":
        return None
    for part, (bf16, tf32, float32) in PEAKS:
        if re.search(rf"\b{part}\b", device.device_kind):
            if precision == "bf16":
                return bf16
            wish = jax.config.jax_default_matmul_precision  # pyright: ignore[reportAttributeAccessIssue]
            return float32 if wish in FULL_FLOAT32 else tf32
    return None


def measured_peak(device: Any, precision: Precision) -> float:
    """FLOP/s of one large product here and now, the best of a few; less than the data sheet's, and known anywhere."""
    size = SIZES.get(device.platform, USUAL_SIZE)
    multiply = jax.jit(lambda x: times(x, x, precision))
    x = jax.device_put(jnp.ones((size, size), jnp.bfloat16 if precision == "bf16" else jnp.float32), device)
    jax.block_until_ready(multiply(x))
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        jax.block_until_ready(multiply(x))
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best
