"""The speed of training: whole updates are counted, rows take turns, and the peer learns by the same numbers."""

import dataclasses
import json

import pytest

from overclock.bench import training
from overclock.bench.config import BF16, PUREJAXRL, XLA, BenchConfig
from overclock.bench.results import TrainingSpeed
from overclock.bench.tables import markdown, training_rows
from overclock.errors import UsageError
from overclock.results import decode, encode

pytestmark = pytest.mark.usefixtures("few_optimisations")

ROWS = [XLA, BF16, PUREJAXRL, f"{PUREJAXRL}-bf16"]
SMALL = BenchConfig(batch=(8,), repeats=5, warmup=1, min_seconds=1e-3, peers=PUREJAXRL)


@pytest.fixture(scope="module")
def report():
    pytest.importorskip("gymnax", reason="the peer plays gymnax's CartPole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "NUM_STEPS", 16)
        small = dataclasses.replace(training.training_config(8), hidden=(8,))  # compiled soonest
        patch.setattr(training, "training_config", lambda lanes: small)
        return json.loads(json.dumps(encode(training.measure_training(SMALL))))


@pytest.mark.long
def test_rows_are_ours_and_the_peers_in_both_precisions(report):
    assert [row["implementation"] for row in report["results"]] == ROWS
    assert not report["skipped"]
    for row in report["results"]:
        assert row["steps_per_call"] % 16 == 0
        assert len(row["sps"]["samples"]) == 5
        assert row["compile_seconds"] > 0
        assert 8 < row["return"] < 500  # CartPole's, of whoever has hardly begun to learn
    pairs = {(entry["implementation"], entry["peer"]) for entry in report["ratios"]}
    assert pairs == {(ROWS[0], ROWS[2]), (ROWS[1], ROWS[3])}  # within one precision


def test_every_row_is_made_from_the_same_hyper_parameters(monkeypatch):
    pytest.importorskip("gymnax", reason="the peer plays gymnax's CartPole")
    given = []
    monkeypatch.setattr(training, "make_train", lambda env, params, config: given.append(config) or Made())
    monkeypatch.setattr("overclock.bench.purejaxrl.make", lambda config, env_id: given.append(config) or (None, None))
    runners, _ = training._runners(SMALL, "cartpole-v1", 8, "cpu")
    assert len(runners) == len(given) == 4
    assert {dataclasses.replace(config, precision="float32") for config in given} == {training.training_config(8)}
    assert [config.precision for config in given] == ["float32", "bf16"] * 2


class Made:
    init = advance = None


def test_the_network_has_two_layers_of_64():
    assert training.training_config(8).hidden == (64, 64)


@pytest.mark.long
def test_the_command_repeats_it(report):
    assert report["training"] | {"num_envs": 8, "num_steps": 16, "hidden": [8]} == report["training"]
    assert report["command"].endswith(f"--peers {PUREJAXRL} --min-seconds 0.001 --repeats 5 --warmup 1 --training")


@pytest.mark.long
def test_the_table_says_what_the_report_says(report):
    found = decode(TrainingSpeed, report)
    cells = training_rows(found)
    assert [row[1].split()[0] for row in cells] == ROWS
    assert cells[0][-1] == "-"
    assert cells[2][-1].endswith(("faster", "slower"))
    assert "| lanes | implementation |" in markdown(found)


def test_a_call_runs_as_many_updates_as_it_counts():
    calls = []

    class Compiled:
        def lower(self, state, updates):
            assert updates == 1
            return self

        def compile(self):
            return self

        def __call__(self, state):
            calls.append(state)
            return state + 1, {"return": [float(state)]}

    runner = training.TrainingRunner(training.Identity("x", "", 4, "cpu", "same_step"), (lambda _: 0, Compiled()), 0)
    steps = runner.plan(1e-9)
    assert steps == training.NUM_STEPS
    runner.prepare(3 * training.NUM_STEPS)
    calls.clear()
    runner.call()
    assert calls == [0, 1, 2]
    assert runner.facts().return_ == 2.0
    runner._returns.append(float("nan"))
    assert runner.facts().return_ is None  # no episode ended


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"peers": "gymnax"}, "Training is measured beside purejaxrl only, not beside gymnax."),
        ({"env": "pong", "peers": PUREJAXRL}, "gymnax has no counterpart of 'pong-v1'"),
        ({"steps": 100}, "--steps changes nothing in this measurement; leave it out with --training."),
        ({"sizes": (0.01,)}, "--sizes changes nothing"),
        ({"store": True}, "--store changes nothing"),
        ({"peers": PUREJAXRL, "options": ("sutton_barto_reward=true",)}, "purejaxrl knows no --options"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        training.measure_training(BenchConfig(**{"batch": (8,), **wrong}))


def test_a_peer_in_training_is_no_peer_in_stepping():
    with pytest.raises(UsageError, match="add --training"):
        BenchConfig(peers=PUREJAXRL).validate()
