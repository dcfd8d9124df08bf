"""Overflow: the one mechanism for "the numbers of this lane are no longer those of the reference".

Rules that keep something in less room than the reference has (a list with a capacity, a tape of words) say so with a
flag called `overflow` in their state, which stays set until the next reset. Every step shows it as `info["overflow"]`.
Compiled code cannot raise, so whoever returns to the host looks at the flag: `refuse_overflow`.
"""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool

from overclock.errors import OverflowedError, UsageError

OVERFLOW = "overflow"  # the name of the flag, in states and in `info`
OnOverflow = Literal["error", "info"]
REMEDY = (
    "from there on nothing it returns is the reference's; give what it keeps more room and translate again "
    "(docs/translator.md, Capacities), or pass overflow='info' and look at info['overflow'] yourself"
)


def overflow_of(state: Any) -> Bool[Array, ""] | None:
    """Whether one state has lost something: any of its flags called `overflow`; None where it has no such flag."""
    flags = [leaf for path, leaf in jax.tree_util.tree_flatten_with_path(state)[0] if _is_flag(path, leaf)]
    found = None
    for flag in flags:
        lost = jnp.any(flag) if jnp.ndim(flag) else flag
        found = lost if found is None else found | lost
    return found


def _is_flag(path: tuple[Any, ...], leaf: Any) -> bool:
    name = jax.tree_util.keystr(path[-1:], simple=True) if path else ""
    return name == OVERFLOW and jnp.result_type(leaf) == np.bool_


def checked_on_overflow(overflow: str) -> OnOverflow:
    """What an adapter shall do about an overflow: raise, or only tell it in `info`."""
    if overflow not in ("error", "info"):
        raise UsageError(f"overflow must be 'error' or 'info', got {overflow!r}.")
    return overflow


def refuse_overflow(flags: Any, what: str = "a lane", room: str = "") -> None:
    """Raise OverflowedError where a flag is set; inside `jit`, where flags are not known yet, nothing is done.

    `flags` are those of one lane or of a batch (None: the environment has none), `room` says what room there is.
    """
    if flags is None or isinstance(flags, Tracer):
        return
    lost = np.asarray(flags)
    if not lost.any():
        return
    if lost.ndim:
        lanes = np.flatnonzero(lost.reshape(len(lost), -1).any(axis=1))
        what = f"lane {lanes[0]}" + (f" and {len(lanes) - 1} more" if len(lanes) > 1 else "")
    known = f" (room: {room})" if room else ""
    raise OverflowedError(f"In {what} a list, a loop or a tape needed more room than it has{known}: {REMEDY}.")


def room_of(env: Any) -> str:
    """What a translated environment says of the room its lists have; empty for any other."""
    return str(getattr(env, "capacities", ""))
