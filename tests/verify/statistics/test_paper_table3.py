"""The policy-transfer table of arXiv 2603.12145 (Table 3), recomputed from its own printed numbers.

The paper marks all ten rows equivalent by TOST at alpha 0.05 with the margins of its caption. Mean, standard
deviation and n = 10 are all that a Welch TOST needs, so anybody can check: six rows follow from the printed numbers,
four do not. Evaluating the same policies on both sides makes the values paired, and a paired test may see more; how
strongly the pairs would have to correlate is computed too, and one row fails at any correlation.
"""

import dataclasses
import math
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="the statistics need SciPy, from the extra `report`")

from scipy import stats

from overclock.verify.statistics import Equivalence, tost_paired_summary, tost_welch_summary

N = 10
ALPHA = 0.05
MARGIN = {"Puffer Pong": 1.0, "HalfCheetah": 100.0, "EmuRust": 0.5, "PokeJAX": 0.02, "TCGJax": 0.05}


@dataclasses.dataclass(frozen=True)
class Row:
    environment: str
    trained_on: str
    performance: tuple[float, float]
    reference: tuple[float, float]
    last_digit: float  # of the printed numbers
    welch_p: str  # as our recomputation prints it
    verdict: str
    correlation_needed: float | None = None

    def __str__(self) -> str:
        return f"{self.environment} trained on {self.trained_on}"

    @property
    def margin(self) -> float:
        return MARGIN[self.environment]

    @property
    def difference(self) -> float:
        return self.performance[0] - self.reference[0]


# The two columns: evaluated on the performance side, evaluated on the reference; mean and sd over 10 seeds.
FOLLOWS, DOES_NOT = "equivalent", "inconclusive"
TABLE = [
    Row("Puffer Pong", "C", (28.01, 0.28), (28.04, 0.29), 0.01, "3e-07", FOLLOWS),
    Row("Puffer Pong", "JAX", (28.23, 0.18), (28.22, 0.20), 0.01, "5e-10", FOLLOWS),
    Row("HalfCheetah", "MJX", (1398, 497), (1389, 511), 1.0, "0.35", DOES_NOT, correlation_needed=0.952),
    Row("HalfCheetah", "JAX", (1026, 636), (1133, 562), 1.0, "0.51", DOES_NOT, correlation_needed=None),
    Row("EmuRust", "PyBoy", (12.01, 0.12), (11.99, 0.15), 0.01, "2e-07", FOLLOWS),
    Row("EmuRust", "Rust", (12.06, 0.00), (12.06, 0.01), 0.01, "4e-17", FOLLOWS),
    Row("PokeJAX", "Showdown", (0.313, 0.007), (0.313, 0.007), 0.001, "3e-06", FOLLOWS),
    Row("PokeJAX", "JAX", (0.406, 0.003), (0.406, 0.003), 0.001, "7e-12", FOLLOWS),
    Row("TCGJax", "Python", (0.575, 0.054), (0.543, 0.045), 0.001, "0.21", DOES_NOT, correlation_needed=0.82),
    Row("TCGJax", "JAX", (0.583, 0.062), (0.558, 0.042), 0.001, "0.15", DOES_NOT, correlation_needed=0.72),
]
SHOWN = [row for row in TABLE if row.verdict == FOLLOWS]
NOT_SHOWN = [row for row in TABLE if row.verdict == DOES_NOT]


def welch(row: Row) -> Equivalence:
    return tost_welch_summary(*row.performance, N, *row.reference, N, row.margin, ALPHA)


def paired(row: Row, correlation: float) -> Equivalence:
    """The paired TOST that the printed numbers allow if the two evaluations of a seed correlate this strongly."""
    (_, a), (_, b) = row.performance, row.reference
    sd = math.sqrt(a * a + b * b - 2 * correlation * a * b)
    return tost_paired_summary(row.difference, sd, N, row.margin, ALPHA)


def smallest_correlation(row: Row) -> float | None:
    """Where the paired interval just fits into the margin; None if the observed difference is already beyond it."""
    room = row.margin - abs(row.difference)
    if room <= 0:
        return None
    largest_sd = room * math.sqrt(N) / stats.t.isf(ALPHA, N - 1)
    (_, a), (_, b) = row.performance, row.reference
    return (a * a + b * b - largest_sd**2) / (2 * a * b)


def test_six_rows_of_ten_follow_from_the_printed_numbers():
    assert [welch(row).verdict for row in TABLE] == [row.verdict for row in TABLE]
    assert (len(SHOWN), len(NOT_SHOWN)) == (6, 4)


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_welch_p_value(row):
    digits = ".2f" if row.verdict == DOES_NOT else ".0e"  # two decimals where it matters, else the order of magnitude
    assert format(welch(row).p, digits) == row.welch_p


@pytest.mark.parametrize("row", NOT_SHOWN, ids=str)
def test_what_is_not_shown_equivalent_is_not_shown_different_either(row):
    result = welch(row)
    low, high = result.interval
    assert low < row.difference < high
    assert low < -row.margin or high > row.margin
    assert result.n_needed > 7 * N  # 78 seeds or more would be needed to decide, not 10


@pytest.mark.parametrize("row", [row for row in NOT_SHOWN if row.correlation_needed], ids=str)
def test_pairing_could_rescue_three_rows_if_the_seeds_correlate_strongly(row):
    needed = smallest_correlation(row)
    digits = 3 if row.environment == "HalfCheetah" else 2  # as many as the table in docs/statistics.md prints
    assert round(needed, digits) == row.correlation_needed
    assert paired(row, needed + 1e-6).verdict == "equivalent"
    assert paired(row, needed - 1e-6).verdict == "inconclusive"


def test_no_correlation_rescues_halfcheetah_trained_on_jax():
    (row,) = [row for row in NOT_SHOWN if row.correlation_needed is None]
    assert str(row) == "HalfCheetah trained on JAX"
    assert abs(row.difference) == 107 > row.margin
    assert smallest_correlation(row) is None
    assert all(paired(row, correlation).verdict != "equivalent" for correlation in (0.0, 0.9, 0.99, 0.9999))


@pytest.mark.parametrize("row", NOT_SHOWN, ids=str)
def test_rounding_in_print_does_not_rescue_a_row(row):
    """Every printed number moved by half its last digit, all in the row's favour."""
    half = row.last_digit / 2
    closer = math.copysign(half, row.difference)
    kindest = dataclasses.replace(
        row,
        performance=(row.performance[0] - closer, row.performance[1] - half),
        reference=(row.reference[0] + closer, row.reference[1] - half),
    )
    assert abs(kindest.difference) < abs(row.difference)
    assert welch(kindest).verdict == "inconclusive"


@pytest.mark.parametrize("row", SHOWN, ids=str)
def test_rounding_in_print_and_the_other_convention_for_sd_do_not_sink_a_row(row):
    """Everything moved against the row, and the printed sd read as the one divided by n instead of n - 1."""
    half = row.last_digit / 2
    apart = math.copysign(half, row.difference)
    larger = math.sqrt(N / (N - 1))
    harshest = dataclasses.replace(
        row,
        performance=(row.performance[0] + apart, (row.performance[1] + half) * larger),
        reference=(row.reference[0] - apart, (row.reference[1] + half) * larger),
    )
    assert welch(harshest).verdict == "equivalent"


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_statsmodels_agrees(row):
    weightstats = pytest.importorskip("statsmodels.stats.weightstats", reason="statsmodels only cross-checks ours")
    describe = []
    for mean, sd in (row.performance, row.reference):
        half = sd * math.sqrt((N - 1) / N)  # five values above, five below: a sample with exactly this mean and sd
        describe.append(weightstats.DescrStatsW([mean - half] * (N // 2) + [mean + half] * (N // 2)))
    p, *_ = weightstats.CompareMeans(*describe).ttost_ind(-row.margin, row.margin, usevar="unequal")
    # The sample's mean and sd carry roundings of 1e-16 of the mean, which the smallest sd magnifies to 1e-9 of p.
    assert welch(row).p == pytest.approx(p, rel=1e-6)


def test_the_documentation_prints_this_table():
    document = (Path(__file__).parents[3] / "docs" / "statistics.md").read_text()
    printed = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in document.splitlines()]
    printed = [cells for cells in printed if cells[0] in MARGIN]
    assert len(printed) == len(TABLE)
    for row, cells in zip(TABLE, printed, strict=True):
        low, high = welch(row).interval
        environment, trained_on, performance, reference, margin, difference, interval, p, shown, pairing = cells
        assert (environment, trained_on) == (row.environment, row.trained_on)
        assert tuple(map(float, performance.split(" ± "))) == row.performance
        assert tuple(map(float, reference.split(" ± "))) == row.reference
        assert (float(margin), float(difference)) == (row.margin, pytest.approx(row.difference))
        assert (interval, p) == (f"[{low:.3g}, {high:.3g}]", row.welch_p)
        assert shown == ("yes" if row.verdict == FOLLOWS else "**no**")
        assert pairing.startswith("correlation") == (row.correlation_needed is not None)
        assert str(row.correlation_needed or "") in pairing
