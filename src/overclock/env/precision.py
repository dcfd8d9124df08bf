"""Rules that float32 cannot play say so: whoever uses them gets one sentence instead of other episodes."""

import jax

from overclock.errors import UsageError


def require_float64(reason: str) -> None:
    """Raise UsageError with the remedy where JAX computes in float32; `reason` says what float32 loses."""
    if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        raise UsageError(
            f"This environment needs float64 ({reason}): set JAX_ENABLE_X64=1, or call "
            "jax.config.update('jax_enable_x64', True) before anything else."
        )
