"""What an equivalence test found; importing it needs no SciPy, which the tests themselves do."""

import dataclasses
from typing import Literal

Verdict = Literal["equivalent", "different", "inconclusive"]


@dataclasses.dataclass(frozen=True)
class Equivalence:
    """The result of two one-sided tests (TOST) against a margin."""

    design: Literal["paired", "welch"]
    n: tuple[int, ...]
    """Pairs, or the sizes of the two groups."""
    difference: float
    margin: float
    alpha: float
    interval: tuple[float, float]
    standard_error: float
    df: float
    p_lower: float
    """Of the test against "the difference is -margin or less"; not a number when exact."""
    p_upper: float
    """Of the test against "the difference is +margin or more"; not a number when exact."""
    p: float
    """The larger of the two; below alpha means equivalent."""
    verdict: Verdict
    exact: bool
    """No variance at all: the verdict is plain comparison of numbers, not inference, and has no p."""
    n_needed: int | None
    """If inconclusive: the pairs, or the size of each group, that would decide with power 0.9 if the observed
    difference and sd were the true ones; None if more than ten million."""

    def __str__(self) -> str:
        low, high = self.interval
        found = f"difference {self.difference:+.4g}"
        if self.exact:
            return f"{found} without any variance, margin {self.margin:.4g}: {self.verdict}"
        found += f", {100 * (1 - 2 * self.alpha):.3g} % interval [{low:+.4g}, {high:+.4g}], margin {self.margin:.4g}"
        if self.verdict != "inconclusive":
            return f"{found}: {self.verdict} (TOST p = {self.p:.2g})"
        unit = "pairs" if self.design == "paired" else "in each group"
        needed = f"about {self.n_needed} {unit} would decide" if self.n_needed else "no practical number would decide"
        return f"{found}: inconclusive (TOST p = {self.p:.2g}); {needed}"
