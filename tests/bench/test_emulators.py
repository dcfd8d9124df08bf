"""Game Boy games are measured beside PyBoys that play the same episodes, with random actions and in training."""

import dataclasses

import pytest

from overclock.bench import BenchConfig, measure, training
from overclock.bench.tables import markdown
from overclock.errors import MissingError, UsageError
from overclock.gameboy.pyboy.console import import_pyboy

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")
ROWS = ["overclock-native", "pyboy-threads", "pyboy-processes"]
SMALL = {"env": "gameboy-paddle", "batch": (2,), "repeats": 5, "warmup": 1}


@pytest.fixture
def _pyboy():
    try:
        import_pyboy()
    except MissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.usefixtures("_pyboy")
def test_ours_and_the_peers_play_the_same_game(monkeypatch):
    monkeypatch.setattr("overclock.bench.machine.cores", lambda: 1)  # one process to wait for
    report = measure(BenchConfig(**SMALL, steps=2, peers="pyboy-threads,pyboy-processes"))
    assert [row.implementation for row in report.results] == ROWS
    assert len({row.checksum for row in report.results}) == 1
    assert {entry.peer for entry in report.ratios} == set(ROWS[1:])
    assert not report.skipped
    assert "pyboy-threads 2.8.1" in markdown(report)


@pytest.mark.long  # two trainings to compile
@pytest.mark.usefixtures("few_optimisations", "_pyboy")
def test_training_is_measured_beside_pyboy(monkeypatch):
    small = dataclasses.replace(training.training_config(2), num_steps=4, hidden=(8,), num_minibatches=1)
    monkeypatch.setattr(training, "training_config", lambda lanes: small)
    report = training.measure_training(BenchConfig(**SMALL, min_seconds=1e-3, peers="pyboy-threads"))
    assert [row.implementation for row in report.results] == ROWS[:2]
    for row in report.results:
        assert row.steps_per_call % 4 == 0
        assert row.compile_seconds > 0
    assert "--peers pyboy-threads" in report.command


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"peers": "gymnasium"}, "gymnasium has no counterpart of 'gameboy-paddle-v1'"),
        ({"options": ("rom=no.gb",)}, "needs a description"),
        ({"options": ("rom=no.gb", "description=no.toml")}, "The ROM no.gb cannot be read: No such file or directory."),
        ({"resets": "pool:2"}, "--resets changes nothing where the rules are in Rust"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(changes, sentence):
    with pytest.raises(UsageError, match=sentence):
        measure(BenchConfig(**{**SMALL, **changes}))


def test_training_beside_another_peer_is_refused():
    with pytest.raises(UsageError, match="beside pyboy-threads and pyboy-processes only, not beside purejaxrl"):
        training.measure_training(BenchConfig(**SMALL, peers="purejaxrl"))
