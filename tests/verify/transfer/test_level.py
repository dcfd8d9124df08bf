"""Level 4 on CartPole, small: policies trained on both sides, played on both, with controls."""

import dataclasses

import jax
import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
pytest.importorskip("flax", reason="policies need the extra 'train'")
pytest.importorskip("scipy", reason="statistics need the extra 'report'")

from schema_checks import require_valid_part
from verify import drifting

from overclock.entry_point import EntryPoint
from overclock.env.spaces import Box, Discrete
from overclock.envs.cartpole.env import CartPole
from overclock.envs.cartpole.transfer import PLAN
from overclock.envs.cartpole.twin import twin
from overclock.errors import UsageError
from overclock.results import encode
from overclock.train import PPOConfig, train_on_gymnasium
from overclock.train.ppo import make_agent, make_train
from overclock.vector import vectorize
from overclock.vector.fused import fastest_backend
from overclock.vector.host import flatten_state
from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.transfer import training as transfer_training
from overclock.verify.transfer.level import check_transfer
from overclock.verify.transfer.plan import TransferPlan
from overclock.verify.transfer.policies import Players, PolicyName
from overclock.verify.transfer.result import Margins
from overclock.verify.transfer.training import ReferenceTrainer

pytestmark = pytest.mark.usefixtures("few_optimisations")

TINY = dataclasses.replace(
    PLAN,
    training={**PLAN.training, "total_steps": 1024, "hidden": (8,)},
    seeds=3,
    looks=1,
    episodes=16,
    planted=None,
    unseen=None,
)


@pytest.fixture(scope="module")
def heard():
    return []


@pytest.fixture(scope="module")
def quick(heard):
    return check_transfer(twin(), quick=True, progress=lambda *event: heard.append(event))


@pytest.mark.long
def test_the_true_twin_is_never_called_different(quick):
    assert quick.verdict in ("pass", "inconclusive"), quick.summary
    assert quick.quick
    assert "quick run" in quick.summary
    verdicts = {(group.trained_on, group.strength): group.verdict for group in quick.groups}
    assert "different" not in verdicts.values()
    assert set(verdicts) == {
        ("nothing", "random"),
        ("performance", "half-trained"), ("reference", "half-trained"),
        ("performance", "trained"), ("reference", "trained"),
    }  # fmt: skip
    for group in quick.groups:
        assert (group.policies, group.episodes) == (3, 20)
        if group.verdict == "inconclusive":
            assert group.n_needed > 3
    require_valid_part(quick)


@pytest.mark.long
def test_the_true_twin_passes_with_a_plan_that_can_decide():
    """Three small policies a group play too short for rounding to matter, so margins of a step or two are plenty."""
    plan = dataclasses.replace(
        TINY,
        strengths=(("random", 0.0), ("trained", 1.0)),
        margins={"random": 1.0, "trained": 2.0},
        planted="angle-6-degrees",
    )
    result = check_transfer(twin(), plan, seed=3)
    assert result.verdict == "pass", result.summary
    assert {group.verdict for group in result.groups} == {"equivalent"}
    assert len(result.groups) == 3
    control = result.controls.planted
    assert (control.seen, control.synthetic) == (True, False)


@pytest.mark.long
def test_every_seed_has_its_curve(quick):
    for curve in quick.curves.values():
        seeds = np.array(curve.seeds, float)
        assert seeds.shape == (3, len(curve.steps))
        np.testing.assert_allclose(np.nanmean(seeds[:, -1]), curve.mean[-1], atol=1e-3)


def test_a_plan_may_ask_for_a_kernel_to_train_with(monkeypatch):
    backends = []

    def watched(*args, backend):
        backends.append(backend)
        return make_train(*args, backend=backend)

    monkeypatch.setattr(transfer_training, "make_train", watched)
    for plan in (TINY, dataclasses.replace(TINY, kernel=True)):
        options = dict(transfer_training.performance_trainer(twin(), plan).options)
        transfer_training.PerformanceTrainer(1, **options)
    assert backends == ["auto", fastest_backend(vectorize(CartPole(), 1))]


@pytest.mark.long
def test_both_sides_meet_the_same_luck(quick):
    """Random play lasts 20 steps, too few for rounding to change an episode: only shared luck makes all equal."""
    random = next(group for group in quick.groups if group.strength == "random")
    assert random.identical_episodes == 1.0
    assert random.tost.exact
    # Policies have episodes of their own, or their luck would not average out.
    assert len(set(random.reference.policies)) > 1


@pytest.mark.long
def test_training_made_the_policies_better(quick):
    means = {(group.trained_on, group.strength): group.reference.mean for group in quick.groups}
    for side in ("performance", "reference"):
        assert means[side, "trained"] > means[side, "half-trained"] > means["nothing", "random"]
        curve = quick.curves[side]
        assert curve.steps[-1] == 8192
        assert curve.mean[-1] > 3 * curve.mean[0]
        assert np.all(np.array(curve.low) <= curve.high)
        assert np.all(np.diff(curve.seconds) > 0)


@pytest.mark.long
def test_the_controls_say_that_the_evaluation_can_be_believed(quick):
    controls = quick.controls
    assert controls.a_a.passed
    assert controls.planted.bug == "angle-6-degrees"
    assert controls.planted.seen
    assert {group.trained_on for group in controls.planted.groups} == {"nothing", "reference"}


@pytest.mark.long
def test_the_bug_that_returns_hide_is_recorded_as_not_seen_while_visited_states_show_it(quick):
    unseen = quick.controls.unseen
    assert unseen.bug == "polemass-plus"
    assert not unseen.seen
    assert unseen.result == "not seen by transfer"
    assert unseen.verdict != "different"
    assert unseen.states_differ
    assert "not seen by transfer" in quick.summary
    random = next(group for group in unseen.groups if group.strength == "random")
    assert random.verdict == "equivalent"
    assert random.visited.worst.bits > random.visited.worst.null_limit


@pytest.mark.long
def test_visited_states_of_the_true_twin_lie_far_below_what_the_reference_differs_from_itself(quick):
    for group in quick.groups:
        assert group.visited.mean_bits < 0.5 * group.visited.reference_against_itself_bits


@pytest.mark.long
def test_the_plan_is_announced_before_anything_runs_and_does_not_depend_on_the_outcome(quick, heard):
    sha = quick.plan.sha256
    assert heard[0] == (f"plan {sha[:12]}", 1, 1)
    assert sha == PLAN.quick().registered("cartpole-v1", 0).sha256
    values = {"random": 3.0, "half-trained": 25.0, "trained": 25.0}
    assert quick.margins == Margins(by="plan", reason=PLAN.margin_reason, values=values)
    assert PLAN.registered("cartpole-v1", 1).sha256 != PLAN.registered("cartpole-v1", 0).sha256
    stricter = dataclasses.replace(PLAN, margins={**PLAN.margins, "trained": 24.9})
    assert stricter.registered("cartpole-v1", 0).sha256 != PLAN.registered("cartpole-v1", 0).sha256


def with_a_bug(plan):
    return check_transfer(twin().planted("angle-6-degrees"), plan, seed=5)


def test_a_bug_in_the_performance_side_is_found():
    wrong = with_a_bug(dataclasses.replace(TINY, reference_env=None))  # one side to train on is enough for it
    assert wrong.verdict == "fail"
    assert wrong.summary.startswith("different: random policies, ")
    # Without a known bug to plant, the same episodes were played again and paid two margins more.
    control = wrong.controls.planted
    assert control.synthetic
    found = {(group.trained_on, group.strength): group for group in wrong.groups}
    for group in control.groups:
        plain = found[group.trained_on, group.strength]
        more = np.subtract(group.performance.policies, plain.performance.policies)
        np.testing.assert_allclose(more, 2 * group.margin)


@pytest.mark.long
def test_the_same_run_gives_the_same_numbers():
    results = encode(with_a_bug(TINY)), encode(with_a_bug(TINY))
    for result in results:
        del result["seconds"]
        for curve in result["curves"].values():
            del curve["seconds"]
    assert results[0] == results[1]


@pytest.mark.long
def test_a_reference_that_differs_from_itself_gives_no_verdict():
    """Its episodes become longer with time, which no seed decides; it cannot be trained on either."""
    reference = SubjectSpec("verify.drifting:reference", environment=drifting.ENVIRONMENT)
    plan = dataclasses.replace(TINY, reference_env=None)
    result = check_transfer(dataclasses.replace(twin(), reference=reference), plan)
    assert result.verdict == "could not verify"
    assert result.summary.startswith("could not verify: the reference differs from itself (")
    assert not result.controls.a_a.passed
    assert result.trained_on == ["performance"]
    assert {group.trained_on for group in result.groups} == {"nothing", "performance"}


def test_an_action_depends_on_the_policy_the_episode_and_the_step_alone():
    agent = make_agent(Box(-1.0, 1.0, (4,)), Discrete(2), PPOConfig(hidden=(8,)))
    weights = [flatten_state(agent.init(jax.random.key(seed))) for seed in (0, 1)]
    for one in weights:
        one["weights.params.policy.bias"] += np.array([2.0, 0.0], np.float32)
    weights[1]["weights.params.policy.bias"] = np.array([9.0, -9.0], np.float32)
    players = Players(agent, {PolicyName("reference", "trained", seed): weights[seed] for seed in (0, 1)})
    lanes = 512
    zeros, obs = np.zeros(lanes, np.int64), np.zeros((lanes, 4), np.float32)

    def act(policies, steps, seeds):
        return players.act(policies, players.first_memory(lanes), obs, steps, seeds, None)[1]

    by_seed, by_step = act(zeros, zeros, np.arange(lanes)), act(zeros, np.arange(lanes), zeros)
    share = 1 / (1 + np.exp(2))
    for actions in (by_seed, by_step):
        assert actions.mean() == pytest.approx(share, abs=0.06)
    order = np.random.default_rng(0).permutation(lanes)
    np.testing.assert_array_equal(act(zeros, zeros, order), by_seed[order])
    assert not act(zeros + 1, zeros, np.arange(lanes)).any()


def test_what_is_trained_is_compiled_once_and_before_seconds_are_counted(monkeypatch):
    done = []

    class Trainer(transfer_training._Trainer):
        def _compile(self):
            done.append("compiled")

        def _update(self):
            done.append("updated")
            return dict.fromkeys(transfer_training.SHOWN, np.zeros(1))

    monkeypatch.setattr(transfer_training.time, "perf_counter", lambda: float(len(done)))
    trainer = Trainer()
    assert trainer.advance(2)["seconds"].tolist() == [1.0, 1.0]
    trainer.advance(1)
    assert done == ["compiled", "updated", "updated", "updated"]


CONFIG = {"total_steps": 96, "num_envs": 4, "num_steps": 8, "num_minibatches": 2, "hidden": (8,), "learning_rate": 1e-2}


@pytest.mark.long
def test_several_seeds_on_the_reference_learn_what_one_alone_would():

    # A short time limit: what a cut-off step led to must not be taken from the next episode.
    env = EntryPoint.of("gymnasium:make", id="CartPole-v1", max_episode_steps=5)
    worker = ReferenceTrainer(1, env.as_json(), CONFIG)
    worker.begin(np.array([3, 4]))
    first = worker.weights()
    curve = worker.advance(3)
    assert curve["return"].shape == (3, 2)
    alone = train_on_gymnasium(env.call, PPOConfig(**CONFIG), seed=4)
    np.testing.assert_array_equal(curve["return"][:, 1], alone.curve.metrics["return"][:, 0])
    for name, leaf in flatten_state(alone.policy.params).items():
        # The same sums in another order: all seeds in one batch against one seed alone.
        np.testing.assert_allclose(worker.weights()[name][1], leaf, rtol=0, atol=1e-4, err_msg=name)
    name = "weights.params.policy.kernel"
    assert np.abs(worker.weights()[name] - first[name]).max() > 1e-3


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"strengths": (("random", 0.5), ("trained", 0.2))}, "growing shares"),
        ({"seeds": 1}, "at least 2 seeds"),
        ({"looks": 4}, "1 to 3 looks"),
        ({"episodes": 5}, "at least 16 episodes"),
        ({"margins": {"random": 1.0}, "margin_reason": "so"}, "Every strength needs a positive margin"),
        ({"margins": dict.fromkeys(("random", "half-trained", "trained"), 1.0)}, "need a reason"),
        ({"strengths": (("trained", 1.0),)}, "default margin needs"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(changes, says):
    with pytest.raises(UsageError, match=says):
        TransferPlan(**changes)


def test_a_plan_may_only_plant_bugs_of_the_twin():
    with pytest.raises(UsageError, match="none of the twin's bugs"):
        check_transfer(twin(), dataclasses.replace(TINY, planted="flat-earth"))
