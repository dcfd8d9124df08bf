"""The inverse of the normal distribution function, Wichura's algorithm AS 241 (Applied Statistics 37, 1988).

Written out with plain arithmetic, one logarithm and one square root, instead of `erf_inv`, so that C, CUDA,
Rust and NumPy can compute nearly the same value: docs/rng.md says how nearly, and why not the same.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

CENTRAL_LIMIT = 0.425  # |p - 1/2| up to which the central approximation holds
CENTRAL_CONSTANT = 0.180625  # CENTRAL_LIMIT ** 2
TAIL_LIMIT = 5.0
TAIL_SHIFT = 1.6

# (central numerator, central denominator, near tail n., d., far tail n., d.), constant term first.
PPND7 = (
    (3.3871327179e00, 5.0434271938e01, 1.5929113202e02, 5.9109374720e01),
    (1.0, 1.7895169469e01, 7.8757757664e01, 6.7187563600e01),
    (1.4234372777e00, 2.7568153900e00, 1.3067284816e00, 1.7023821103e-01),
    (1.0, 7.3700164250e-01, 1.2021132975e-01),
    (6.6579051150e00, 3.0812263860e00, 4.2868294337e-01, 1.7337203997e-02),
    (1.0, 2.4197894225e-01, 1.2258202635e-02),
)
PPND16 = (
    (
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
        4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    (
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
    ),
    (
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
        1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
    ),
    (
        6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
    ),
    (
        1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
        7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
    ),
)  # fmt: skip


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    value = x.dtype.type(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + x.dtype.type(coefficient)
    return value


def inverse_normal_cdf(centred: Any, xp: Any = jnp) -> Any:
    """The z with P(Z < z) = 1/2 + centred, for -1/2 < centred < 1/2; `xp` is jax.numpy or numpy."""
    kind = centred.dtype.type
    central_n, central_d, near_n, near_d, far_n, far_d = PPND16 if centred.dtype == np.float64 else PPND7
    square = kind(CENTRAL_CONSTANT) - centred * centred
    central = centred * _polynomial(square, central_n) / _polynomial(square, central_d)
    distance = xp.sqrt(-xp.log(kind(0.5) - xp.abs(centred)))
    near = distance - kind(TAIL_SHIFT)
    near = _polynomial(near, near_n) / _polynomial(near, near_d)
    far = distance - kind(TAIL_LIMIT)
    far = _polynomial(far, far_n) / _polynomial(far, far_d)
    tail = xp.where(distance <= kind(TAIL_LIMIT), near, far)
    return xp.where(xp.abs(centred) <= kind(CENTRAL_LIMIT), central, xp.where(centred < 0, -tail, tail))
