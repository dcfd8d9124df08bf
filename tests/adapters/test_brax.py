"""Our environments where Brax's are expected: by hand, in Brax's training wrappers, in Brax's PPO."""

import dataclasses
import functools
import importlib
import sys
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from games import Pig, TicTacToe

from overclock.adapters.against import against
from overclock.env import Box, Dict, Discrete, Environment, MultiDiscrete, Params, Rng, Struct
from overclock.envs.cartpole.env import CartPole, CartPoleParams
from overclock.errors import MissingError, UsageError

pytest.importorskip("brax", reason="brax is not installed")
from brax.envs import Env
from brax.envs.wrappers import training
from brax.training.agents.ppo import networks
from brax.training.agents.ppo import train as ppo

from overclock.adapters.brax import BraxEnv, wrap

KEY = jax.random.PRNGKey(0)  # Brax reads the shape of raw keys
LEFT, RIGHT = jnp.array([1.0, -1.0]), jnp.array([-1.0, 1.0])
# From rest in the middle, pushed right all the time, the pole falls at step 9; pushed to and fro it stands for long.
FALL = 9
UPRIGHT = CartPoleParams(reset_low=0.0, reset_high=0.0)


def run(env, state, steps, actions):
    """States after each of `steps` steps; `actions(step)` is a batch of them."""
    step, states = jax.jit(env.step), []
    for i in range(steps):
        state = step(state, actions(i))
        states.append(state)
    return states


def fall_and_stand(step):
    """Lane 0 falls, lane 1 stands."""
    return jnp.stack([RIGHT, RIGHT if step % 2 == 0 else LEFT])


def test_it_is_a_brax_environment():
    env = BraxEnv(CartPole())
    assert isinstance(env, Env)
    assert (env.observation_size, env.action_size, env.backend, env.episode_length) == (4, 2, "overclock", 500)
    assert env.unwrapped is env
    assert BraxEnv(against(TicTacToe())).observation_size == 18


def test_episode_is_the_kernels_own():
    env, params = CartPole(), CartPoleParams()
    brax_env, rng = BraxEnv(env), Rng.of(KEY)
    brax_state = brax_env.reset(KEY)
    obs, state = env.reset(rng)
    assert jnp.array_equal(brax_state.obs, obs)
    for _ in range(12):
        rng = rng.advance()
        brax_state = brax_env.step(brax_state, RIGHT)
        obs, state, reward, terminated, *_ = env.step_env(rng, state, jnp.int32(1), params)
        chex.assert_trees_all_equal((brax_state.pipeline_state, brax_state.obs), (state, obs))
        assert (float(brax_state.reward), float(brax_state.done)) == (float(reward), float(terminated))
    assert float(brax_state.done) == 1.0


def test_the_time_limit_is_left_to_the_trainer():
    env = BraxEnv(CartPole(), UPRIGHT.replace(max_steps=4))
    states = run(env, env.reset(KEY), FALL, lambda _: RIGHT)
    assert [float(state.done) for state in states] == [0] * (FALL - 1) + [1]
    assert [float(state.info["truncation"]) for state in states] == [0, 0, 0, 1, 1, 1, 1, 1, 0]


def test_own_time_limit_ends_the_episode_with_time_out():
    env = BraxEnv(CartPole(), UPRIGHT.replace(max_steps=4), time_limit="own")
    states = run(training.wrap(env, episode_length=100), training.wrap(env).reset(KEY[None]), 5, lambda _: RIGHT[None])
    assert [float(state.done[0]) for state in states] == [0, 0, 0, 1, 0]
    assert [float(state.info["time_out"][0]) for state in states] == [0, 0, 0, 1, 0]
    fallen = BraxEnv(CartPole(), UPRIGHT.replace(max_steps=FALL), time_limit="own")
    last = run(fallen, fallen.reset(KEY), FALL, lambda _: RIGHT)[-1]
    assert (float(last.done), float(last.info["time_out"])) == (1, 0)  # the fall counts, not the limit


@pytest.mark.parametrize("wrap_training", [training.wrap, wrap])
def test_training_wrappers_tell_termination_from_truncation(wrap_training):
    env = wrap_training(BraxEnv(CartPole(), UPRIGHT), episode_length=12)
    states = run(env, env.reset(jax.random.split(KEY, 2)), 13, fall_and_stand)
    done = np.array([state.done for state in states])
    truncation = np.array([state.info["truncation"] for state in states])
    assert np.flatnonzero(done[:, 0]).tolist() == [FALL - 1]
    assert np.flatnonzero(done[:, 1]).tolist() == [11]
    assert np.argwhere(truncation).tolist() == [[11, 1]]
    assert states[12].info["steps"].tolist() == [13 - FALL, 1]
    assert states[12].pipeline_state.steps.tolist() == [13 - FALL, 1]
    assert [float(x) for x in states[FALL - 1].info["episode_metrics"]["sum_reward"]] == [FALL, FALL]


def starts(env, lanes, episodes):
    """First observations of several 3-step episodes, as [episode, lane, size], and the states they came from."""
    state = env.reset(jax.random.split(KEY, lanes))
    states = run(env, state, 3 * episodes, lambda _: jnp.stack([RIGHT] * lanes))
    return np.array([state.obs, *(later.obs for later in states[2::3])]), states


def test_brax_repeats_a_lanes_start_state_and_wrap_does_not():
    env = BraxEnv(CartPole())
    same, _ = starts(training.wrap(env, episode_length=3), lanes=2, episodes=3)
    assert np.array_equal(same, np.broadcast_to(same[:1], same.shape))
    fresh, states = starts(wrap(env, episode_length=3), lanes=2, episodes=3)
    assert len(np.unique(fresh.reshape(-1, 4), axis=0)) == 2 * 4
    assert np.all(np.abs(fresh) <= 0.05)
    last = states[2]
    expected = jax.vmap(lambda state: CartPole().step_env(KEY, state, jnp.int32(1))[0])(states[1].pipeline_state)
    # Two compiled programs may round the last bit of a float32 differently.
    np.testing.assert_allclose(last.info["final_observation"], expected, rtol=1e-6)
    assert not jnp.array_equal(last.info["final_observation"], last.obs)


def test_randomness_of_steps_differs_between_episodes_even_from_brax_repeated_starts():
    env = training.wrap(BraxEnv(against(Pig())), episode_length=6)
    state = env.reset(KEY[None])
    states = run(env, state, 24, lambda _: RIGHT[None])
    seen = np.array([later.obs[0] for later in states]).reshape(4, 6, 4)  # [episode, step, observation]
    assert np.array_equal(seen[0, -1], seen[1, -1])  # after the last step: the repeated start
    assert not np.array_equal(seen[0, :-1], seen[1, :-1])


def test_wrap_takes_the_environments_own_limit_by_default():
    env = wrap(BraxEnv(CartPole(), CartPoleParams(max_steps=2)))
    states = run(env, env.reset(KEY[None]), 2, lambda _: RIGHT[None])
    assert [float(state.info["truncation"][0]) for state in states] == [0, 1]
    with pytest.raises(UsageError, match="episode_length"):
        wrap(BraxEnv(CartPole(), CartPoleParams(max_steps=None)))


@pytest.mark.parametrize("wrap_training", [training.wrap, wrap])
def test_domain_randomisation_gives_lanes_their_own_parameters(wrap_training):
    def randomise(params):
        axes = jax.tree.map(lambda _: None, params).replace(force_mag=0)
        return params.replace(force_mag=jnp.array([10.0, 1.0])), axes

    env = wrap_training(BraxEnv(CartPole(), UPRIGHT), episode_length=3, randomization_fn=randomise)
    state = run(env, env.reset(jax.random.split(KEY, 2)), 1, lambda _: jnp.stack([RIGHT, RIGHT]))[-1]
    strong, weak = state.obs[:, 1].tolist()  # the velocities after one push
    assert strong == pytest.approx(10 * weak, rel=1e-6)  # two float32 roundings


class EchoState(Struct):
    action: Any


@dataclasses.dataclass(frozen=True)
class Echo(Environment[EchoState, Params]):
    """Observes the last action."""

    space: Any

    def default_params(self):
        return Params()

    def observation_space(self, params):
        return Box(-np.inf, np.inf, self.space.shape, np.float32)

    def action_space(self, params):
        return self.space

    def init(self, draw, params):
        return EchoState(action=jnp.zeros(self.space.shape, self.space.dtype))

    def transition(self, state, action, draw, params):
        assert action.dtype == self.space.dtype
        return EchoState(action=action), jnp.float32(0), jnp.bool_(False)

    def observe(self, state, params):
        return state.action.astype(jnp.float32)


ACTIONS = [
    (Discrete(3), [0.1, 0.9, -1.0], [1]),
    (MultiDiscrete((2, 3)), [0.0, 1.0, 5.0, 0.0, 1.0], [1, 0]),
    (Box((0.0, -4.0), (1.0, 4.0), (2,)), [0.0, 0.5], [0.5, 2.0]),
    (Box(-2.0, 2.0, (2,)), [-9.0, 9.0], [-2.0, 2.0]),
    (Box(-np.inf, np.inf, (2,)), [-9.0, 9.0], [-9.0, 9.0]),
]


@pytest.mark.parametrize(("space", "brax_action", "native"), ACTIONS)
def test_actions(space, brax_action, native):
    env = BraxEnv(Echo(space))
    assert env.action_size == len(brax_action)
    state = env.step(env.reset(KEY), jnp.array(brax_action))
    assert state.obs.tolist() == native


def test_illegal_actions_are_never_the_largest():
    env = BraxEnv(against(TicTacToe()))
    state = env.reset(KEY)
    wish = jnp.arange(9.0)  # always wants the last free cell
    for _ in range(3):
        legal = env.env.action_mask(state.pipeline_state.rules, env.sys)
        assert int(env.native_action(state, wish)) == int(np.flatnonzero(legal)[-1])
        state = env.step(state, wish)


def test_what_brax_cannot_express_is_said():
    with pytest.raises(UsageError, match="against"):
        BraxEnv(TicTacToe())
    with pytest.raises(UsageError, match="one action vector"):
        BraxEnv(Echo(Dict({"a": Discrete(2)})))
    with pytest.raises(UsageError, match="time_limit"):
        BraxEnv(CartPole(), time_limit="none")  # pyright: ignore[reportArgumentType]


def test_missing_brax_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "brax.envs.base", None)
    monkeypatch.delitem(sys.modules, "overclock.adapters.brax")
    with pytest.raises(MissingError, match="pip install brax"):
        importlib.import_module("overclock.adapters.brax")


@pytest.fixture
def put_back_device_put_replicated(monkeypatch):
    """Brax 0.14.2's trainers still call this function, which JAX 0.10 removed."""

    def device_put_replicated(tree, devices):
        return jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * len(devices)), tree)

    monkeypatch.setattr(jax, "device_put_replicated", device_put_replicated, raising=False)


@pytest.mark.usefixtures("put_back_device_put_replicated")
@pytest.mark.long
@pytest.mark.parametrize("wrap_env_fn", [None, wrap])
def test_brax_ppo_trains(wrap_env_fn):
    reports: list[tuple[int, dict[str, Any]]] = []
    _, params, metrics = ppo.train(
        environment=BraxEnv(CartPole(), CartPoleParams(max_steps=25)),
        wrap_env_fn=wrap_env_fn,
        num_timesteps=512,
        num_envs=16,
        episode_length=25,
        unroll_length=16,
        batch_size=16,
        num_minibatches=2,
        num_updates_per_batch=1,
        num_evals=1,
        num_eval_envs=16,
        run_evals=wrap_env_fn is not None,  # once is enough, and compiling it takes seconds
        log_training_metrics=True,
        network_factory=functools.partial(
            networks.make_ppo_networks, policy_hidden_layer_sizes=(8,), value_hidden_layer_sizes=(8,)
        ),
        progress_fn=lambda steps, report: reports.append((steps, report)),
    )
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves((params, metrics)))
    episodes = next(report for _, report in reports if "episode/length" in report)
    assert 8 <= episodes["episode/length"] <= 25
    assert episodes["episode/length"] == episodes["episode/sum_reward"]  # reward 1 a step
    if wrap_env_fn is not None:
        assert 8 <= metrics["eval/avg_episode_length"] <= 25
