"""The sign test: are differences on one side more often than chance would have them?"""

import math
from collections.abc import Sequence


def sign_test(below: int, above: int) -> float:
    """The two-sided probability of a split at least as uneven, if either sign is equally likely."""
    count = below + above
    tail = sum(math.comb(count, k) for k in range(min(below, above) + 1))
    return min(1.0, 2 * tail / 2**count)


def one_sided_too_often(signs: Sequence[int], chance: float) -> bool:
    """Whether so many signs of one kind are less likely than `chance`."""
    return sign_test(sum(sign < 0 for sign in signs), sum(sign > 0 for sign in signs)) < chance
