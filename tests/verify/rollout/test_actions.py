"""Action sources: what they choose from, and that coverage guides to what chance does not reach."""

import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from schema_checks import require_valid_part

from overclock.errors import UsageError
from overclock.verify.rollout.actions import controlled, mask_uniform, policy, random_legal, scripted, sticky, uniform
from overclock.verify.rollout.branches import BranchTracer
from overclock.verify.rollout.guided import CoverageGuided, coverage_guided
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import Observed, SubjectSpec

DISCRETE = {"kind": "discrete", "n": 4}
BOX = {"kind": "box", "low": np.full(2, -1, np.float32), "high": np.array([1, 3], np.float32)}
LANES = 1000


def shown(steps=1, **outputs):
    return Observed({"obs": np.zeros((LANES, 2)), **outputs}, {"steps": np.full(LANES, steps, np.int32)}, {})


def rng():
    return np.random.default_rng(0)


def test_uniform_takes_every_action_equally_often():
    counts = np.bincount(uniform(DISCRETE)(rng(), shown()), minlength=4)
    assert counts.min() > LANES / 4 * 0.8
    actions = uniform(BOX)(rng(), shown())
    assert (actions.shape, actions.dtype) == ((LANES, 2), np.float32)
    assert actions[:, 1].max() > 2.9
    assert uniform({**DISCRETE, "players": 2})(rng(), shown()).shape == (LANES, 2)


def test_masked_actions_are_legal_and_equally_often_so():
    mask = np.tile([True, False, True, True], (LANES, 1))
    actions = mask_uniform(DISCRETE)(rng(), shown(action_mask=mask))
    counts = np.bincount(actions, minlength=4)
    assert counts[1] == 0
    assert counts[[0, 2, 3]].min() > LANES / 3 * 0.8
    two_players = np.stack([mask, ~mask], axis=1)
    actions = mask_uniform({**DISCRETE, "players": 2})(rng(), shown(action_mask=two_players))
    assert set(actions[:, 1]) == {1}


def test_random_play_is_legal_where_there_is_a_mask_and_free_where_there_is_none():
    mask = np.tile([True, False, True, True], (LANES, 1))
    assert set(random_legal(DISCRETE)(rng(), shown(action_mask=mask))) == {0, 2, 3}
    assert set(random_legal(DISCRETE)(rng(), shown())) == {0, 1, 2, 3}
    assert random_legal(BOX)(rng(), shown()).shape == (LANES, 2)


def test_masked_actions_need_a_mask():
    with pytest.raises(UsageError, match="Neither side reports an action mask"):
        mask_uniform(DISCRETE)(rng(), shown())
    with pytest.raises(UsageError, match="Only discrete actions have masks"):
        mask_uniform(BOX)


def test_sticky_actions_repeat_within_an_episode_and_inside_the_mask():
    act, generator = sticky(0.75)(DISCRETE), rng()
    first, second = act(generator, shown()), act(generator, shown())
    assert 0.75 < np.mean(first == second) < 0.88  # 0.75 + 0.25 / 4
    third = act(generator, shown(steps=0))
    assert np.mean(second == third) < 0.35
    mask = np.tile([True, False, True, True], (LANES, 1))
    act = sticky(1.0, mask_uniform)(DISCRETE)
    act(generator, shown(action_mask=~mask))
    assert set(act(generator, shown(action_mask=mask))) == {0, 2, 3}
    with pytest.raises(UsageError, match="between 0 and 1"):
        sticky(1.5)


def test_sticky_works_for_continuous_actions():
    act, generator = sticky(1.0)(BOX), rng()
    np.testing.assert_array_equal(act(generator, shown()), act(generator, shown()))


def test_a_policy_acts_on_observations():
    source = policy(lambda obs: obs[:, 0] > 0)(DISCRETE)
    observed = shown(obs=np.linspace(-1, 1, LANES)[:, None])
    actions = source(rng(), observed)
    assert actions.dtype == np.int32
    assert actions.sum() == LANES / 2


def test_controlled_play_mixes_in_a_growing_share_of_random_actions():
    actions = controlled(lambda obs: np.full(len(obs), 3))(DISCRETE)(rng(), shown())
    wrong = actions != 3
    assert wrong[: LANES // 10].mean() < 0.1
    assert 0.2 < wrong[-LANES // 4 :].mean() < 0.5


def test_scripted_players_take_the_lanes_in_turn_and_each_has_one_without_random_actions():
    players = [
        lambda description, action=action: policy(lambda obs: np.full(len(obs), action))(description)
        for action in (2, 3)
    ]
    actions = scripted(*players)(DISCRETE)(rng(), shown())
    assert actions[:2].tolist() == [2, 3]
    for player, action in enumerate((2, 3)):
        own = actions[player::2]
        assert (own[:50] == action).mean() > 0.9
        assert 0.2 < (own[-125:] != action).mean() < 0.5
    boxes = scripted(*[lambda description: lambda generator, seen: np.ones((LANES, 2), np.float32)] * 2)(BOX)(
        rng(), shown()
    )
    assert (boxes.shape, boxes.dtype) == ((LANES, 2), np.float32)


# ---- branch tracing ----

SOURCE = """
    def rules(x, table=None):
        if x < 0 or x > 10:
            return "outside"
        for item in range(x):
            if table is None and item == 3:
                return "deep"
        return 1 if x else 0

    def never():
        return [i for i in range(3) if i]
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "traced_rules.py").write_text(textwrap.dedent(SOURCE))
    monkeypatch.syspath_prepend(tmp_path)
    import traced_rules  # pyright: ignore[reportMissingImports]

    return traced_rules


def test_every_operand_of_a_condition_is_a_branch(module):
    tracer = BranchTracer([module.__file__])
    with tracer:
        module.rules(0)
    report = tracer.report()
    assert "traced_rules.py:3 `x < 0` is false" in report["reached"]
    assert "traced_rules.py:3 `x > 10` is true" in report["missed"]
    known = len(tracer.reached)
    with tracer:
        module.rules(0)
    assert len(tracer.reached) == known
    with tracer:
        module.rules(11)
    assert len(tracer.reached) == known + 1
    assert "traced_rules.py:3 `x > 10` is true" in tracer.report()["reached"]
    with tracer:
        for x in (-1, 5, 2):
            module.rules(x)
        module.rules(5, table={})
    assert tracer.report()["missed"] == []
    assert any("never" in function for function in report["never_entered"])


def test_tracing_leaves_other_tracers_alone(module):
    before = sys.gettrace()
    with BranchTracer([module.__file__]) as tracer:
        module.rules(1)
        len([])
    assert sys.gettrace() is before
    module.rules(11)
    assert not any("`x > 10` is true" in text for text in tracer.report()["reached"])


# ---- guided by the branches of a reference ----


def test_a_kept_episode_is_replayed_from_its_seed_and_goes_on():
    source, generator = CoverageGuided(uniform(DISCRETE)), rng()
    observed = Observed({"obs": np.zeros(1)}, {"steps": np.zeros(1, np.int32)}, {})
    assert source.begin(generator, 0, seed=17) == 17
    taken = [int(source(generator, observed)[0]) for _ in range(3)]
    source.learn(Observed({"new_branches": np.array([2])}, {}, {}))
    assert [int(action) for action in source.corpus[0].actions] == taken
    replays = 0
    for seed in range(100, 200):
        used = source.begin(generator, 0, seed)
        actions = [int(source(generator, observed)[0]) for _ in range(5)]
        assert used in (17, seed)
        replays += used == 17 and actions[:3] == taken
    assert 30 < replays < 75  # 3/4 start from the corpus, about half of those unchanged


def test_replays_stay_inside_the_mask_if_asked():
    source, generator = CoverageGuided(mask_uniform(DISCRETE), legal_only=True), rng()
    masks = {action: np.arange(4)[None] == action for action in (1, 2)}
    only = {action: Observed({"obs": np.zeros(1), "action_mask": mask}, {}, {}) for action, mask in masks.items()}
    source.begin(generator, 0, 0)
    assert source(generator, only[1]) == [1]
    source.learn(Observed({"new_branches": np.array([1])}, {}, {}))
    for _ in range(10):
        source.begin(generator, 0, 0)
        assert source(generator, only[2]) == [2]


class TestLock:
    """Eight right digits in a row: one random episode in 65,536 opens the lock."""

    worlds = pytest.importorskip("verify.worlds", reason="the reference is a Gymnasium environment")

    def test_guided_actions_open_it(self):
        result = compare_rollouts(
            self.worlds.lock("prize"), 800, "free_running", "float32", "guided", coverage_guided(), num_lanes=32
        )
        found = result.first_divergence
        assert found is not None
        assert (found.field, found.state_before["stage"], found.action) == ("reward", 7, 1)
        branches = result.branches
        assert branches is not None
        assert any("`self.stage == 8` is true" in text for text in branches.reached)
        assert not any("self.stage == 8" in text for text in branches.missed)
        assert any(text.endswith("GymnasiumLock.render") for text in branches.never_entered)
        require_valid_part(branches)


def test_a_reference_that_cannot_tell_its_branches_is_refused():
    spec = SubjectSpec("subjects:CountingSubject", environment=(("PYTHONPATH", str(Path(__file__).parents[1])),))
    with (
        ProcessSubject(spec, 1, "the reference") as subject,
        pytest.raises(CouldNotVerifyError, match="the reference does not offer `trace`"),
    ):
        subject.ask("trace")


class TestMasksOfTheOtherSide:
    """The performance side knows which actions are legal; the reference does not say."""

    worlds = pytest.importorskip("verify.worlds", reason="the reference is a Gymnasium environment")

    def test_masked_play_on_frozen_lake_never_walks_into_a_wall(self):
        seen = []

        def spying(description):
            act = mask_uniform(description)

            def spy(generator, observed):
                actions = act(generator, observed)
                seen.append(observed.outputs["action_mask"][np.arange(len(actions)), actions])
                return actions

            return spy

        twin = self.worlds.lake(4, masked=True, masks="Gymnasium's lake lets everybody walk into walls")
        result = compare_rollouts(twin, 16, "per_step", "float32", "mask-uniform", spying, num_lanes=16)
        assert result.passed
        assert np.concatenate(seen).all()


def test_a_gymnasium_reference_shows_the_masks_of_its_info():
    pytest.importorskip("gymnasium", reason="needs gymnasium's Taxi")
    from overclock.verify.sides.gymnasium_reference import GymnasiumSubject

    def read(env):
        return {"s": np.array(env.unwrapped.s)}

    taxi = GymnasiumSubject("Taxi-v4", 2, read, lambda env, values: None, lambda calls: {}, lambda calls: {})
    mask = taxi.reset(np.ones(2, bool), np.arange(2)).outputs["action_mask"]
    assert (mask.shape, mask.dtype) == ((2, 6), np.bool_)
    legal = np.argmax(mask, axis=1).astype(np.int32)
    after = taxi.step(legal).outputs["action_mask"]
    assert after.shape == (2, 6)
    assert "action_mask" in taxi.reset(np.array([True, False]), np.arange(2)).outputs
