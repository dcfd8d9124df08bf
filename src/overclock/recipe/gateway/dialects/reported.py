"""Whether a usage that a provider reports can be what a call has used; where it cannot, the call is paid at its worst.

A count may be negative, a fraction, or no number; a name may be missing; and there may be a kind of tokens that is
unknown here and so has no price.
"""

import math
import re
from collections.abc import Collection
from typing import Any

from overclock.recipe.gateway.dialects.fields import Json

COUNTED = re.compile(r"tokens?(_?count)?$|_requests$", re.IGNORECASE)  # names of what is paid by its number


def whole(value: Any) -> int | None:
    """A count as a whole number that is not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value >= 0 and value == int(value) else None


def doubt(usage: Json, known: Collection[str], inside: str = "") -> str | None:
    """What is wrong with the counts of a usage object, in words; None if nothing is. `known` are names with a dot."""
    for name, value in usage.items():
        place = f"{inside}{name}"
        if isinstance(value, dict):
            if found := doubt(value, known, f"{place}."):
                return found
        elif place in known:
            if value is not None and whole(value) is None:
                return f"'{place}' is {value!r}"
        elif COUNTED.search(name) and not isinstance(value, list) and whole(value) != 0 and value is not None:
            return f"'{place}' has no price here"
    return None
