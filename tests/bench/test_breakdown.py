"""Where the time of training goes: every part of every iteration is counted once, whoever steps the environment."""

import dataclasses
import json

import jax
import numpy as np
import pytest
from bench.made import MACHINE
from probes import Countdown

import overclock
from overclock.bench.breakdown import PARTS, Still, blank, host_parts, jax_parts, measure_breakdown, training_config
from overclock.bench.breakdown_plot import draw
from overclock.bench.config import BenchConfig
from overclock.bench.results import Breakdown, BreakdownRow, Parts
from overclock.bench.tables import breakdown_rows, markdown, rate
from overclock.env.check import check_environment
from overclock.env.spaces import Box
from overclock.errors import UsageError
from overclock.results import encode
from overclock.train.ppo import make_train
from overclock.vector import host_vector, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

SMALL = BenchConfig(env="pong", batch=(8,), sizes=(0.002,), repeats=5, options=("frameskip=2",))


def test_the_no_op_environment_has_the_spaces_of_the_other_and_is_one():
    env, params = overclock.make("pong", frameskip=2)
    still = Still(env)
    check_environment(still)
    assert still.observation_space(still.default_params()) == env.observation_space(params)
    assert still.action_space(still.default_params()) == env.action_space(params)


def test_its_observation_changes_with_every_step():
    still = Still(overclock.make("pong")[0])
    first, state = still.reset(jax.random.key(0))
    second, state, *_ = still.step(jax.random.key(1), state, 0)
    third, *_ = still.step(jax.random.key(2), state, 0)
    assert (first != second).all()
    assert (first == third).all()


def test_what_is_a_difference_may_be_nothing(monkeypatch):
    parts = Parts(environment=-0.1, inference=-0.2, update=0.6, transfer=0.0)
    monkeypatch.setattr("overclock.bench.breakdown._implementations", lambda *_: {"overclock": lambda _: [parts]})
    report = measure_breakdown(SMALL)
    (row,) = report.results
    assert (row.share.environment, row.share.update, row.rollout_sps) == (0, 1, None)
    assert breakdown_rows(report)[0][2] == "-"


def test_whole_numbers_differ_between_lanes_too():
    @dataclasses.dataclass(frozen=True)
    class Pictures(Countdown):
        def observation_space(self, params):
            return Box(0, 255, (3, 3), np.uint8)

    obs, _ = vectorize(Still(Pictures()), 5).reset(jax.random.key(0))
    assert len(np.unique(np.asarray(obs))) > 20


def test_lanes_see_different_things():
    """As they do in play: a GPU computes faster with equal rows."""
    still = Still(overclock.make("pong")[0])
    obs, _ = vectorize(still, 5).reset(jax.random.key(0))
    assert len({row.tobytes() for row in np.asarray(obs)}) == 5


def test_experience_to_learn_from_can_be_as_large_as_training_needs():
    config = training_config(dataclasses.replace(SMALL, batch=(4096,)), 0.002)
    trainer = make_train(overclock.make("pong", frameskip=2)[0], config=config)

    def both(key):
        played = trainer.init(key)
        return blank(trainer, played.learner.params)

    experience, _ = jax.eval_shape(both, jax.random.key(0))
    assert experience.obs.shape == (64, 4096, 8)


@pytest.mark.parametrize("where", [pytest.param("jax", marks=pytest.mark.long), "host"])
def test_the_parts_are_seconds_and_learning_takes_some(where):
    # Nothing here depends on the environment or the network, and these are compiled soonest.
    env, params = overclock.make("cartpole")
    config = dataclasses.replace(training_config(SMALL, 0.002), network="mlp", hidden=(8,), num_steps=4)
    if where == "jax":
        samples = jax_parts(env, config, 2)
        assert {parts.transfer for parts in samples} == {0.0}
    else:
        vector = host_vector(env, config.num_envs)
        samples = host_parts(vector, (env.observation_space(params), env.action_space(params)), config, 2)
        assert min(min(vars(parts).values()) for parts in samples) > 0
    assert [tuple(vars(parts)) for parts in samples] == [PARTS] * 2
    assert min(parts.update for parts in samples) > 0


def test_the_report_has_a_row_per_implementation_and_repeats_by_its_command(monkeypatch):
    parts = {"environment": 0.1, "inference": 0.2, "update": 0.6, "transfer": 0.1}
    odd = {"environment": 9.0, "inference": 0.0, "update": 9.0, "transfer": 9.0}
    monkeypatch.setattr(
        "overclock.bench.breakdown._implementations",
        lambda *_: {"overclock": lambda _: [Parts(**one) for one in (parts, parts, odd)]},
    )
    found = measure_breakdown(SMALL)
    report = json.loads(json.dumps(encode(found)))
    (row,) = report["results"]
    assert row["share"] == pytest.approx(parts)  # of the medians
    assert row["samples"] == [parts, parts, odd]
    assert row["sps"] == pytest.approx(64 * 8)
    assert (
        report["command"]
        == "overclock bench pong --batch 8 --options frameskip=2 --repeats 5 --sizes 0.002 --breakdown"
    )
    assert row["rollout_sps"] == pytest.approx(64 * 8 / 0.4)
    assert breakdown_rows(found)[0][0] == rate(row["parameters"])
    assert rate(row["parameters"]).endswith(" K")  # 0.002 million are no 0.0 M
    assert breakdown_rows(found)[0][4:9] == ["10.0%", "20.0%", "60.0%", "10.0%", "1000.0 ms"]
    assert "64 steps of 8 lanes with a GRU" in report["iteration"]
    assert "overclock" in markdown(found)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sizes": (0.0,)}, "--sizes takes millions"),
        ({"options": ("frameskip",)}, "--options takes name=value"),
        ({"options": ("frames=2",)}, "has no option 'frames'"),
    ],
)
def test_what_cannot_be_measured_is_refused(changes, sentence):
    with pytest.raises(UsageError, match=sentence):
        BenchConfig(**{"env": "pong", **changes}).validate()


def test_the_picture_has_a_bar_per_row_with_its_parts_on_top_of_each_other():
    pytest.importorskip("matplotlib")
    share = Parts(environment=0.1, inference=0.2, update=0.6, transfer=0.1)
    row = BreakdownRow("overclock", 2_000_000, share, [share], share, 5e6, None, 1.0, None)
    report = Breakdown(
        schema="overclock.bench.breakdown/1", date="", command="", seed=0, machine=MACHINE, environment="pong-v1",
        iteration="one", results=[row, row], skipped=[],
    )  # fmt: skip
    axes = draw(report).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["overclock\n2 M"] * 2
    tops = [bar.get_y() + bar.get_height() for bar in axes.patches]
    assert tops[:4] == pytest.approx([0.1, 0.3, 0.9, 1.0])
