"""A run's numbers do not depend on how it was cut up: chunks, checkpoints, Ctrl-C and resuming leave no trace."""

import dataclasses
import json
import signal

import jax
import numpy as np
import pytest
from train import probes
from train.quick import quick

from overclock.errors import UsageError
from overclock.train import PPOConfig, loop, make_train, train

# Runs are compared with runs of the same program, however it was compiled.
pytestmark = pytest.mark.usefixtures("few_optimisations")

CONFIG = PPOConfig(
    total_steps=8 * 4 * 12, num_envs=8, num_steps=4, num_minibatches=2, num_epochs=2, learning_rate=1e-2, hidden=(8,),
    network="gru", memory=8, normalise_observations=True, normalise_rewards=True,
)  # fmt: skip
SEEDS = (3, 5)


@pytest.fixture(scope="module")
def trainer():
    return make_train(probes.Recall(), None, CONFIG)


@pytest.fixture(scope="module")
def whole(trainer):
    """A run without interruption."""
    return train(trainer, SEEDS)


def assert_same_run(a, b):
    for x, y in zip(jax.tree.leaves(a.state), jax.tree.leaves(b.state), strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
    for name in a.curve.metrics:
        np.testing.assert_array_equal(a.curve.metrics[name], b.curve.metrics[name])


def test_a_curve_has_steps_seconds_and_every_seed(whole):
    assert whole.finished
    np.testing.assert_array_equal(whole.curve.steps, 32 * np.arange(1, 13))
    assert whole.curve.seconds.shape == (12,)
    assert np.all(np.diff(whole.curve.seconds) > 0)
    assert {values.shape for values in whole.curve.metrics.values()} == {(12, 2)}
    assert not np.array_equal(whole.curve.metrics["return"][:, 0], whole.curve.metrics["return"][:, 1])
    # Whole episodes of four steps: 8 lanes end one every update.
    np.testing.assert_array_equal(whole.curve.metrics["episodes"], 8)
    np.testing.assert_array_equal(whole.curve.metrics["length"], 4)
    json.dumps(whole.curve.to_json(1), allow_nan=False)


@pytest.mark.parametrize("chunk_seconds", [1e-9, 1e3])
def test_chunk_lengths_change_nothing(trainer, whole, monkeypatch, chunk_seconds):
    monkeypatch.setattr(loop, "CHUNK_SECONDS", chunk_seconds)
    assert_same_run(train(trainer, SEEDS, checkpoint_every=5), whole)


def test_many_updates_are_one_call_of_the_device(trainer, whole, monkeypatch):
    calls, handed = [], []

    def counted(*given):
        calls.append(int(given[-1]))
        handed.append(given[1].obs)
        return advance(*given)

    advance = loop._advance
    monkeypatch.setattr(loop, "_advance", counted)
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 1e3)
    assert_same_run(train(trainer, SEEDS), whole)
    assert calls == [0, 1, 12]  # compile, learn how long an update takes, do all the rest
    assert all(obs.is_deleted() for obs in handed)  # the state changes in place


def test_an_advance_is_so_many_updates_and_takes_the_state_over():
    config = PPOConfig(total_steps=96, num_envs=8, num_steps=4, num_minibatches=1, num_epochs=1, hidden=(4,))
    trainer = make_train(probes.ActionReward(), None, config)
    update, state = quick(trainer.update), quick(trainer.init)(jax.random.key(3))
    expected, rows = state, []
    for _ in range(3):
        expected, row = update(expected)
        rows.append(row)
    weights = jax.tree.leaves(state.learner.params)
    found, metrics = trainer.advance(state, 3)
    assert all(leaf.is_deleted() for leaf in (state.obs, *weights))
    for name, values in metrics.items():
        np.testing.assert_allclose(values, [row[name] for row in rows], rtol=1e-4, atol=1e-5)  # two programs
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-4)


def test_a_run_knows_its_speed(whole):
    assert whole.speed.steps_per_second == pytest.approx(12 * 32 * len(SEEDS) / whole.curve.seconds[-1])
    assert whole.speed.flops_per_second > whole.speed.steps_per_second
    assert whole.speed.mfu is None  # nobody knows what a CPU can do


def test_mfu_is_told_where_the_peak_is_given(trainer):
    told = []
    run = train(trainer, SEEDS, stop_after=1, peak=1e12, progress=told.append)
    assert run.speed.mfu == told[-1].speed.mfu == pytest.approx(run.speed.flops_per_second / 1e12)


def test_a_resumed_run_continues_bit_for_bit(trainer, whole, tmp_path):
    stopped = train(trainer, SEEDS, folder=tmp_path / "run", stop_after=5)
    assert not stopped.finished
    assert len(stopped.curve.steps) == 5
    resumed = train(trainer, SEEDS, folder=tmp_path / "run", resume=True)
    assert resumed.finished
    assert_same_run(resumed, whole)
    assert np.all(np.diff(resumed.curve.seconds) > 0)
    np.testing.assert_array_equal(resumed.curve.seconds[:5], stopped.curve.seconds)


def test_ctrl_c_finishes_the_update_saves_and_returns(trainer, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 1e-9)  # one update at a time

    def interrupt(progress):
        if progress.update == 3:
            signal.raise_signal(signal.SIGINT)

    usual = signal.getsignal(signal.SIGINT)
    stopped = train(trainer, SEEDS, folder=tmp_path, progress=interrupt)
    assert not stopped.finished
    assert len(stopped.curve.steps) == 3
    assert signal.getsignal(signal.SIGINT) is usual
    assert_same_run(train(trainer, SEEDS, folder=tmp_path, resume=True), whole)


def test_a_second_ctrl_c_stops_at_once_and_keeps_the_last_checkpoint(trainer, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 1e-9)

    def insist(progress):
        if progress.update == 5:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(trainer, SEEDS, folder=tmp_path, progress=insist, checkpoint_every=4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.safetensors", "run.json"]
    assert_same_run(train(trainer, SEEDS, folder=tmp_path, resume=True), whole)


def test_a_run_stopped_before_its_first_update_can_be_resumed(trainer, whole, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as while_compiling:
        while_compiling.setattr(loop, "_advance", stop)
        with pytest.raises(KeyboardInterrupt):
            train(trainer, SEEDS, folder=tmp_path)
    assert_same_run(train(trainer, SEEDS, folder=tmp_path, resume=True), whole)


def test_a_run_stopped_before_it_began_leaves_the_folder_free(trainer, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as while_beginning:
        while_beginning.setattr(loop, "_begin", stop)
        with pytest.raises(KeyboardInterrupt):
            train(trainer, SEEDS, folder=tmp_path)
    assert train(trainer, SEEDS, folder=tmp_path, stop_after=1).curve.steps.tolist() == [32]


def test_a_run_is_resumed_only_as_it_was_begun(trainer, tmp_path):
    train(trainer, SEEDS, folder=tmp_path, stop_after=1)
    with pytest.raises(UsageError, match=r"holds a training run; resume it \(--resume\), replace it \(--force\)"):
        train(trainer, SEEDS, folder=tmp_path)
    with pytest.raises(UsageError, match=r"has seeds = \[3, 5\], not \[3\]"):
        train(trainer, [3], folder=tmp_path, resume=True)
    other = make_train(probes.Recall(), None, dataclasses.replace(CONFIG, gamma=0.5))
    with pytest.raises(UsageError, match=r"has gamma = 0\.99, not 0\.5"):
        train(other, SEEDS, folder=tmp_path, resume=True)
    other = make_train(probes.ActionReward(), None, CONFIG)
    with pytest.raises(UsageError, match=r"trains Recall\(.*\), not ActionReward\(.*choose another folder"):
        train(other, SEEDS, folder=tmp_path, resume=True)


def test_what_cannot_be_resumed_is_one_sentence(trainer, tmp_path):
    with pytest.raises(UsageError, match="no training run"):
        train(trainer, SEEDS, folder=tmp_path / "absent", resume=True)
    with pytest.raises(UsageError, match="needs the folder"):
        train(trainer, resume=True)
    train(trainer, SEEDS, folder=tmp_path, stop_after=1)
    (tmp_path / "checkpoint.safetensors").write_bytes(b"half a file")
    with pytest.raises(UsageError, match="damaged"):
        train(trainer, SEEDS, folder=tmp_path, resume=True)
    settings = (tmp_path / "run.json").read_text()
    for broken in ("{}", json.dumps({**json.loads(settings), "config": None})):
        (tmp_path / "run.json").write_text(broken)
        with pytest.raises(UsageError, match=r"run\.json' is not a training run, or it is damaged"):
            train(trainer, SEEDS, folder=tmp_path, resume=True)
    (tmp_path / "run.json").write_text(settings)
    (tmp_path / "checkpoint.safetensors").unlink()
    with pytest.raises(UsageError, match=r"lost its checkpoint; start it anew \(--force\)"):
        train(trainer, SEEDS, folder=tmp_path, resume=True)


@pytest.mark.parametrize("seeds", [[], [1, 1], [-1], [1 << 32]])
def test_seeds_are_different_whole_numbers(trainer, seeds):
    with pytest.raises(UsageError, match="Seeds must be"):
        train(trainer, seeds)


@pytest.mark.long
def test_a_seed_learns_the_same_beside_others_and_alone(trainer, whole):
    alone, _ = quick(trainer.train)(jax.random.key(SEEDS[1]))
    together = jax.tree.map(lambda leaf: leaf[1], whole.state)
    for a, b in zip(jax.tree.leaves(alone.env), jax.tree.leaves(together.env), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))  # the same episodes ...
    for a, b in zip(jax.tree.leaves(alone.learner.params), jax.tree.leaves(together.learner.params), strict=True):
        # ... and weights up to the order in which a batched matrix product adds, over 48 gradient steps.
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-4)
