"""The cost of reset strategies, on an environment made for it."""

import jax
import numpy as np
import pytest

from overclock.bench import BenchConfig, markdown, measure_resets
from overclock.bench.expensive import LENGTHS, SHORTEST, ExpensiveReset
from overclock.bench.results import ResetComparison
from overclock.bench.tables import reset_rows
from overclock.env.check import check_environment
from overclock.env.rng import Rng
from overclock.results import decode, encode

REPORT = ["schema", "date", "command", "seed", "machine", "environment", "batch", "step", "results"]
ROW = [
    "strategy", "sps", "steps_per_call", "unroll", "warmup_calls", "compile_seconds", "stored", "random_actions",
    "checksum", "program_bytes", "host_peak_bytes", "device_peak_bytes", "cost", "shared_share",
]  # fmt: skip


@pytest.fixture(scope="module")
def report():
    return encode(measure_resets(BenchConfig(batch=(8, 64), steps=250, warmup=1, repeats=5)))


@pytest.fixture(scope="module")
def crowded():
    """16 lanes have room for one end a step: two at once, which happens every 150 steps or so, must share."""
    found = encode(measure_resets(BenchConfig(batch=(16,), steps=1000, warmup=1, repeats=5)))
    return {row["strategy"]: row for row in found["results"]}


def test_the_schema_is_stable(report):
    assert report["schema"] == "overclock.bench.resets/1"
    assert list(report) == REPORT
    assert all(list(row) == ROW for row in report["results"])


def test_every_strategy_is_compared_with_no_reset_at_the_largest_batch(report):
    assert report["batch"] == 64
    assert [row["strategy"] for row in report["results"]] == ["none", "fresh", "optimistic:16", "pool:1024"]
    without = report["results"][0]["sps"]["median"]
    for row in report["results"]:
        assert row["cost"] == pytest.approx(without / row["sps"]["median"])
    assert "--compare-resets" in report["command"]


def test_strategies_that_agree_have_the_same_checksum(report):
    checksums = {row["strategy"]: row["checksum"] for row in report["results"]}
    # 64 lanes have room for 4 ends a step, where 0.5 are usual: Optimistic gives Fresh's own episodes.
    assert checksums["optimistic:16"] == checksums["fresh"]
    assert len({checksums["none"], checksums["fresh"], checksums["pool:1024"]}) == 3


@pytest.mark.long
def test_episodes_that_lanes_share_are_counted_where_there_is_such_a_number(report, crowded):
    shared = {row["strategy"]: row["shared_share"] for row in report["results"]}
    # Every lane of a pool takes a stored episode, and without resets nobody takes any: 0 would be a lie for both.
    assert (shared["none"], shared["fresh"], shared["pool:1024"]) == (None, 0.0, None)
    assert shared["optimistic:16"] < 0.01
    fresh, optimistic = (crowded[name] for name in ("fresh", "optimistic:16"))
    assert fresh["shared_share"] == 0
    assert 0 < optimistic["shared_share"] < 1  # lanes that shared a level end it together, and share again
    assert optimistic["checksum"] != fresh["checksum"]


def test_the_table_shows_the_cost(report):
    found = decode(ResetComparison, report)
    text = markdown(found)
    assert "| strategy | steps/s |" in text
    assert "| none |" in text
    assert "1.00x" in text
    shown = {cells[0]: cells[4] for cells in reset_rows(found)}
    assert (shown["none"], shown["fresh"], shown["pool:1024"]) == ("n/a", "0.0%", "n/a (stored)")
    assert shown["optimistic:16"].endswith("%")


def test_the_synthetic_environment_meets_the_contract():
    assert check_environment(ExpensiveReset(work=5)) == []


def test_its_episodes_last_as_long_as_their_level_says():
    env = ExpensiveReset(work=5)
    params = env.default_params()
    _, states = jax.vmap(lambda rng: env.reset(rng, params))(Rng.of(0).lanes(2000))
    left = np.asarray(states.rules.left)
    assert (left.min(), left.max()) == (SHORTEST, SHORTEST + LENGTHS - 1)
    # Uniform over 128 lengths: standard deviation 37, so 2,000 of them have a mean within 4 standard errors of 3.3.
    assert left.mean() == pytest.approx(SHORTEST + (LENGTHS - 1) / 2, abs=3.3)
