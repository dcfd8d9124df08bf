"""The report: every promised fact is there, ratios come from medians, and peers really run beside us."""

import json

import jax
import pytest
from bench import made

from overclock.bench import BenchConfig, measure
from overclock.bench.report import ratios, seconds_on, summary, time_runners
from overclock.bench.results import Skip, Throughput
from overclock.bench.runners import Identity
from overclock.results import decode, encode

TINY = {"batch": (4,), "steps": 48, "warmup": 1, "repeats": 5}
REPORT = ["schema", "date", "command", "seed", "machine", "environment", "step", "results", "ratios", "skipped"]
MACHINE = [
    "device", "platform", "cpu", "cores", "os", "python", "overclock", "jax", "jaxlib", "numpy", "x64",
    "commit", "dirty",
]  # fmt: skip
ROW = [
    "implementation", "version", "platform", "batch", "run_batch", "sps", "steps_per_call", "unroll", "warmup_calls",
    "compile_seconds", "stored", "random_actions", "autoreset", "note", "checksum", "mean_episode_length",
    "program_bytes", "host_peak_bytes", "device_peak_bytes", "overflowed",
]  # fmt: skip
SPS = ["median", "lowest", "highest", "spread", "repeats", "samples"]
RATIO = ["implementation", "peer", "batch", "ratio", "lowest", "highest"]


def measured(config, *more):
    """The report as its readers find it, which is read back as it was."""
    report = measure(config, *more)
    written = json.loads(json.dumps(encode(report)))
    assert decode(Throughput, written) == report
    return written


@pytest.fixture(scope="module")
def report():
    for peer in ("gymnasium", "gymnax", "envpool"):
        pytest.importorskip(peer, reason=f"{peer} is not installed")
    heard = []
    found = measured(BenchConfig(**TINY, peers="gymnasium,gymnax,envpool", seed=3), heard.append)
    assert heard  # progress was told
    return found


def rows(report):
    return {row["implementation"]: row for row in report["results"]}


def test_the_schema_is_stable(report):
    assert report["schema"] == "overclock.bench/1"
    assert list(report) == REPORT
    assert list(report["machine"]) == MACHINE
    for row in report["results"]:
        assert list(row) == ROW
        assert list(row["sps"]) == SPS
    assert all(list(ratio) == RATIO for ratio in report["ratios"])


def test_the_report_is_json_without_loss(report):
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_every_peer_ran_beside_us(report):
    peers = {"gymnax", "gymnasium-sync", "gymnasium-vector", "envpool"}
    assert {"overclock", *peers} <= set(rows(report))
    assert {ratio["peer"] for ratio in report["ratios"] if ratio["implementation"] == "overclock"} == peers
    for row in report["results"]:
        assert row["sps"]["repeats"] == len(row["sps"]["samples"]) == 5
        assert row["sps"]["lowest"] <= row["sps"]["median"] <= row["sps"]["highest"]
        assert row["steps_per_call"] == 48
        assert row["implementation"] == "overclock-rust" or int(row["checksum"], 16) >= 0


def test_everybody_plays_the_same_game(report):
    # Random CartPole lasts 22.2 steps on average (standard deviation 12). Every row counts 1,000 episodes or more, so
    # the standard error is at most 0.38, and 1.5 is four of them.
    for row in report["results"]:
        assert row["mean_episode_length"] == pytest.approx(22.2, abs=1.5), row["implementation"]


def test_the_rust_environment_is_measured_or_its_absence_explained(report):
    measured = {"overclock-native", "overclock-rust"} <= rows(report).keys()
    skipped = [entry["implementation"] for entry in report["skipped"]]
    assert measured or skipped == ["overclock-native", "overclock-rust"]


def test_the_c_kernel_is_measured_and_plays_as_xla_does(report):
    assert "written over" in rows(report)["overclock-c"]["note"]
    assert [entry["implementation"] for entry in report["ratios"]].count("overclock-c") >= 1


def test_compiling_is_reported_apart_and_only_where_something_compiles(report):
    for name, row in rows(report).items():
        compiled = name in ("overclock", "overclock-c", "gymnax")
        assert (row["compile_seconds"] is not None) == compiled
        assert row["unroll"] == (1 if compiled else None)
        assert (row["program_bytes"] is not None) == compiled


def test_the_same_request_gives_the_same_checksums(report):
    again = measured(BenchConfig(**TINY, peers="envpool", seed=3))
    for name in ("overclock", "envpool"):
        assert rows(again)[name]["checksum"] == rows(report)[name]["checksum"]


def test_ratios_come_from_medians_at_the_same_batch():
    results = [
        made.row("overclock", 1, [10.0, 30.0, 20.0]),
        made.row("gymnax", 1, [5.0, 10.0, 1.0]),
        made.row("overclock", 2, [8.0, 8.0, 8.0]),
        made.row("gymnax", 2, [2.0, 2.0, 2.0]),
    ]
    assert [(r.batch, r.ratio, r.lowest, r.highest) for r in ratios(results)] == [
        (1, 20.0 / 5.0, 2.0, 20.0),
        (2, 4.0, 4.0, 4.0),
    ]


class Recorded:
    """A runner that writes down when it is called."""

    unroll, actions = None, "none"

    def __init__(self, name, order):
        self.identity = Identity(name, "1", 2, "cpu", "same_step")
        self._name, self._order = name, order

    def prepare(self, steps):
        self._order.append(f"prepare {self._name}")

    def call(self):
        self._order.append(self._name)

    def facts(self):
        return None


def test_timed_calls_of_all_implementations_are_interleaved_after_every_warm_up():
    order = []
    config = BenchConfig(steps=3, warmup=1, repeats=5)
    runners = [Recorded("a", order), Recorded("b", order)]
    found = time_runners(runners, config, 2, jax.devices()[0], lambda _: None)
    assert order == ["prepare a", "a", "prepare b", "b", *(["a", "b"] * 5)]
    assert [row.implementation for row in found] == ["a", "b"]


def test_the_spread_is_the_range_over_the_median():
    assert summary([4.0, 2.0, 3.0]).spread == pytest.approx(2.0 / 3.0)


def test_large_batches_of_a_serial_peer_are_capped_and_said_so():
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    report = measured(BenchConfig(batch=(66,), steps=2, warmup=1, peers="gymnasium"))
    sync = rows(report)["gymnasium-sync"]
    assert (sync["batch"], sync["run_batch"]) == (66, 64)
    assert "64 environments" in sync["note"]
    assert rows(report)["gymnasium-vector"]["run_batch"] == 66
    assert {ratio["peer"] for ratio in report["ratios"]} == {"gymnasium-vector"}  # 66 lanes against 64 is no ratio


def test_stored_steps_are_said_and_take_memory(report):
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    stored = rows(measured(BenchConfig(**TINY, peers="gymnasium", store=True, seed=3)))
    plain = rows(report)
    assert not any(row["stored"] for row in plain.values())
    assert all(row["stored"] for row in stored.values())
    # 48 steps of 4 lanes of 26 bytes: obs, action, reward and two flags
    assert stored["overclock"]["program_bytes"] - plain["overclock"]["program_bytes"] >= 48 * 4 * 26


def test_the_persistent_cache_is_restored_after_a_cold_measurement(tmp_path):
    import jax

    from overclock.bench.machine import cold_compiler

    before = jax.config.values["jax_enable_compilation_cache"]
    with cold_compiler():
        assert jax.config.values["jax_enable_compilation_cache"] is False
    assert jax.config.values["jax_enable_compilation_cache"] is before


def test_a_peer_that_is_installed_but_broken_is_named_and_left_out(monkeypatch):
    pytest.importorskip("gymnax", reason="gymnax is not installed")

    def broken(*_):
        raise ModuleNotFoundError("No module named 'six'")

    monkeypatch.setattr("overclock.bench.report.gymnax_runner", broken)
    report = measured(BenchConfig(**TINY, peers="gymnax"))
    assert {"implementation": "gymnax", "reason": "No module named 'six'"} in report["skipped"]
    assert report["ratios"] == []


def test_what_was_left_out_at_any_batch_is_named_once(monkeypatch):
    one, two = (Skip(name, "broken") for name in ("one", "two"))
    missing = {4: [one], 2: [one, two], 1: []}
    monkeypatch.setattr(
        "overclock.bench.report.build_runners", lambda config, env_id, batch, device: ([], missing[batch])
    )
    assert measure(BenchConfig(batch=(4, 2, 1))).skipped == [one, two]


def test_timed_calls_last_longer_on_a_gpu_unless_told_otherwise():
    class Device:
        def __init__(self, platform):
            self.platform = platform

    config = BenchConfig()
    assert seconds_on(config, Device("gpu")) > seconds_on(config, Device("cpu")) > 0
    assert seconds_on(BenchConfig(min_seconds=0.1), Device("gpu")) == 0.1
