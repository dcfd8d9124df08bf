"""A CleanRL-style PPO in JAX (one file, one loop) that knows nothing of Overclock, over our Gymnasium adapter."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
nn = pytest.importorskip("flax.linen", reason="flax is not installed")
optax = pytest.importorskip("optax", reason="optax is not installed")

from gymnasium.wrappers.vector import RecordEpisodeStatistics  # noqa: E402

TAU = 0.02  # CartPole's seconds per step


@dataclasses.dataclass(frozen=True)
class Config:
    """CleanRL's names and defaults, made small."""

    num_envs: int = 8
    num_steps: int = 32
    num_updates: int = 3
    update_epochs: int = 2
    num_minibatches: int = 4
    learning_rate: float = 2.5e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5


class Agent(nn.Module):
    """Logits and value from two small networks."""

    num_actions: int

    @nn.compact
    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        logits = nn.Dense(self.num_actions)(nn.tanh(nn.Dense(32)(obs)))
        value = nn.Dense(1)(nn.tanh(nn.Dense(32)(obs)))
        return logits, value[..., 0]


class Storage(NamedTuple):
    """One rollout, time first. `next_obs` is where each step led, also where the episode ended there."""

    obs: Any
    actions: Any
    logprobs: Any
    rewards: Any
    terminations: Any
    dones: Any
    next_obs: Any


def collect(envs: Any, obs: np.ndarray, act: Any, key: jax.Array, config: Config) -> tuple[np.ndarray, Storage, list]:
    """`num_steps` steps under the policy: (obs to go on from, rollout, finished episodes as (return, length))."""
    rows, episodes = [], []
    for step in range(config.num_steps):
        action, logprob = jax.device_get(act(jax.random.fold_in(key, step), obs))
        after, reward, terminated, truncated, info = envs.step(action)
        next_obs = after.copy()
        if "final_obs" in info:
            next_obs[info["_final_obs"]] = info["final_obs"][info["_final_obs"]]
        if "episode" in info:
            ended = info["_episode"]
            episodes += zip(info["episode"]["r"][ended], info["episode"]["l"][ended], strict=True)
        rows.append(Storage(obs, action, logprob, reward, terminated, terminated | truncated, next_obs))
        obs = after
    return obs, Storage(*(np.stack(column) for column in zip(*rows, strict=True))), episodes


def compute_gae(storage: Storage, values: Any, next_values: Any, config: Config) -> np.ndarray:
    """Advantages; a termination is worth nothing more, a truncation is worth V(where it was cut off)."""
    deltas = storage.rewards + config.gamma * next_values * ~storage.terminations - values
    advantages, running = np.zeros_like(deltas), np.zeros(config.num_envs)
    for t in reversed(range(config.num_steps)):
        running = deltas[t] + config.gamma * config.gae_lambda * ~storage.dones[t] * running
        advantages[t] = running
    return advantages


def make_functions(agent: Agent, config: Config) -> tuple[Any, Any, Any]:
    """(optimizer, jitted `act(params, key, obs)`, jitted `learn(params, opt_state, minibatch)`)."""
    optimizer = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(config.learning_rate))

    def act(params: Any, key: jax.Array, obs: Any) -> tuple[Any, Any]:
        logits, _ = agent.apply(params, obs)
        action = jax.random.categorical(key, logits)
        return action, jax.nn.log_softmax(logits)[jnp.arange(len(action)), action]

    def loss(params: Any, batch: dict[str, Any]) -> Any:
        logits, value = agent.apply(params, batch["obs"])
        log_probabilities = jax.nn.log_softmax(logits)
        chosen = log_probabilities[jnp.arange(len(logits)), batch["actions"]]
        ratio = jnp.exp(chosen - batch["logprobs"])
        advantage = (batch["advantages"] - batch["advantages"].mean()) / (batch["advantages"].std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - config.clip_coef, 1 + config.clip_coef)
        policy_loss = -jnp.minimum(advantage * ratio, advantage * clipped).mean()
        value_loss = 0.5 * jnp.square(value - batch["returns"]).mean()
        entropy = -(jnp.exp(log_probabilities) * log_probabilities).sum(-1).mean()
        return policy_loss - config.ent_coef * entropy + config.vf_coef * value_loss

    def learn(params: Any, opt_state: Any, batch: dict[str, Any]) -> tuple[Any, Any, Any]:
        value, gradient = jax.value_and_grad(loss)(params, batch)
        updates, opt_state = optimizer.update(gradient, opt_state)
        return optax.apply_updates(params, updates), opt_state, value

    return optimizer, jax.jit(act), jax.jit(learn)


def train(envs: Any, config: Config, seed: int = 1) -> tuple[Any, Any, list[float], list, list[Storage]]:
    """The whole loop: (first params, last params, losses, finished episodes, rollouts)."""
    agent, shuffle = Agent(int(envs.single_action_space.n)), np.random.default_rng(seed)
    obs, _ = envs.reset(seed=seed)
    first = params = jax.jit(agent.init)(jax.random.key(seed), obs)
    optimizer, act, learn = make_functions(agent, config)
    opt_state, evaluate = optimizer.init(params), jax.jit(lambda p, o: agent.apply(p, o)[1])
    losses, episodes, rollouts = [], [], []
    for update in range(config.num_updates):
        key = jax.random.fold_in(jax.random.key(seed), update)
        obs, storage, finished = collect(envs, obs, lambda k, o, p=params: act(p, k, o), key, config)
        values, next_values = (np.asarray(evaluate(params, o)) for o in (storage.obs, storage.next_obs))
        advantages = compute_gae(storage, values, next_values, config)
        batch = {"obs": storage.obs, "actions": storage.actions, "logprobs": storage.logprobs}
        batch |= {"advantages": advantages, "returns": advantages + values}
        flat = {name: array.reshape(-1, *array.shape[2:]).astype(array.dtype) for name, array in batch.items()}
        for _ in range(config.update_epochs):
            for indices in np.split(shuffle.permutation(len(flat["obs"])), config.num_minibatches):
                minibatch = {name: array[indices] for name, array in flat.items()}
                params, opt_state, value = learn(params, opt_state, minibatch)
                losses.append(float(value))
        episodes += finished
        rollouts.append(storage)
    return first, params, losses, episodes, rollouts


@pytest.mark.long
def test_ppo_trains_for_a_few_updates(backend):
    config = Config()
    envs = gymnasium.make_vec(
        "overclock:overclock/cartpole-v1", num_envs=config.num_envs, autoreset="same_step", backend=backend
    )
    first, last, losses, episodes, rollouts = train(RecordEpisodeStatistics(envs), config)
    assert len(losses) == config.num_updates * config.update_epochs * config.num_minibatches
    assert np.all(np.isfinite(losses))
    changed = jax.tree.map(lambda a, b: bool(jnp.any(a != b)), first, last)
    assert all(jax.tree.leaves(changed))
    ends = sum(int(storage.dones.sum()) for storage in rollouts)
    assert len(episodes) == ends >= config.num_envs
    assert all(total == length > 0 for total, length in episodes)


def test_every_step_leads_where_the_cart_was_going(backend):
    """No end of an episode is mistaken for the start of the next: positions always follow velocities."""
    config = Config(num_updates=2)
    envs = gymnasium.make_vec("overclock:overclock/cartpole-v1", num_envs=8, autoreset="same_step", backend=backend)
    *_, rollouts = train(envs, config)
    assert any(storage.terminations.any() for storage in rollouts)
    for storage in rollouts:
        expected = storage.obs[..., [0, 2]] + TAU * storage.obs[..., [1, 3]]
        # One float32 rounding of a sum of size up to 2.5, computed here in another order.
        np.testing.assert_allclose(storage.next_obs[..., [0, 2]], expected, rtol=0, atol=5e-7)


def test_truncations_are_bootstrapped_and_terminations_are_not():
    config = Config(num_steps=16)
    envs = gymnasium.make_vec("overclock:overclock/cartpole-v1", num_envs=8, autoreset="same_step", max_episode_steps=9)
    obs, _ = envs.reset(seed=0)
    lean = np.array([1, 0] * 4)  # half the lanes push against the lean and fall, half with it and are cut off

    def act(key, obs):
        action = np.where(obs[:, 2] + obs[:, 3] > 0, lean, 1 - lean)
        return action, np.zeros(8, np.float32)

    _, storage, _ = collect(envs, obs, act, jax.random.key(0), config)
    truncated = storage.dones & ~storage.terminations
    assert truncated.any()
    assert storage.terminations.any()
    flat_values = np.full(storage.rewards.shape, 10.0)
    advantages = compute_gae(storage, flat_values, flat_values, config)
    np.testing.assert_allclose(advantages[truncated], 1 + config.gamma * 10 - 10)
    np.testing.assert_allclose(advantages[storage.terminations], 1 - 10)
