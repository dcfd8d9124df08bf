"""Draw sites: the calls of random number generators in the source, whose numbers come from outside a program."""

import dataclasses
from typing import Any


@dataclasses.dataclass
class DrawSite:
    """A call of a generator: where it stands, what it gives, and how often per reset or step at most."""

    name: str
    module: str
    filename: str
    line: int
    column: int
    method: str
    form: str  # value, index, unit, normal, permutation
    shape: tuple[int, ...]
    dtype: str
    arguments: dict[str, Any]
    source: str
    own: bool = False  # from the environment's np_random, in NumPy's own dtype for this method
    count: int = 1
