"""rng="numpy": a translated environment plays the reference's own episodes, seed for seed."""

import jax
import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="the references are Gymnasium environments")

import gymnasium
from translate.agree import loaded
from translate.traps.base import Trap

from overclock.adapters.gymnasium import GymnasiumEnv, make_vec
from overclock.errors import UsageError
from overclock.translate.compiler import Compiler
from overclock.translate.jax.file import print_jax
from overclock.translate.profile import look
from overclock.vector import host_vector

SEEDS, STEPS = 6, 60
# (id, the tolerance of floats): discrete ones are exact; sines, cosines and fused products of others are not the same
# libraries' on both sides, and the difference grows along an episode.
REFERENCES = [
    ("CartPole-v1", 1e-6),
    ("MountainCar-v0", 1e-6),
    ("Pendulum-v1", 1e-5),
    ("Acrobot-v1", 1e-5),
    ("FrozenLake-v1", 0.0),
    ("CliffWalking-v1", 0.0),
]


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def translated(make, folder, name="Translated"):
    program = Compiler(make, name, look(make, episodes=4, steps=40)).program()
    env, _ = loaded(print_jax(program), folder).make()
    return env


@pytest.mark.parametrize(("name", "tolerance"), REFERENCES)
def test_a_seed_gives_the_references_own_episodes(name, tolerance, tmp_path):
    make = lambda: gymnasium.make(name)  # noqa: E731
    reference, env = make(), GymnasiumEnv(translated(make, tmp_path), rng="numpy")
    for seed in range(SEEDS):
        reset_seed = seed if seed % 2 == 0 else None  # without a seed, the stream goes on
        expected, found = reference.reset(seed=reset_seed)[0], env.reset(seed=reset_seed)[0]
        np.testing.assert_array_equal(found, expected)  # bit for bit, whatever the tolerance of the steps
        reference.action_space.seed(seed)
        for _ in range(STEPS):
            action = reference.action_space.sample()
            one, other = reference.step(action), env.step(action)
            np.testing.assert_allclose(other[0], one[0], rtol=0.0, atol=tolerance)
            assert other[2:4] == one[2:4]
            if one[2] or one[3]:
                break


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_lanes_go_on_with_their_own_streams_as_gymnasiums_do(mode, tmp_path):
    make = lambda: gymnasium.make("FrozenLake-v1")  # noqa: E731
    envs = make_vec(translated(make, tmp_path), 3, autoreset=mode, rng="numpy")
    theirs = gymnasium.vector.SyncVectorEnv([make] * 3, autoreset_mode=envs.metadata["autoreset_mode"])
    np.testing.assert_array_equal(envs.reset(seed=7)[0], theirs.reset(seed=7)[0])
    theirs.action_space.seed(0)
    for _ in range(60):
        actions = theirs.action_space.sample()
        for found, expected in zip(envs.step(actions)[:4], theirs.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(found, expected)


class Everything(Trap):
    """Every way of drawing that is reproduced, some of whose numbers nobody needs."""

    def begin(self):
        self.np_random.random()
        self.x = self.np_random.integers(3, 9)
        self.spread = self.np_random.uniform(-1.0, 2.0, size=3)

    def play(self, action):
        self.np_random.integers(1)
        dice = [self.np_random.integers(1, 7) for _ in range(2)]
        weighted = self.np_random.choice(3, p=[0.2, 0.5, 0.3])
        self.x = self.np_random.choice([2, 4, 8])
        place = self.np_random.uniform(0.0, 1.0 + self.t)
        return sum(dice) + 10 * weighted + 100 * self.x + place + self.spread[action % 3]


def test_all_that_is_reproduced(tmp_path):
    reference, env = Everything(), GymnasiumEnv(translated(Everything, tmp_path), rng="numpy")
    np.testing.assert_array_equal(env.reset(seed=3)[0], reference.reset(seed=3)[0])
    for step in range(20):
        # One product and sum of the rules, which XLA may fuse.
        np.testing.assert_allclose(env.step(step % 4)[0], reference.step(step % 4)[0], rtol=1e-15)


class AtTimes(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        if action > 1:
            self.x = self.np_random.integers(5)
        return self.x


class InALoop(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        while self.np_random.random() < 0.5:
            self.x += 1
        return self.x


class ByTurns(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        for _ in range(2):
            self.x += self.np_random.random() + self.np_random.integers(4)
        return self.x


class Normal(Trap):
    def begin(self):
        self.x = self.np_random.normal()

    def play(self, action):
        return self.x


class Small(Trap):
    def begin(self):
        self.x = self.np_random.integers(9, dtype=np.int8)

    def play(self, action):
        return self.x


class Elsewhere(Trap):
    def __init__(self):
        self.own = np.random.default_rng(3)

    def begin(self):
        self.x = self.own.random()

    def play(self, action):
        return self.x


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (AtTimes, "only at times"), (InALoop, "only at times"), (ByTurns, "between"), (Normal, "'normal'"),
        (Small, "another generator"), (Elsewhere, "another generator"),
    ],
)  # fmt: skip
def test_what_cannot_be_followed_is_refused_with_its_place(make, reason, tmp_path):
    env = translated(make, tmp_path)
    with pytest.raises(UsageError, match=rf"test_numpy_rng\.py:\d+: .*{reason}"):
        GymnasiumEnv(env, rng="numpy")
    GymnasiumEnv(env).reset(seed=0)


def test_environments_of_our_own_are_refused():
    with pytest.raises(UsageError, match="translated"):
        GymnasiumEnv("cartpole", rng="numpy")


def test_without_64_bit_integers_it_says_what_to_do(tmp_path):
    env = translated(Everything, tmp_path)
    with jax.enable_x64(False), pytest.raises(UsageError, match="jax_enable_x64"):
        GymnasiumEnv(env, rng="numpy")


def test_a_saved_state_goes_on_with_its_stream(tmp_path):
    env = translated(Everything, tmp_path)
    hosts = [host_vector(env, 2, "same_step", rng="numpy", seed=seed) for seed in (0, 1)]
    hosts[0].reset([4, 5])
    hosts[1].set_state(hosts[0].get_state())
    actions = np.zeros(2, np.int32)
    for _ in range(3):
        one, other = (host.step(actions) for host in hosts)
        np.testing.assert_array_equal(one.obs, other.obs)
