"""Looking before all the data are in: at most three equally spaced looks, each at Pocock's stricter level."""

from overclock.errors import UsageError

# Pocock (1977): the level of each look that keeps two-sided errors over all looks at 0.05. Used for each one-sided
# test of a TOST they are a little strict: over all looks 0.0485 and 0.0478.
_POCOCK = {1: 0.05, 2: 0.0294, 3: 0.0221}


def looks_alpha(k: int) -> float:
    """The alpha of every look when at most k looks are planned, for an overall 0.05."""
    if k not in _POCOCK:
        raise UsageError(f"Plan 1, 2 or 3 looks, got {k}; more looks cost more policies than they save.")
    return _POCOCK[k]


def look_sizes(maximum: int, k: int) -> tuple[int, ...]:
    """How many pairs to have at each of k looks, the last at `maximum`; the levels assume this equal spacing."""
    looks_alpha(k)
    if maximum < 2 * k:
        raise UsageError(f"{k} looks need at least {2 * k} pairs, got {maximum}.")
    return tuple(-(-maximum * look // k) for look in range(1, k + 1))
