"""Room that runs out while a policy is trained or judged is counted: those numbers are not the reference's."""

import dataclasses

import numpy as np
import pytest
from probes import Dealer

from overclock.cli.environments import train as command
from overclock.train import PPOConfig, make_train, train
from overclock.train.command import Evaluation, TrainedSeed, TrainingReport
from overclock.train.evaluate import evaluate_on_host, evaluate_policy
from overclock.train.host.training import train_on_host
from overclock.vector import host_vector, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

CONFIG = PPOConfig(total_steps=8 * 4 * 2, num_envs=8, num_steps=4, num_minibatches=1, num_epochs=1, hidden=(4,))


class Cards(Dealer):
    """The dealer's numbers as floats, which networks take."""

    def observe(self, state, params):
        return super().observe(state, params).astype(np.float32)

    def observation_space(self, params):
        return dataclasses.replace(super().observation_space(params), dtype=np.dtype(np.float32))


@pytest.fixture(scope="module")
def run():
    return train(make_train(Cards(tape_words=1), None, CONFIG), (0,))


def test_a_run_counts_the_steps_without_room(run):
    assert 0 < run.curve.overflowed <= 64
    assert len(run.curve.to_json(0)["overflowed"]) == 2


@pytest.mark.long
def test_a_loop_on_the_host_counts_the_same_steps(run):
    host = host_vector(Cards(tape_words=1), 8, "same_step", backend="xla")
    assert 0 < train_on_host(host, CONFIG, 0).curve.overflowed <= 64


def test_an_evaluation_counts_the_episodes_without_room(run):
    short, roomy = Cards(tape_words=1), Cards(tape_words=3)
    policy = run.policy()
    found = evaluate_policy(policy, vectorize(short, 4), range(4), 2, deterministic=False)
    assert 0 < found.overflowed <= 8
    assert evaluate_policy(policy, vectorize(roomy, 4), range(4), 2, deterministic=False).overflowed == 0
    host = host_vector(short, 4, "same_step", backend="xla")
    assert evaluate_on_host(policy, host, range(4), 2, deterministic=False).overflowed == found.overflowed


def test_the_summary_warns_of_steps_and_episodes_without_room(capsys):
    evaluation = Evaluation(100, 1.0, 0.0, 1.0, 3)
    fields = {field.name: 0 for field in dataclasses.fields(TrainingReport)}
    report = TrainingReport(**{**fields, "mfu": None, "seeds": [TrainedSeed(0, "p", evaluation, {})]})
    command.show(dataclasses.replace(report, overflowed_steps=1234))
    assert "WARNING: room ran out in 1,234 steps of training and 3 episodes of evaluation" in capsys.readouterr().out
    command.show(dataclasses.replace(report, seeds=[]))
    assert "WARNING" not in capsys.readouterr().out
