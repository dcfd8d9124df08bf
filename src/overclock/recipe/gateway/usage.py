"""What a model was used for, counted in tokens and dollars.

Three things are kept apart: what our own gateway *metered*, what an agent reports about itself, and nothing at all,
which is `None` wherever a `Usage` is optional and is shown as "not reported", never as zero.
"""

import dataclasses
from collections.abc import Iterable
from typing import Literal

Basis = Literal["metered", "self-reported"]


@dataclasses.dataclass(frozen=True)
class Usage:
    """Tokens of one or more calls. Dollars are None where no price is known."""

    calls: int = 0
    input_tokens: int = 0  # the whole prompt, its cached part included
    cached_tokens: int = 0  # of the input: read from the provider's cache, priced as such
    cache_write_tokens: int = 0  # of the input: written to the provider's cache
    output_tokens: int = 0  # thoughts included
    reasoning_tokens: int = 0  # of the output
    dollars: float | None = 0.0
    basis: Basis = "metered"

    def __add__(self, other: "Usage") -> "Usage":
        """The sum; as little trusted as the less trusted of the two, and without dollars if one has none."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        dollars = None if self.dollars is None or other.dollars is None else self.dollars + other.dollars
        basis: Basis = "metered" if self.basis == other.basis == "metered" else "self-reported"
        return Usage(**counts, dollars=dollars, basis=basis)


COUNTS = tuple(field.name for field in dataclasses.fields(Usage) if field.type is int)


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of all of them; nothing at all if there are none."""
    return sum(usages, Usage())
