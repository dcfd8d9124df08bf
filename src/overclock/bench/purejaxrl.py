"""A peer for training speed: PPO in the manner of PureJaxRL on gymnax, with our hyper-parameters and layers.

Its structure is the well-known one: everything in one `jit`, vmapped `step` with a key per lane, the value computed
beside the action, a permutation and a copy of the whole batch per epoch, no bootstrap at time limits. The code is our
own. Where a choice had to be made, it favours the peer: metrics are means per update, not arrays of every step.

    init, advance = make(config)
    state, metrics = advance(init(key), updates)      # as `Trainer.init` and `Trainer.advance`
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from overclock.bench.peers import counterpart
from overclock.errors import MissingError, UsageError
from overclock.train.ppo import ADAM_EPSILON, ADVANTAGE_FLOOR, PPOConfig

try:
    import gymnax
    import optax
    from flax import linen as nn
    from gymnax.wrappers import LogWrapper
except ImportError as error:
    raise MissingError("PPO on gymnax needs: pip install 'overclock[peers,train]'.") from error

GAE_UNROLL = 16  # as theirs
Init = Callable[[Any], Any]
Advance = Callable[[Any, int], tuple[Any, dict[str, Any]]]


class Carry(NamedTuple):
    """A run between two updates."""

    params: Any
    optimizer: Any
    env: Any
    obs: Any
    key: Any


class Step(NamedTuple):
    """What is kept of a step for learning."""

    obs: Any
    action: Any
    value: Any
    reward: Any
    log_prob: Any
    done: Any


class ActorCritic(nn.Module):
    """Two towers that share nothing."""

    actions: int
    config: PPOConfig

    @nn.compact
    def __call__(self, x: Any) -> tuple[Any, Any]:
        """The logits of the actions and the value, for a batch of observations."""
        activation = {"tanh": nn.tanh, "relu": nn.relu, "swish": nn.swish}[self.config.activation]

        dtype = jnp.bfloat16 if self.config.precision == "bf16" else jnp.float32  # Flax's own way; weights stay float32

        def tower(x: Any, outputs: int, gain: float) -> Any:
            for width in self.config.hidden:
                x = activation(nn.Dense(width, dtype=dtype, kernel_init=nn.initializers.orthogonal(2**0.5))(x))
            return nn.Dense(outputs, dtype=jnp.float32, kernel_init=nn.initializers.orthogonal(gain))(x)

        return tower(x, self.actions, 0.01), tower(x, 1, 1.0)[..., 0]


def make(config: PPOConfig, env_id: str = "cartpole-v1") -> tuple[Init, Advance]:
    """(`init(key) -> state`, `advance(state, updates) -> (state, metrics)`, jitted, the old state taken over)."""
    if config.network != "mlp" or not config.normalise_advantages:
        raise UsageError("PPO in the manner of PureJaxRL is an MLP with normalised advantages.")
    if config.normalise_observations or config.normalise_rewards:
        raise UsageError("PPO in the manner of PureJaxRL normalises neither observations nor rewards here.")
    inner, params = gymnax.make(counterpart(env_id, "gymnax"))
    env: Any = LogWrapper(inner)
    network = ActorCritic(inner.action_space(params).n, config)
    optimizer = _optimizer(config)

    def init(key: Any) -> Carry:
        key, for_network, for_env = jax.random.split(key, 3)
        obs, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(for_env, config.num_envs), params)
        weights = network.init(for_network, obs)
        return Carry(weights, optimizer.init(weights), state, obs, key)

    def step(carry: Carry, _: None) -> tuple[Carry, tuple[Step, dict[str, Any]]]:
        key, for_action, for_step = jax.random.split(carry.key, 3)
        logits, value = network.apply(carry.params, carry.obs)
        action = jax.random.categorical(for_action, logits)
        log_prob = _log_prob(logits, action)
        obs, state, reward, terminated, truncated, info = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            jax.random.split(for_step, config.num_envs), carry.env, action, params
        )
        kept = Step(carry.obs, action, value, reward, log_prob, terminated | truncated)
        told = {name: info[name] for name in ("returned_episode", "returned_episode_returns")}
        return carry._replace(env=state, obs=obs, key=key), (kept, told)

    def gradient_step(carry: tuple[Any, Any], minibatch: Any) -> tuple[tuple[Any, Any], Any]:
        weights, state = carry
        total, gradients = jax.value_and_grad(_loss)(weights, network, config, *minibatch)
        changes, state = optimizer.update(gradients, state, weights)
        return (optax.apply_updates(weights, changes), state), total

    def update(carry: Carry, _: None) -> tuple[Carry, dict[str, Any]]:
        carry, (steps, told) = jax.lax.scan(step, carry, None, config.num_steps)
        advantage = _advantages(config, steps, network.apply(carry.params, carry.obs)[1])
        batch = (steps, advantage, advantage + steps.value)

        def epoch(inner: tuple[Any, Any, Any], _: None) -> tuple[tuple[Any, Any, Any], Any]:
            weights, state, key = inner
            key, for_order = jax.random.split(key)
            order = jax.random.permutation(for_order, config.steps_per_update)
            flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:])[order], batch)
            parts = jax.tree.map(lambda leaf: leaf.reshape(config.num_minibatches, -1, *leaf.shape[1:]), flat)
            (weights, state), totals = jax.lax.scan(gradient_step, (weights, state), parts)
            return (weights, state, key), totals

        first = (carry.params, carry.optimizer, carry.key)
        (weights, state, key), totals = jax.lax.scan(epoch, first, None, config.num_epochs)
        ended = told["returned_episode"].astype(jnp.float32)
        mean = jnp.sum(told["returned_episode_returns"] * ended) / jnp.sum(ended)  # not a number where none ended
        carry = carry._replace(params=weights, optimizer=state, key=key)
        return carry, {"return": mean, "episodes": jnp.sum(ended), "loss": jnp.mean(totals)}

    def advance(carry: Carry, updates: int) -> tuple[Carry, dict[str, Any]]:
        return jax.lax.scan(update, carry, None, updates)

    return jax.jit(init), jax.jit(advance, static_argnums=1, donate_argnums=0)


def _optimizer(config: PPOConfig) -> optax.GradientTransformation:
    steps = config.num_updates * config.num_epochs * config.num_minibatches
    rate = optax.linear_schedule(config.learning_rate, 0.0, steps) if config.anneal else config.learning_rate
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(rate, eps=ADAM_EPSILON))


def _log_prob(logits: Any, action: Any) -> Any:
    return jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], axis=-1)[..., 0]


def _advantages(config: PPOConfig, steps: Step, last_value: Any) -> Any:
    """Generalised advantage estimates; every end of an episode counts as the end of all reward."""

    def back(carry: tuple[Any, Any], step: Step) -> tuple[tuple[Any, Any], Any]:
        later, next_value = carry
        going_on = 1.0 - step.done
        surprise = step.reward + config.gamma * next_value * going_on - step.value
        advantage = surprise + config.gamma * config.gae_lambda * going_on * later
        return (advantage, step.value), advantage

    first = (jnp.zeros_like(last_value), last_value)
    return jax.lax.scan(back, first, steps, reverse=True, unroll=GAE_UNROLL)[1]


def _loss(weights: Any, network: ActorCritic, config: PPOConfig, steps: Step, advantage: Any, target: Any) -> Any:
    logits, value = network.apply(weights, steps.obs)
    error = jnp.square(value - target)
    if config.clip_value:
        near = steps.value + jnp.clip(value - steps.value, -config.clip, config.clip)
        error = jnp.maximum(error, jnp.square(near - target))
    ratio = jnp.exp(_log_prob(logits, steps.action) - steps.log_prob)
    advantage = (advantage - advantage.mean()) / (advantage.std() + ADVANTAGE_FLOOR)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
    logs = jax.nn.log_softmax(logits)
    entropy = -jnp.sum(jnp.exp(logs) * logs, axis=-1).mean()
    return policy_loss + config.value_coefficient * 0.5 * error.mean() - config.entropy_coefficient * entropy
