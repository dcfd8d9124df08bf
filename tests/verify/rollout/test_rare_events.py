"""Rare events: a few steps may be further off than all others, and are counted; many of them are a difference."""

import dataclasses

import numpy as np
import pytest
from verify.ticker import Here, Ticker, contract

from overclock.errors import UsageError
from overclock.verify.compare import RareEvents, judge, too_many_rare
from overclock.verify.contract import OUTPUTS, Contract, Field, Twin
from overclock.verify.interaction.level import compare_playbacks
from overclock.verify.interaction.scenario import Scenario, Setup, Step
from overclock.verify.property.compare import compare
from overclock.verify.property.module import Cases, Module, Output
from overclock.verify.rollout import lockstep
from overclock.verify.rollout.actions import uniform
from overclock.verify.rollout.envelope import judge_errors
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.subject import Observed, SubjectSpec
from overclock.verify.tolerance import Tolerance

LENGTH = 20
CLOSE = Field("obs", 1e-6, 1e-6, "it rounds", rare=1e-2, rare_reason="a force begins a stage later")


class Jumping(Ticker):
    """Its observation is off by `jump` in the fifth step (and, where it is stepped freely, from then on) of one episode
    in `one_in`.
    """

    def reset(self, mask, seeds, draws=None):
        before = getattr(self, "jumps", np.zeros(self.num_envs, np.bool_))
        self.jumps = np.where(mask, seeds % self.options["one_in"] == 0, before)
        self.apart = np.zeros(self.num_envs, np.bool_)
        return super().reset(mask, seeds, draws)

    def step(self, actions, draws=None):
        seen = super().step(actions, draws)
        late = self.count >= 5 if self.options.get("stays") else self.count == 5
        seen.outputs["obs"] = seen.outputs["obs"] + self.options["jump"] * (self.jumps & late)
        return seen


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.setattr(lockstep, "ProcessSubject", Here)
    monkeypatch.setattr(Here, "made", [])


def played(mode, one_in, jump=1e-3, episodes=400, **more):
    options = {"length": LENGTH, "one_in": one_in, "jump": jump, "stays": mode == "free_running"}
    fields = (CLOSE, *(Field(name) for name in OUTPUTS if name != "obs"))
    agreed = Contract(fields, rare_share=more.pop("share", 0.001))
    name = f"{__name__}:Jumping"
    reference = SubjectSpec("verify.ticker:Ticker", (("length", LENGTH),))
    twin = Twin("jumping", reference, SubjectSpec(name, tuple(options.items())), {"float32": agreed})
    return compare_rollouts(twin, episodes, mode, "float32", "uniform", uniform, num_lanes=8)


@pytest.mark.parametrize("mode", ["per_step", "free_running"])
def test_a_few_are_counted_and_do_not_use_up_the_tolerance(mode):
    result = played(mode, one_in=100)
    assert result.passed
    assert 0 < result.rare_steps < 20  # in free running an episode counts once, however long it stays apart
    summary = result.summary()
    assert (summary.rare_steps, summary.rare_reason) == (result.rare_steps, CLOSE.rare_reason)
    (obs,) = (field for field in summary.fields if field.name == "obs")
    assert obs.largest_error == pytest.approx(1e-3)
    assert obs.margin is None


@pytest.mark.parametrize("mode", ["per_step", "free_running"])
def test_many_are_a_difference_that_begins_with_the_first(mode):
    result = played(mode, one_in=4)
    assert not result.passed
    assert result.first_divergence.field == "obs"
    assert result.first_divergence.step == 5
    assert result.first_episode is not None
    assert played(mode, one_in=40, share=0.01).passed
    assert not played(mode, one_in=40, share=0.0001).passed


def test_what_is_further_off_is_never_rare():
    result = played("per_step", one_in=100, jump=2e-2)
    assert not result.passed
    assert result.rare_steps == 0


def test_chance_decides_how_many_are_too_many():
    assert not too_many_rare(1, 10, 0.001)
    assert too_many_rare(2, 10, 0.001)
    assert not too_many_rare(8, 2_000, 0.001)  # two are expected: more than eight come once in a few thousand times
    assert too_many_rare(9, 2_000, 0.001)
    assert not too_many_rare(1_050, 1_000_000, 0.001)
    assert too_many_rare(1_150, 1_000_000, 0.001)


def test_in_free_running_an_event_lasts_to_the_end_of_its_episode():
    free, single = RareEvents("free_running", 2), RareEvents("per_step", 2)
    for events in (free, single):
        for lanes in ([True, False], [True, False], [False, False], [True, True]):
            events.add(np.array(lanes))
        events.begin(np.array([True, False]))
        events.add(np.array([True, True]))
    assert (free.count, single.count) == (3, 6)


def test_whoever_does_not_count_them_sees_them_as_wrong():
    ref, perf = (Observed({"obs": np.array([value])}, {"steps": np.zeros(1)}, {}) for value in (0.0, 1e-3))
    judged = judge(contract(), CLOSE, CLOSE.tolerance("per_step"), ref, perf)
    assert judged.wrong.all()
    assert judged.rare.all()


@pytest.mark.parametrize(("count", "passed"), [(5, True), (100, False)])
def test_level_1_counts_them_as_well(count, passed):
    output = Output("x", 1e-6, reason="it rounds; it jumps", rare=1e-2)
    module = Module("m", ("a:b",), lambda call: None, lambda *_: {}, (), {"float32": (output,)})
    expected, got = np.zeros(2_000), np.zeros(2_000)
    got[:count] = 1e-3
    found = compare(module, Cases({}, {"x": expected}, 2_000, 0, 2_000), {"x": got}, "float32")
    assert found.passed == passed
    assert found.fields[0].rare == count
    got[0] = 2e-2
    assert not compare(module, Cases({}, {"x": expected}, 2_000, 0, 2_000), {"x": got}, "float32").passed


@pytest.mark.parametrize(("count", "passed"), [(3, True), (60, False)])
def test_single_steps_beside_an_envelope_count_them_as_well(count, passed):
    from verify.chaos import ENVELOPE

    free, apart = np.full((100, 20), 1e-9), np.full((8, 100, 20), 1e-9)
    forced = np.zeros((100, 20))
    forced.flat[:count] = 1e-7
    found = judge_errors(ENVELOPE, Tolerance(1e-12), forced, free, apart, rare=1e-6)
    assert (found.verdict == "pass", found.rare_steps) == (passed, count)
    if not passed:
        assert found.sentence == "60 steps are further off than they may be but rarely (1.0e-12 is allowed)"


@pytest.mark.parametrize(
    ("events", "excused", "passed"), [(1, "", True), (9, "", False), (9, "the rule in this corner", True)]
)
def test_scenarios_count_them_together_and_one_may_say_why_they_are_its_rule(events, excused, passed):
    steps = tuple(Step(0, {"obs": [0.0]}) for _ in range(3))
    scenarios = [Scenario(str(number), "", Setup(), steps, excused) for number in range(4)]

    def moment(number, wrong):
        obs = np.array([[1e-3 if 4 * number + lane < wrong else 0.0] for lane in range(4)])
        return Observed({"obs": obs}, {"steps": np.full(4, number)}, {})

    fields = (CLOSE, *(Field(name) for name in OUTPUTS if name != "obs"))
    recorded = [moment(number, 0) for number in range(4)]
    played = [moment(0, 0), *(moment(number, events) for number in range(3))]
    found = compare_playbacks(Contract(fields), "float32", "per_step", scenarios, recorded, played)
    assert all(run.passed for run in found) == passed
    assert sum(run.rare_steps or 0 for run in found) == events


def test_rare_events_need_a_reason_and_a_tolerance_for_the_rest():
    with pytest.raises(UsageError, match="need a reason, and a tolerance"):
        dataclasses.replace(CLOSE, rare_reason="")
    with pytest.raises(UsageError, match="need a reason, and a tolerance"):
        Field("obs", rare=1.0, rare_reason="it jumps")
    with pytest.raises(UsageError, match="rare_share is a share"):
        contract(rare_share=0.5)
