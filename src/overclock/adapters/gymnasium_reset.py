"""The options of Gymnasium's `reset`, checked where they enter: which lanes restart, and between which bounds."""

from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.vector.host import HostVector, JaxHostVector

BOUNDS = {"low": "reset_low", "high": "reset_high"}  # Gymnasium's option -> the field of the environment's params


def reset_mask(options: dict[str, Any] | None, num_envs: int) -> np.ndarray | None:
    """The lanes to restart, None for all; refuses what SyncVectorEnv refuses."""
    if not options or "reset_mask" not in options:
        return None
    mask = options["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.shape != (num_envs,) or mask.dtype != np.bool_ or not mask.any():
        raise UsageError(f"reset_mask must be a NumPy bool array of shape ({num_envs},) with at least one True.")
    return mask


def reset_arguments(host: HostVector, options: dict[str, Any] | None, also: tuple[str, ...] = ()) -> dict[str, Any]:
    """What `low` and `high` mean for one call of `host.reset`: the parameters it draws with, if they were given.

    As in Gymnasium's CartPole, they hold for this reset alone; an option that was left out keeps its usual bound.
    """
    given = {name: value for name, value in (options or {}).items() if name not in also}
    if not given:
        return {}
    params = host.params if isinstance(host, JaxHostVector) else None
    known = [name for name, field in BOUNDS.items() if hasattr(params, field)]
    if not set(given) <= set(known):
        odd = ", ".join(sorted(set(given) - set(known)))
        if params is None and set(given) <= set(BOUNDS):
            raise UsageError(f"Rust environments have fixed reset bounds; use backend='xla' to reset with {odd}.")
        takes = ", ".join(repr(name) for name in (*also, *known)) or "none"
        raise UsageError(f"reset takes these options here: {takes}; got {odd}.")
    assert params is not None
    changed = params.replace(**{BOUNDS[name]: _number(name, value) for name, value in given.items()})
    low, high = (getattr(changed, field) for field in BOUNDS.values())
    if not np.all(np.asarray(low) <= np.asarray(high)):
        raise UsageError(f"The reset option low must not be above high, got {low} and {high}.")
    return {"params": changed}


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise UsageError(f"The reset option {name} must be a number, got {value!r}.") from None
