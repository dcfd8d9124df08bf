"""Level 4's rules without a simulation: policies' returns are made up, so every verdict can be brought about."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("flax", reason="policies need the extra 'train'")
pytest.importorskip("scipy", reason="statistics need the extra 'report'")

import jax
from verify.documented import undocumented

from overclock.env.spaces import Box, Discrete
from overclock.envs.cartpole.twin import twin
from overclock.results import encode
from overclock.train.ppo import PPOConfig, make_agent
from overclock.vector.host import flatten_state
from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.statistics import looks_alpha, tost_paired
from overclock.verify.transfer import games as transfer_games
from overclock.verify.transfer import level as transfer
from overclock.verify.transfer.evaluate import Draws, Played
from overclock.verify.transfer.games import SYNTHETIC, Games
from overclock.verify.transfer.plan import TransferPlan
from overclock.verify.transfer.policies import PolicyName, Trained

PLAN = TransferPlan(
    episodes=16,
    margins={"random": 1.0, "half-trained": 1.0, "trained": 1.0},
    margin_reason="made up",
    reference_env=SubjectSpec("gymnasium:make"),
    planted="angle-6-degrees",
    unseen="polemass-plus",
)
LEVELS = {"random": 10.0, "half-trained": 50.0, "trained": 100.0}


class MadeUp(Games):
    """`shift(policy, generator)` is what the performance side adds to a policy's return; `drift` what the reference
    adds to the second half of its own episodes; `bugs_show` what planted bugs cost; `lost`: made-up ones do not show.
    """

    shift = staticmethod(lambda name, generator: 0.0)
    drift = 0.0
    bugs_show = -20.0
    lost = False

    def __init__(self, *args):
        super().__init__(*args)
        self.events = []
        self.generator = np.random.default_rng(0)

    def train(self, groups, look):
        self.events.append(("train", look, tuple(groups)))
        seeds = range(self.plan.seeds * (look - 1), self.plan.seeds * look)
        self.new = []
        for trained_on, strength in groups:
            side = "performance" if trained_on == "nothing" else trained_on
            self.new += [PolicyName(side, strength, seed) for seed in seeds]
        return self.new

    def play_reference(self, players):
        self.events.append(("reference", len(players)))
        for name in players:
            noise = self.generator.normal(size=self.plan.episodes)
            noise[self.plan.episodes // 2 :] += self.drift
            self.reference[name] = [self.episode(LEVELS[name.strength] + extra) for extra in noise]

    def play_performance(self, players, bugs, margins):
        self.events.append(("performance", len(players), tuple(bugs)))
        for name in players:
            self.performance[name] = self.shifted(self.reference[name], self.shift(name, self.generator))
        for bug in bugs:
            for name in (name for name in players if self.group_of(name) in self.control_groups):
                made_up = self.shifted(self.performance[name], 0.0 if self.lost else 2 * margins[name.strength])
                known = self.shifted(self.reference[name], self.bugs_show)
                self.bugs.setdefault(bug, {})[name] = made_up if bug == SYNTHETIC else known

    def shifted(self, episodes, shift):
        return [dataclasses.replace(episode, total=episode.total + shift) for episode in episodes]

    def episode(self, total):
        return Played(total, 4, Draws({}, (), False), None, ())


@pytest.fixture
def run(monkeypatch):
    def run(plan=PLAN, **behaviour):
        made = []

        def make(*args):
            made.append(type("Case", (MadeUp,), behaviour)(*args))
            return made[0]

        monkeypatch.setattr(transfer, "Games", make)
        # Made-up states have nothing to compare, and comparing them is what takes long.
        monkeypatch.setattr(transfer, "_visits", lambda *args, **options: SimpleNamespace(verdict="consistent"))
        result = transfer.check_transfer(twin(), plan)
        return result, made[0].events

    return run


def test_equal_sides_pass_at_the_first_look(run):
    result, events = run()
    assert result.verdict == "pass"
    assert [event[0] for event in events] == ["train", "reference", "performance"]
    assert events[2] == ("performance", 50, ("angle-6-degrees", "polemass-plus"))
    assert {group.policies for group in result.groups} == {10}
    # Three looks were planned, so even the first is judged at the stricter level.
    assert {group.tost.alpha for group in result.groups} == {looks_alpha(3)}


def test_one_group_that_differs_fails_the_level(run):
    def shift(name, generator):
        return 5.0 if (name.side, name.strength) == ("reference", "half-trained") else 0.0

    result, _ = run(shift=staticmethod(shift))
    assert result.verdict == "fail"
    assert result.summary.startswith("different: half-trained policies from the reference, ")


def test_only_open_questions_get_more_seeds_and_then_stay_open(run):
    """Differences of sd 5 against a margin of 1 would need hundreds of policies."""

    def shift(name, generator):
        return generator.normal(0.0, 5.0) if name.strength == "trained" and name.side == "performance" else 0.0

    result, events = run(shift=staticmethod(shift))
    assert result.verdict == "inconclusive"
    trainings = [event for event in events if event[0] == "train"]
    assert [look for _, look, _ in trainings] == [1, 2, 3]
    assert [groups for _, _, groups in trainings[1:]] == [(("performance", "trained"),)] * 2
    assert [event for event in events if event[0] == "performance"][1:] == [("performance", 10, ())] * 2
    sizes = {(g.trained_on, g.strength): (g.policies, g.look) for g in result.groups}
    assert sizes.pop(("performance", "trained")) == (30, 3)
    assert set(sizes.values()) == {(10, 1)}
    unclear = next(group for group in result.groups if group.verdict == "inconclusive")
    assert unclear.n_needed > 100
    assert f"about {unclear.n_needed} policies per group would decide" in result.summary
    expected = tost_paired(unclear.performance.policies, unclear.reference.policies, 1.0, alpha=looks_alpha(3))
    assert unclear.tost.interval == pytest.approx(expected.interval, rel=1e-5)


def test_more_seeds_can_settle_a_question(run):
    def shift(name, generator):
        return 0.0 if name.strength != "trained" else generator.normal(0.0, 1.5)

    result, _ = run(shift=staticmethod(shift))
    assert result.verdict == "pass"
    assert {group.policies for group in result.groups} >= {10, 20}


def test_a_control_that_misses_the_planted_bug_takes_the_verdict_away(run):
    result, _ = run(bugs_show=0.0)
    assert result.verdict == "could not verify"
    assert "the planted bug 'angle-6-degrees' was not seen" in result.summary


def test_a_reference_that_differs_from_itself_takes_the_verdict_away_even_where_sides_differ(run):
    result, _ = run(drift=5.0, shift=staticmethod(lambda name, generator: 50.0))
    assert result.verdict == "could not verify"
    assert "the reference differs from itself (random policies: difference" in result.summary


def test_a_bug_expected_to_hide_is_reported_as_seen_when_it_is(run):
    result, _ = run()
    assert result.controls.unseen.result == "seen by transfer"
    assert "not seen by transfer" not in result.summary


def test_without_a_stated_margin_the_reference_alone_fixes_it_before_the_other_side_plays(run):
    plan = dataclasses.replace(PLAN, margins=None, margin_reason="")
    calm, events = run(plan)
    wild, _ = run(plan, shift=staticmethod(lambda name, generator: 1000.0))
    assert [event[0] for event in events] == ["train", "reference", "performance"]
    assert calm.margins == wild.margins
    assert calm.margins.by == "rule"
    assert calm.margins.values["trained"] == pytest.approx(0.05 * 90.0, rel=0.02)
    assert (calm.verdict, wild.verdict) == ("pass", "fail")


def test_a_difference_that_was_found_stands_even_where_a_planted_bug_was_missed(run):
    result, _ = run(bugs_show=0.0, shift=staticmethod(lambda name, generator: 50.0))
    assert result.verdict == "fail"
    assert "The planted bug 'angle-6-degrees' was not seen either." in result.summary


# ---- a twin of which no bug is known ----

UNKNOWN = dataclasses.replace(PLAN, reference_env=None, planted=None, unseen=None)


def test_where_no_bug_is_known_one_is_made_up_and_must_be_seen_in_every_group(run):
    result, events = run(UNKNOWN)
    assert result.verdict == "pass"
    assert events[2] == ("performance", 30, (SYNTHETIC,))
    planted = result.controls.planted
    assert (planted.bug, planted.synthetic) == ("synthetic: rewards + 2 margins per episode", True)
    assert planted.seen
    assert [(g.strength, g.verdict, g.tost.difference) for g in planted.groups] == [
        (strength, "different", pytest.approx(2.0)) for strength in ("random", "half-trained", "trained")
    ]
    assert "the control was a made-up difference of rewards" in result.summary


def test_a_made_up_bug_that_does_not_show_takes_the_verdict_away(run):
    result, _ = run(UNKNOWN, lost=True)
    assert result.verdict == "could not verify"
    assert "the planted bug 'synthetic: rewards + 2 margins per episode' was not seen" in result.summary
    assert not result.controls.planted.seen


def test_a_made_up_bug_does_not_hide_a_difference_of_its_own_size(run):
    result, _ = run(UNKNOWN, shift=staticmethod(lambda name, generator: -2.0))
    assert result.verdict == "fail"


def test_a_made_up_bug_is_looked_for_as_long_as_the_sides_are_compared(run):
    """After the first look neither the sides nor the bug can be told; more seeds settle both."""

    def shift(name, generator):
        return generator.normal(0.0, 1.5)

    result, events = run(UNKNOWN, shift=staticmethod(shift))
    assert result.verdict == "pass"
    later = [event for event in events if event[0] == "performance"][1:]
    assert later
    assert all(bugs == (SYNTHETIC,) for _, _, bugs in later)
    sizes = {(g.strength): g.policies for g in result.groups}
    assert {g.strength: g.policies for g in result.controls.planted.groups} == sizes


def test_the_control_of_the_reference_against_itself_says_whether_it_could_have_decided(run):
    """Halves of 16 episodes differ by noise of 0.35 per policy: enough for a margin of 1, not for one of 0.05."""
    itself = run()[0].controls.a_a
    assert (itself.passed, itself.equivalent) == (True, True)
    assert all(group.equivalent for group in itself.groups)
    strict = dataclasses.replace(PLAN, margins={**PLAN.margins, "trained": 0.05})
    itself = run(strict)[0].controls.a_a
    assert (itself.passed, itself.equivalent) == (True, False)
    assert {group.strength for group in itself.groups if not group.equivalent} == {"trained"}


def test_every_field_of_the_controls_is_documented(run):
    for control in encode(run()[0].controls).values():
        assert undocumented("verify", control) == []


def test_the_summary_says_when_the_reference_cannot_be_trained_on(run):
    result, _ = run(UNKNOWN)
    assert result.trained_on == ["performance"]
    assert len(result.groups) == 3
    assert "The reference cannot be trained on, so every policy comes from the performance side." in result.summary


@pytest.mark.long
def test_a_later_look_trains_new_seeds_and_only_where_a_question_is_open(monkeypatch):
    agent = make_agent(Box(-1.0, 1.0, (4,)), Discrete(2), PPOConfig(hidden=(4,)))
    weights, asked = flatten_state(agent.init(jax.random.key(0))), []

    def train_sides(twin, plan, wanted, seeds, crew, progress):
        asked.append((dict(wanted), list(seeds)))
        return {
            side: Trained(agent, {PolicyName(side, s, seed): weights for s in strengths for seed in seeds}, {})
            for side, strengths in wanted.items()
        }

    monkeypatch.setattr(transfer_games, "train_sides", train_sides)
    games = Games(twin(), PLAN, 7, 1.0, lambda *event: None)
    first = games.train(games.groups, 1)
    assert asked[0] == (
        {"performance": ["random", "half-trained", "trained"], "reference": ["half-trained", "trained"]},
        list(range(7000, 7010)),
    )
    assert [name.strength for name in first.names][::10] == ["trained"] * 2 + ["half-trained"] * 2 + ["random"]
    second = games.train([("reference", "trained")], 2)
    assert asked[1] == ({"reference": ["trained"]}, list(range(7010, 7020)))
    assert len(second.names) == 10
    games.train([("nothing", "random")], 3)
    assert asked[2] == ({"performance": ["random"]}, list(range(7020, 7030)))
