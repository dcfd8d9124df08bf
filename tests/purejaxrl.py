"""PPO in the manner of PureJaxRL, in one file: a client for anything with gymnax's interface, five values or six.

`make_train(config, env, params) -> train(key)`; networks in flax, updates in optax, everything inside one `jit`.
The five-value view goes through PureJaxRL's unpacking, `obs, state, reward, done, info`; what that drops, the
bootstrap at time limits, is taken back from `info`.
"""

import dataclasses
from typing import Any, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


@dataclasses.dataclass(frozen=True)
class Config:
    values_per_step: int  # 5 for gymnax 0.x, 6 for gymnax 1.x
    num_envs: int = 8
    num_steps: int = 32
    num_updates: int = 3
    num_epochs: int = 2
    num_minibatches: int = 4
    learning_rate: float = 2.5e-3
    gamma: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy_weight: float = 0.01
    value_weight: float = 0.5


class ActorCritic(nn.Module):
    num_actions: int

    @nn.compact
    def __call__(self, x: Any) -> tuple[Any, Any]:
        x = x.reshape(*x.shape[:1], -1)
        hidden = nn.tanh(nn.Dense(32)(x))
        return nn.Dense(self.num_actions)(hidden), nn.Dense(1)(hidden)[..., 0]


class Transition(NamedTuple):
    obs: Any
    action: Any
    log_prob: Any
    value: Any
    reward: Any
    terminated: Any
    done: Any
    next_value: Any  # of the state the step led to, before any reset
    info: Any


class LogWrapper:
    """PureJaxRL's: return and length of the last finished episode, put into `info`."""

    def __init__(self, env: Any, values_per_step: int) -> None:
        self.env, self.values_per_step = env, values_per_step

    def reset(self, key: Any, params: Any) -> tuple[Any, Any]:
        obs, inner = self.env.reset(key, params)
        zeros = {"return": jnp.float32(0), "length": jnp.int32(0)}
        return obs, (inner, zeros, zeros)

    def step(self, key: Any, state: Any, action: Any, params: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        inner, running, finished = state
        result = self.env.step(key, inner, action, params)
        assert len(result) == self.values_per_step
        if self.values_per_step == 6:
            obs, inner, reward, terminated, truncated, info = result
            done = terminated | truncated
        else:
            obs, inner, reward, done, info = result
        running = {"return": running["return"] + reward, "length": running["length"] + 1}
        finished = jax.tree.map(lambda new, old: jnp.where(done, new, old), running, finished)
        running = jax.tree.map(lambda x: jnp.where(done, jnp.zeros_like(x), x), running)
        info = {**info, "returned_episode": done, **{f"returned_episode_{k}": v for k, v in finished.items()}}
        return obs, (inner, running, finished), reward, done, info


def make_train(config: Config, env: Any, params: Any) -> Any:
    """A function from a key to (train state, metrics of every step), ready for `jax.jit`."""
    env = LogWrapper(env, config.values_per_step)
    network = ActorCritic(env.env.action_space(params).n)

    def rollout_step(carry: Any, _: None) -> Any:
        train_state, env_state, obs, key = carry
        key, action_key, step_key = jax.random.split(key, 3)
        logits, value = network.apply(train_state.params, obs)
        action = jax.random.categorical(action_key, logits)
        log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        step_keys = jax.random.split(step_key, config.num_envs)
        next_obs, env_state, reward, done, info = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            step_keys, env_state, action, params
        )
        _, next_value = network.apply(train_state.params, info["final_observation"])
        kept = Transition(obs, action, log_prob, value, reward, info["terminated"], done, next_value, info)
        return (train_state, env_state, next_obs, key), kept

    def advantages(batch: Transition) -> Any:
        def backwards(following: Any, step: Transition) -> Any:
            delta = step.reward + config.gamma * step.next_value * (1 - step.terminated) - step.value
            advantage = delta + config.gamma * config.gae_lambda * (1 - step.done) * following
            return advantage, advantage

        return jax.lax.scan(backwards, jnp.zeros(config.num_envs), batch, reverse=True)[1]

    def loss(network_params: Any, batch: Transition, advantage: Any, target: Any) -> Any:
        logits, value = network.apply(network_params, batch.obs)
        log_probs = jax.nn.log_softmax(logits)
        log_prob = jnp.take_along_axis(log_probs, batch.action[:, None], 1)[:, 0]
        ratio = jnp.exp(log_prob - batch.log_prob)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
        policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
        return policy_loss + config.value_weight * jnp.square(value - target).mean() - config.entropy_weight * entropy

    def update_epoch(carry: Any, _: None) -> Any:
        train_state, data, key = carry
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, config.num_envs * config.num_steps)
        shuffled = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[order], data)
        minibatches = jax.tree.map(lambda x: x.reshape(config.num_minibatches, -1, *x.shape[1:]), shuffled)

        def update(train_state: TrainState, minibatch: Any) -> Any:
            value, grads = jax.value_and_grad(loss)(train_state.params, *minibatch)
            return train_state.apply_gradients(grads=grads), value

        train_state, losses = jax.lax.scan(update, train_state, minibatches)
        return (train_state, data, key), losses

    def update_step(carry: Any, _: None) -> Any:
        carry, batch = jax.lax.scan(rollout_step, carry, None, config.num_steps)
        train_state, env_state, obs, key = carry
        key, epoch_key = jax.random.split(key)
        advantage = advantages(batch)
        data = (batch._replace(info=()), advantage, advantage + batch.value)
        (train_state, _, _), losses = jax.lax.scan(
            update_epoch, (train_state, data, epoch_key), None, config.num_epochs
        )
        return (train_state, env_state, obs, key), {**batch.info, "loss": losses}

    def train(key: Any) -> Any:
        key, init_key, reset_key = jax.random.split(key, 3)
        reset_keys = jax.random.split(reset_key, config.num_envs)
        obs, env_state = jax.vmap(env.reset, in_axes=(0, None))(reset_keys, params)
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(config.learning_rate, eps=1e-5))
        train_state = TrainState.create(apply_fn=network.apply, params=network.init(init_key, obs), tx=optimizer)
        carry, metrics = jax.lax.scan(update_step, (train_state, env_state, obs, key), None, config.num_updates)
        return carry[0], metrics

    return train
