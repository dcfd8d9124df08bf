"""A Gymnasium reference: every draw recorded, as a copy, and replayable."""

import copy

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium")

from overclock.envs.cartpole.reference import reference  # noqa: E402
from overclock.errors import UsageError  # noqa: E402
from overclock.verify.sides.gymnasium_reference import GymnasiumSubject, RecordingGenerator, no_draws  # noqa: E402


def test_recording_changes_no_number():
    plain, recording = np.random.default_rng(5), RecordingGenerator(np.random.PCG64(5))
    assert plain.uniform(size=3).tolist() == recording.uniform(size=3).tolist()
    assert plain.integers(0, 10) == recording.integers(0, 10)
    assert plain.choice(5) == recording.choice(5)
    assert [name for name, _ in recording.calls] == ["uniform", "integers", "choice"]


def test_a_recorded_draw_is_a_copy():
    recording = RecordingGenerator(np.random.PCG64(5))
    drawn = recording.uniform(size=3)
    before = drawn.copy()
    drawn *= 2
    np.testing.assert_array_equal(recording.calls[0][1], before)


def test_shuffle_records_the_outcome():
    recording = RecordingGenerator(np.random.PCG64(5))
    deck = np.arange(10)
    recording.shuffle(deck)
    np.testing.assert_array_equal(recording.calls[0][1], deck)


def test_the_draws_of_a_reset_are_its_first_state():
    subject = reference(3)
    seen = subject.reset(np.ones(3, bool), np.arange(3))
    for name in ("x", "x_dot", "theta", "theta_dot"):
        np.testing.assert_array_equal(seen.draws[name], seen.state[name])
    plain = gymnasium.make("CartPole-v1")
    np.testing.assert_array_equal(plain.reset(seed=1)[0], seen.outputs["obs"][1])


def test_state_can_be_read_and_written():
    subject = reference(2)
    subject.reset(np.ones(2, bool), np.arange(2))
    first = subject.step(np.array([0, 1], np.int32))
    later = subject.step(np.array([0, 1], np.int32))
    subject.set_state(first.state)
    again = subject.step(np.array([0, 1], np.int32))
    np.testing.assert_array_equal(again.outputs["obs"], later.outputs["obs"])
    np.testing.assert_array_equal(again.state["steps"], [2, 2])


# ---- no draw is missed ----


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("gumbel", ()), ("dirichlet", ([1.0, 2.0],)), ("standard_t", (3.0,)), ("zipf", (2.0,)), ("rayleigh", ()),
        ("multivariate_hypergeometric", ([3, 4], 2)), ("vonmises", (0.0, 1.0)), ("permuted", (np.arange(5),)),
    ],
)  # fmt: skip
def test_every_way_to_draw_is_recorded(method, arguments):
    plain, recording = np.random.default_rng(5), RecordingGenerator(np.random.PCG64(5))
    expected = getattr(plain, method)(*arguments)
    np.testing.assert_array_equal(getattr(recording, method)(*arguments), expected)
    ((name, drawn),) = recording.calls
    assert name == method
    np.testing.assert_array_equal(drawn, expected)


def test_a_shuffle_by_keyword_records_the_outcome_too():
    recording, deck = RecordingGenerator(np.random.PCG64(5)), np.arange(10)
    recording.shuffle(x=deck)
    np.testing.assert_array_equal(recording.calls[0][1], deck)


class Sly(gymnasium.Env):
    """Draws in ways that nobody would see; `way` says which."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, way):
        self.way = way

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.action_space.seed(seed)
        if self.way == "own generator":
            self.np_random = np.random.default_rng(seed)
        if self.way == "reset":
            self.np_random.random()
        return 0, {}

    def step(self, action):
        ways = {
            "bit generator": lambda: self.np_random.bit_generator.random_raw(),
            "spawn": lambda: self.np_random.spawn(1),
            "copy": lambda: copy.deepcopy(self.np_random).random(),
            "space": lambda: self.action_space.sample(),
            "step": lambda: self.np_random.random(),
            "named": lambda: str(self.np_random),
        }
        if self.way in ways:
            ways[self.way]()
        return 0, 0.0, False, False, {}


def sly(way):
    if "Sly-v0" not in gymnasium.registry:
        gymnasium.register("Sly-v0", Sly)
    subject = GymnasiumSubject("Sly-v0", 1, lambda env: {}, lambda env, values: None, no_draws, no_draws, way=way)
    subject.reset(np.ones(1, bool), np.zeros(1, np.int64))
    return subject.step(np.zeros(1, np.int32))


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("bit generator", "uses the bit generator of np_random, whose draws are not recorded"),
        ("spawn", r"uses np_random\.spawn, whose draws are not recorded"),
        ("copy", "uses a copy of np_random, whose draws are not recorded"),
        ("own generator", r"Sly has a generator of its own \(Generator\), whose draws are not recorded"),
        ("space", "Sly draws from another generator than its np_random"),
        ("reset", r"drew \(random\) where nothing is expected"),
        ("step", r"drew \(random\) where nothing is expected"),
    ],
)
def test_randomness_that_would_be_missed_is_refused(way, says):
    with pytest.raises(UsageError, match=says):
        sly(way)


def test_an_environment_that_draws_nothing_may_look_at_its_generator():
    assert sly("named").draws == {}


def test_who_saves_and_restores_generators_may_still_do_so():
    recording = RecordingGenerator(np.random.PCG64(5))
    before = recording.bit_generator.state
    first = recording.random()
    recording.bit_generator.state = before
    assert recording.random() == first
    assert copy.deepcopy(recording).random() == recording.random()


def test_cartpoles_steps_must_draw_nothing():
    subject = reference(1)
    subject.reset(np.ones(1, bool), np.zeros(1, np.int64))
    (env,) = subject.instances
    env.unwrapped.np_random.random()
    with pytest.raises(UsageError, match=r"drew \(random\) where nothing is expected"):
        subject.step(np.zeros(1, np.int32))
