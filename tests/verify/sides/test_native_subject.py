"""A Rust batch as a side of a twin: it takes the other side's randomness and states, and is trained on."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("overclock_native", reason="overclock-native is not built; run `make native`")

from overclock.entry_point import EntryPoint
from overclock.verify.property.module import Cases, Module, exact
from overclock.verify.property.native_runner import CALLS, NativeModuleRunner, called
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.native_subject import NativeSubject, native_spec
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject

PONG = "overclock.envs.pong.native:NativePong"
LANES = 4
EVERYONE = np.ones(LANES, np.bool_)
SEEDS = np.arange(LANES, dtype=np.int64)
CONFIG = {"total_steps": 256, "num_envs": 4, "num_steps": 32, "num_minibatches": 1, "hidden": (4,)}


def pong(**options):
    return NativeSubject(LANES, PONG, {"frameskip": 8, **options}, ["serve"])


def cartpole():
    return NativeSubject(
        LANES, "overclock.envs.cartpole.native:NativeCartPole", {}, ["x", "x_dot", "theta", "theta_dot"]
    )


def assert_same(ours, theirs, tolerance=0.0):
    for part in ("outputs", "state"):
        one, other = getattr(ours, part), getattr(theirs, part)
        assert one.keys() == other.keys()
        for name, values in one.items():
            np.testing.assert_allclose(values, other[name], rtol=0, atol=tolerance, err_msg=name)


def test_it_replays_the_draws_of_another_side():
    ours, theirs = pong(), JaxSubject(LANES, "pong-v1", {"frameskip": 8})
    seen = theirs.reset(EVERYONE, SEEDS)
    assert_same(ours.reset(EVERYONE, SEEDS + 7, seen.draws), seen)
    points = 0
    for number in range(60):
        seen = theirs.step(np.full(LANES, number % 3, np.int32))
        assert_same(ours.step(np.full(LANES, number % 3, np.int32), seen.draws), seen)
        points += (np.abs(seen.outputs["reward"]) == 1).sum()
    assert points > LANES


def test_several_draws_are_the_columns_of_the_batchs_rows():
    """Its steps draw nothing; one of them is some roundings of float32 away from the other side's."""
    ours, theirs = cartpole(), JaxSubject(LANES, "cartpole-v1")
    seen = theirs.reset(EVERYONE, SEEDS)
    assert_same(ours.reset(EVERYONE, SEEDS, seen.draws), seen)
    actions = np.array([0, 1, 0, 1], np.int32)
    assert_same(ours.step(actions, {}), theirs.step(actions), tolerance=1e-6)


def test_without_draws_an_episode_follows_from_its_seed():
    ours = pong()
    first = ours.reset(EVERYONE, SEEDS)
    speeds = [ours.reset(EVERYONE, SEEDS + shift).state["ball_vy"] for shift in range(16)]
    assert len({tuple(row.tolist()) for row in speeds}) > 1
    assert_same(ours.reset(EVERYONE, SEEDS), first)


def test_only_the_chosen_lanes_are_reset():
    ours = pong()
    ours.reset(EVERYONE, SEEDS)
    ours.step(np.ones(LANES, np.int32))
    chosen = np.array([True, False, False, True])
    assert ours.reset(chosen, SEEDS, {"serve": np.zeros(LANES, np.int32)}).state["steps"].tolist() == [0, 1, 1, 0]


def test_a_state_that_was_set_is_what_is_shown_and_stepped_from():
    ours, other = pong(), pong()
    ours.reset(EVERYONE, SEEDS)
    for _ in range(5):
        shown = ours.step(np.ones(LANES, np.int32), {"serve": np.ones(LANES, np.int32)})
    other.set_state({name: values.astype(np.float64) for name, values in shown.state.items()})
    np.testing.assert_array_equal(other.observe(), shown.outputs["obs"])
    draws, actions = {"serve": np.zeros(LANES, np.int32)}, np.full(LANES, 2, np.int32)
    assert_same(other.step(actions, draws), ours.step(actions, draws))


def test_what_is_shown_stays_what_it_was():
    ours, ahead = pong(), np.ones(LANES, np.int32)
    shown = [ours.reset(EVERYONE, SEEDS), ours.step(ahead)]
    kept = [seen.outputs["obs"].copy() for seen in shown]
    ours.step(ahead)
    assert not np.array_equal(*kept)
    np.testing.assert_array_equal([seen.outputs["obs"] for seen in shown], kept)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda side: side.step(np.zeros(LANES, np.int32), {"wind": SEEDS}), "draws wind, the rules take serve"),
        (lambda side: side.set_state({"ball_x": SEEDS, "steps": SEEDS}), "no value was given for .*paddle_yl"),
    ],
)
def test_what_would_be_lost_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(pong())


def test_actions_are_described_as_those_of_the_jax_side():
    assert pong().describe() == {"kind": "discrete", "n": 3}
    box = pong(continuous=True).describe()
    assert (box["kind"], box["low"].tolist(), box["high"].tolist()) == ("box", [-1.0], [1.0])


def one_step(side, _, inputs):
    """Where a first action leads."""
    side.reset(np.ones(side.num_envs, np.bool_), inputs["seed"], {"serve": inputs["seed"] % 2})
    return {"paddle_yr": side.step(inputs["action"], {"serve": inputs["seed"] % 2}).state["paddle_yr"]}


MODULES = (
    Module(
        name="one_step",
        reference=("nobody:nothing",),
        case=lambda call: None,
        performance=one_step,
        exercises=(called(PONG, "step"),),
        outputs={"float32": exact("paddle_yr")},
    ),
)


def test_a_module_gets_a_lane_per_case_and_what_it_called_is_noted():
    subject = EntryPoint.of(NativeSubject, batch=PONG, options={}, draws=["serve"])
    runner = NativeModuleRunner(1, subject.as_json(), EntryPoint.of(f"{__name__}:MODULES").as_json())
    cases = Cases({"seed": np.arange(6), "action": np.arange(6, dtype=np.int32) % 3}, {}, 6, 0, 6)
    found = runner.run("one_step", cases.inputs, len(cases))
    assert found["outputs"]["paddle_yr"].tolist() == [285.0, 293.0, 277.0] * 2
    assert found["ran"] == [called(PONG, "reset"), called(PONG, "step")]
    assert runner.exported() == [called(PONG, call) for call in CALLS]


def planted(old, new):
    spec = native_spec(PONG, {"frameskip": 8}, ["serve"])
    patches = [{"module": "overclock.envs.pong.native", "old": old, "new": new}]
    return dataclasses.replace(spec, options=(*spec.options, ("patches", patches)))


def test_a_bug_is_planted_in_the_python_around_the_compiled_code():
    with ProcessSubject(planted("frameskip=frameskip,", "frameskip=2,"), LANES, "the performance side") as side:
        before = side.reset(EVERYONE, SEEDS).state["ball_x"]
        assert (side.step(np.zeros(LANES, np.int32)).state["ball_x"] - before).tolist() == [20.0] * LANES


def test_a_bug_that_cannot_be_planted_is_an_error_of_the_side_and_of_its_trainer():
    pytest.importorskip("flax", reason="policies need the extra 'train'")
    side = planted("no such line", "")
    for spec in (side, side.wrapped_by(side.trainer, config=CONFIG)):
        with (
            pytest.raises(CouldNotVerifyError, match="stands 0 times"),
            ProcessSubject(spec, LANES, "the performance side"),
        ):
            pass


@pytest.mark.long
def test_policies_are_trained_on_the_batch():
    pytest.importorskip("flax", reason="policies need the extra 'train'")
    from overclock.verify.transfer.training import NativeTrainer

    spec = native_spec(PONG, {"frameskip": 8, "continuous": True}, ["serve"])
    trainer = NativeTrainer(1, spec.subject.as_json(), CONFIG)
    assert trainer.describe()["action_space"]["kind"] == "Box"
    trainer.begin(np.array([1, 1, 2]))
    before = trainer.weights()
    assert trainer.advance(2)["episodes"].shape == (2, 3)
    after = trainer.weights()
    changed = [not np.array_equal(before[name], after[name]) for name in after]
    assert any(changed)
    # Equal seeds have equal luck and learn the same from it.
    assert all(np.array_equal(leaf[0], leaf[1]) for leaf in after.values())
    assert any(not np.array_equal(leaf[0], leaf[2]) for leaf in after.values())
