"""What a benchmark refuses, before it spends any time."""

import importlib.util
from pathlib import Path

import pytest

import overclock
from overclock.bench import BenchConfig
from overclock.errors import MissingError, OverclockError, UsageError


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"env": "cartpol"}, "did you mean 'cartpole'"),
        ({"batch": (0,)}, "--batch takes positive whole numbers, got 0"),
        ({"batch": (64, -1)}, "got -1"),
        ({"batch": ()}, "at least one batch size"),
        ({"steps": 0}, "--steps takes positive"),
        ({"unroll": 0}, "--unroll takes positive"),
        ({"warmup": 0}, "--warmup takes positive"),
        ({"repeats": 4}, "at least 5 repeats, got 4"),
        ({"min_seconds": float("nan")}, "--min-seconds must be positive"),
        ({"peers": "gymnaz"}, "did you mean 'gymnax'"),
        ({"peers": "zoo"}, "there are gymnasium, gymnax, envpool"),
        ({"resets": "pool"}, "pool:SIZE"),
        ({"resets": "optimistic:0"}, "optimistic:RATIO"),
        ({"resets": "fresh:3"}, "--resets takes"),
        ({"resets": "optimistic:64", "batch": (256, 16)}, "needs at least 64 lanes, but --batch has 16; use a smaller"),
        ({"plot": Path("speed.txt")}, "A plot is one of .png"),
        ({"output": Path("/")}, "is a folder"),
        ({"output": Path("/dev/null/report.json")}, "'/dev/null' does not allow it"),
    ],
)
def test_a_bad_request_is_refused_in_one_sentence_with_the_remedy(changes, sentence):
    with pytest.raises(OverclockError) as refusal:
        BenchConfig(**changes).validate()
    message = str(refusal.value).lower()
    assert sentence.lower() in message
    assert "\n" not in message
    assert refusal.value.exit_code == 2


def test_a_peer_that_is_not_installed_is_named_with_the_extra_that_installs_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingError, match=r"peer envpool is not installed.*overclock\[envpool\]"):
        BenchConfig(peers="envpool").validate()


def test_a_peer_without_this_environment_is_refused(monkeypatch):
    pytest.importorskip("gymnax", reason="gymnax is not installed")
    from overclock.bench import measure, peers

    monkeypatch.setattr(peers, "COUNTERPARTS", {})
    with pytest.raises(UsageError, match="gymnax has no counterpart of 'cartpole-v1'; leave it out"):
        measure(BenchConfig(batch=(2,), peers="gymnax"))


def test_a_gpu_that_is_not_there_is_missing():
    import jax

    from overclock.bench import measure

    if any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("there is a GPU here")
    with pytest.raises(MissingError, match="no gpu here; use --device cpu"):
        measure(BenchConfig(batch=(2,), device="gpu"))


def test_an_optimistic_ratio_may_be_as_large_as_the_smallest_batch():
    BenchConfig(resets="optimistic:16", batch=(256, 16)).validate()


def test_the_help_of_unroll_tells_the_defaults_that_are_used(capsys):
    from overclock.bench.report import unroll_on
    from overclock.cli import main

    class Device:
        def __init__(self, platform):
            self.platform = platform

    config = BenchConfig()
    assert unroll_on(config, Device("cpu"), 1024, 9) == unroll_on(config, Device("gpu"), 524_288, 9) == 1
    assert [unroll_on(config, Device("gpu"), 524_287, n) for n in (9, 225, 226, 450, 9000)] == [16, 16, 8, 8, 1]
    assert unroll_on(BenchConfig(unroll=32), Device("gpu"), 1024, 9000) == 32
    assert main(["bench", "--help"]) == 0
    shown = "".join(char for char in " ".join(capsys.readouterr().out.split()) if char.isascii() and char.isprintable())
    assert "1 on a CPU; 16 on a GPU (less for rules of more than 256 operations), 1 from 524,288 lanes" in " ".join(
        shown.split()
    )


def test_peers_are_separated_by_commas():
    assert BenchConfig(peers=" gymnax, envpool,,gymnax").peer_names() == ["gymnax", "envpool"]


def test_the_command_names_what_differs_from_the_defaults():
    assert BenchConfig().command() == "overclock bench cartpole"
    config = BenchConfig(batch=(1, 8), store=True, min_seconds=0.5, resets="pool:16", output=Path("x.json"))
    assert config.command() == "overclock bench cartpole --batch 1 8 --min-seconds 0.5 --store --resets pool:16"


def test_operations_are_counted_in_branches_and_loops_too():
    from overclock.bench.report import operations
    from overclock.vector import vectorize

    games = [("cartpole", {}), ("pong", {}), ("pong", {"frameskip": 8})]  # the last one is a loop of frames
    counts = [operations(vectorize(overclock.make(name, **static)[0], 4), None) for name, static in games]
    assert 100 < counts[0] <= 256 < counts[1] < counts[2]
