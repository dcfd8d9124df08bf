"""The draws of a generated file: both printers number them alike, so that both programs draw the same numbers."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from overclock.translate.ir.sites import DrawSite


def leaf_shape(site: DrawSite) -> tuple[int, ...]:
    """The shape of all draws of a site in one event."""
    return site.shape if site.count == 1 else (site.count, *site.shape)


def numbered(sites: Sequence[DrawSite]) -> Iterator[tuple[DrawSite, int]]:
    """The sites of one event with the number of the first random number that each takes."""
    number = 0
    for site in sites:
        yield site, number
        shape = leaf_shape(site)
        shape = (*shape[:-1], site.arguments["n"]) if site.form == "permutation" else shape
        number += max(1, math.prod(shape))


def cumulative_chances(chances: Sequence[float]) -> np.ndarray:
    """The upper limits, in [0, 1), of all choices but the last."""
    running = np.cumsum(chances)
    return (running / running[-1])[:-1]
