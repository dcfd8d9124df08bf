"""Proximal policy optimisation, whole: configuration, advantages, loss, one update, and training as a pure function.

    trainer = make_train(env, params, PPOConfig(total_steps=100_000))
    state, curve = jax.jit(trainer.train)(jax.random.key(0))        # or jax.vmap(trainer.train)(keys)

An update plays `num_steps` steps in `num_envs` lanes, then improves policy and value function on them by several
epochs of minibatches. `learn` does the second half for whoever collected the experience: the scan below, or a loop over
a Gymnasium reference (host_training.py), so both sides of a comparison learn by the same code.

`overclock.train.loop` adds progress, checkpoints and several seeds; docs/training.md explains the choices made here.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env.kernel import Environment, Params
from overclock.env.rng import Rng, Section, mix
from overclock.env.struct import Struct
from overclock.errors import MissingError, UsageError
from overclock.train.agent import Agent, AgentParams, NetworkConfig, RunningStats
from overclock.vector.resets import Resets
from overclock.vector.statistics import EpisodeStatistics, StatisticsState
from overclock.vector.vectorize import vectorize

try:
    import optax
except ImportError as error:
    raise MissingError("Training needs Flax and Optax; run: pip install 'overclock[train]'.") from error

ADAM_EPSILON = 1e-5  # of OpenAI's baselines, which later PPOs kept
ADVANTAGE_FLOOR = 1e-8  # keeps equal advantages from being divided by zero
Metrics = dict[str, Float[Array, ""]]


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Everything that decides a training run besides the environment and the seed."""

    total_steps: int = 1_000_000
    """Environment steps, summed over the lanes; rounded up to whole updates."""
    num_envs: int = 64
    """Lanes that play side by side."""
    num_steps: int = 128
    """Steps of each lane between two updates."""
    num_epochs: int = 4
    """How often an update goes over its experience."""
    num_minibatches: int = 4
    """Gradient steps per epoch. An MLP's minibatches are single steps, a GRU's are whole lanes of `num_steps`."""
    learning_rate: float = 2.5e-4
    """Of Adam."""
    anneal: bool = True
    """Whether the learning rate falls linearly to zero over the run."""
    gamma: float = 0.99
    """Discount per step."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation: 0 trusts the value function, 1 the observed returns."""
    clip: float = 0.2
    """How far the probability of an action may move in one update, as a ratio to before."""
    clip_value: bool = False
    """Whether the value function's moves are clipped to `clip` too."""
    entropy_coefficient: float = 0.01
    """Weight of the entropy bonus."""
    value_coefficient: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients of a larger norm are scaled down to it."""
    normalise_advantages: bool = True
    """Whether a minibatch's advantages are shifted and scaled to mean 0 and deviation 1."""
    normalise_observations: bool = False
    """Whether observations are shifted and scaled by their running mean and deviation."""
    normalise_rewards: bool = False
    """Whether rewards are scaled by the running deviation of the discounted return."""
    network: Literal["mlp", "gru"] = "mlp"
    """`gru` remembers earlier observations of the episode."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    memory: int = 64
    """Width of the GRU's memory."""
    activation: Literal["tanh", "relu", "swish"] = "tanh"
    """Between the layers."""
    log_std: float = 0.0
    """First log standard deviation of continuous actions."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for name in ("total_steps", "num_envs", "num_steps", "num_epochs", "num_minibatches"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be a whole number of at least 1, got {value!r}.")
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must lie between 0 and 1, got {getattr(self, name)!r}.")
        for name in ("learning_rate", "clip", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, got {getattr(self, name)!r}.")
        sequences = self.num_envs if self.network == "gru" else self.steps_per_update
        if sequences % self.num_minibatches:
            what = "num_envs" if self.network == "gru" else "num_envs x num_steps"
            raise UsageError(f"{what} = {sequences} cannot be cut into {self.num_minibatches} equal minibatches.")
        self.agent_network()  # refuses impossible networks here, before anything is compiled

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one update."""
        return self.num_envs * self.num_steps

    @property
    def num_updates(self) -> int:
        """Updates of a whole run."""
        return -(-self.total_steps // self.steps_per_update)

    def agent_network(self) -> NetworkConfig:
        """The network's part of the configuration."""
        return NetworkConfig(self.network, self.hidden, self.memory, self.activation, self.log_std)


class Learner(Struct):
    """What learns, independent of who steps the environment."""

    params: AgentParams
    optimizer: Any
    returns: RunningStats  # of discounted returns, which rewards are scaled by
    discounted: Float[Array, " n"]  # each lane's discounted return so far
    rng: Rng  # orders the minibatches; one event per epoch
    updates: Int[Array, ""]


class TrainState(Struct):
    """A training run between two updates: everything that decides its future."""

    learner: Learner
    env: StatisticsState
    obs: Any
    start: Bool[Array, " n"]  # lanes whose observation is an episode's first
    memory: Any


class Decided(Struct):
    """What was seen, what was done, and what the policy thought of both; time first."""

    obs: Any
    start: Bool[Array, "t n"]
    mask: Bool[Array, "t n actions"] | None
    action: Any
    log_prob: Float[Array, "t n"]
    value: Float[Array, "t n"]


class Experience(Decided):
    """`num_steps` steps of `num_envs` lanes. `obs` is what was seen, `final_obs` what the step led to.

    `final_obs` is the last observation of an ended episode, never the first of the next one.
    """

    memory: Any  # after seeing `obs`
    reward: Float[Array, "t n"]
    terminated: Bool[Array, "t n"]
    truncated: Bool[Array, "t n"]
    final_obs: Any


class Batch(Decided):
    """What the loss is computed from; `memory` is each sequence's first, with a time axis of length one."""

    advantage: Float[Array, "t n"]
    target: Float[Array, "t n"]
    memory: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Trainer:
    """What `make_train` returns: pure functions, ready for `jit` and `vmap`."""

    env: Environment[Any, Any]
    params: Params
    config: PPOConfig
    agent: Agent
    init: Callable[[Any], TrainState]
    """`init(key) -> state`."""
    update: Callable[[TrainState], tuple[TrainState, Metrics]]
    """`update(state) -> (state, metrics)`: one rollout and what is learned from it."""
    train: Callable[[Any], tuple[TrainState, Metrics]]
    """`train(key) -> (state, metrics of every update)`: a whole run."""


def make_train(
    env: Environment[Any, Any],
    params: Params | None = None,
    config: PPOConfig = PPOConfig(),
    resets: Resets | None = None,
) -> Trainer:
    """Training of one environment under one configuration; `resets` as in `vectorize`, for expensive resets."""
    if env.num_players != 1:
        raise UsageError(
            f"PPO trains one player, this environment has {env.num_players}; see overclock.adapters.against."
        )
    params = cast(Params, env.default_params() if params is None else params)
    venv = EpisodeStatistics(vectorize(env, config.num_envs, "same_step", resets))
    agent = make_agent(env.observation_space(params), env.action_space(params), config)

    def init(key: Any) -> TrainState:
        env_key, learner_key = jax.random.split(key)
        obs, env_state = venv.reset(env_key, params)
        return TrainState(
            learner=make_learner(agent, config, learner_key),
            env=env_state,
            obs=obs,
            start=jnp.ones(config.num_envs, jnp.bool_),
            memory=agent.first_memory(config.num_envs),
        )

    def step(state: TrainState, _: None) -> tuple[TrainState, tuple[Experience, dict[str, Any]]]:
        mask, rng = venv.action_mask(state.env, params), state.env.rng.of_section(Section.ACTION)
        memory, action, log_prob, value = explore(
            agent, state.learner.params, state.memory, state.obs, state.start, mask, rng
        )
        obs, env_state, reward, terminated, truncated, info = venv.step(
            state.env, agent.distribution.playable(action), params
        )
        experience = Experience(
            state.obs, state.start, mask, action, log_prob, value, memory,
            reward, terminated, truncated, info["final_observation"],
        )  # fmt: skip
        state = state.replace(env=env_state, obs=obs, start=terminated | truncated, memory=memory)
        return state, (experience, info["episode"])

    def update(state: TrainState) -> tuple[TrainState, Metrics]:
        first_memory = state.memory
        state, (experience, episodes) = jax.lax.scan(step, state, None, config.num_steps)
        learner, metrics = learn(agent, config, state.learner, first_memory, experience)
        return state.replace(learner=learner), {**summarise(episodes), **metrics}

    def train(key: Any) -> tuple[TrainState, Metrics]:
        return jax.lax.scan(lambda state, _: update(state), init(key), None, config.num_updates)

    return Trainer(env, params, config, agent, jax.jit(init), jax.jit(update), train)


def make_agent(observation_space: Any, action_space: Any, config: PPOConfig) -> Agent:
    """The agent of a configuration."""
    return Agent(observation_space, action_space, config.agent_network(), config.normalise_observations)


def make_learner(agent: Agent, config: PPOConfig, key: Any) -> Learner:
    """A learner that has seen nothing."""
    init_key, shuffle_key = jax.random.split(key)
    params = agent.init(init_key)
    return Learner(
        params=params,
        optimizer=make_optimizer(config).init(params.weights),
        returns=RunningStats.empty(()),
        discounted=jnp.zeros(config.num_envs, jnp.float32),
        rng=Rng.of(shuffle_key),
        updates=jnp.int32(0),
    )


def make_optimizer(config: PPOConfig) -> optax.GradientTransformation:
    """Adam on clipped gradients."""
    gradient_steps = config.num_updates * config.num_epochs * config.num_minibatches
    rate = optax.linear_schedule(config.learning_rate, 0.0, gradient_steps) if config.anneal else config.learning_rate
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(rate, eps=ADAM_EPSILON))


def explore(
    agent: Agent, params: AgentParams, memory: Any, obs: Any, start: Bool[Array, " n"], mask: Any, rng: Rng
) -> tuple[Any, Any, Float[Array, " n"], Float[Array, " n"]]:
    """(memory, unclipped actions, their log-probabilities, values) of one step of every lane."""
    memory, outputs, value = agent.decide(params, memory, obs, start, mask)
    action = agent.distribution.sample(outputs, rng)
    return memory, action, agent.distribution.log_prob(outputs, action), value


def learn(
    agent: Agent, config: PPOConfig, learner: Learner, first_memory: Any, experience: Experience
) -> tuple[Learner, Metrics]:
    """What one rollout teaches: advantages, then epochs of minibatches."""
    learner, reward = scale_rewards(config, learner, experience)
    next_value = value_of_outcomes(agent, learner.params, experience)
    advantage = gae(
        reward, experience.value, next_value, experience.terminated, experience.truncated,
        config.gamma, config.gae_lambda,
    )  # fmt: skip
    batch = Batch(
        experience.obs, experience.start, experience.mask, experience.action, experience.log_prob, experience.value,
        advantage, advantage + experience.value, jax.tree.map(lambda leaf: leaf[None], first_memory),
    )  # fmt: skip
    if not agent.recurrent:  # every step is a sequence of its own
        batch = jax.tree.map(lambda leaf: leaf.reshape(1, -1, *leaf.shape[2:]), batch)

    def gradient_step(carry: tuple[Any, Any], chosen: Int[Array, " b"]) -> tuple[tuple[Any, Any], Metrics]:
        weights, optimizer = carry
        minibatch = jax.tree.map(lambda leaf: leaf[:, chosen], batch)
        (_, metrics), gradients = jax.value_and_grad(loss, has_aux=True)(
            weights, agent, config, learner.params, minibatch
        )
        changes, optimizer = make_optimizer(config).update(gradients, optimizer, weights)
        return (optax.apply_updates(weights, changes), optimizer), metrics

    def epoch(carry: tuple[Any, Any, Rng], _: None) -> tuple[tuple[Any, Any, Rng], Metrics]:
        weights, optimizer, rng = carry
        order = shuffled(rng, batch.advantage.shape[1]).reshape(config.num_minibatches, -1)
        (weights, optimizer), metrics = jax.lax.scan(gradient_step, (weights, optimizer), order)
        return (weights, optimizer, rng.advance()), metrics

    (weights, optimizer, rng), metrics = jax.lax.scan(
        epoch, (learner.params.weights, learner.optimizer, learner.rng), None, config.num_epochs
    )
    observations = learner.params.observations
    if agent.normalise:  # only now: ratios of old and new policy need both to see the same numbers
        observations = observations.update(agent.encode(experience.obs))
    metrics = jax.tree.map(jnp.mean, metrics)
    metrics["explained_variance"] = 1 - jnp.var(advantage) / (jnp.var(batch.target) + ADVANTAGE_FLOOR)
    params = AgentParams(weights=weights, observations=observations)
    return learner.replace(params=params, optimizer=optimizer, rng=rng, updates=learner.updates + 1), metrics


def loss(
    weights: Any, agent: Agent, config: PPOConfig, params: AgentParams, batch: Batch
) -> tuple[Float[Array, ""], Metrics]:
    """PPO's clipped objective, to be minimised, and what is worth watching."""
    memory = jax.tree.map(lambda leaf: leaf[0], batch.memory)
    _, outputs, value = agent.forward(params.replace(weights=weights), memory, agent.encode(batch.obs), batch.start)
    outputs = agent.distribution.restrict(outputs, batch.mask)

    advantage = batch.advantage
    if config.normalise_advantages:
        advantage = (advantage - jnp.mean(advantage)) / (jnp.std(advantage) + ADVANTAGE_FLOOR)
    log_ratio = agent.distribution.log_prob(outputs, batch.action) - batch.log_prob
    ratio = jnp.exp(log_ratio)
    clipped = jnp.clip(ratio, 1 - config.clip, 1 + config.clip)
    policy_loss = -jnp.mean(jnp.minimum(ratio * advantage, clipped * advantage))

    value_error = jnp.square(value - batch.target)
    if config.clip_value:
        near = batch.value + jnp.clip(value - batch.value, -config.clip, config.clip)
        value_error = jnp.maximum(value_error, jnp.square(near - batch.target))
    value_loss = 0.5 * jnp.mean(value_error)

    entropy = jnp.mean(agent.distribution.entropy(outputs))
    total = policy_loss + config.value_coefficient * value_loss - config.entropy_coefficient * entropy
    return total, {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "kl": jnp.mean(ratio - 1 - log_ratio),  # Schulman's estimator: unbiased, never negative
        "clipped": jnp.mean((jnp.abs(ratio - 1) > config.clip).astype(jnp.float32)),
    }


def gae(
    reward: Float[Array, "t n"],
    value: Float[Array, "t n"],
    next_value: Float[Array, "t n"],
    terminated: Bool[Array, "t n"],
    truncated: Bool[Array, "t n"],
    gamma: float,
    gae_lambda: float,
) -> Float[Array, "t n"]:
    """Generalised advantage estimates. `next_value[t]` is the value of what step t led to, before any reset.

    Terminated: nothing comes after, so no bootstrap. Truncated: the episode was only cut off, so its last step
    bootstraps. Either way nothing flows back from the next episode.
    """
    surprise = reward + gamma * jnp.where(terminated, 0.0, next_value) - value

    def back(later: Float[Array, " n"], now: tuple[Any, Any]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        surprise, ended = now
        advantage = surprise + gamma * gae_lambda * jnp.where(ended, 0.0, later)
        return advantage, advantage

    return jax.lax.scan(back, jnp.zeros_like(value[0]), (surprise, terminated | truncated), reverse=True)[1]


def value_of_outcomes(agent: Agent, params: AgentParams, experience: Experience) -> Float[Array, "t n"]:
    """The value of what every step led to, given what was remembered then; all steps at once."""
    time, lanes = experience.reward.shape
    memory, final_obs = jax.tree.map(
        lambda leaf: leaf.reshape(time * lanes, *leaf.shape[2:]), (experience.memory, experience.final_obs)
    )
    _, _, value = agent.decide(params, memory, final_obs, jnp.zeros(time * lanes, jnp.bool_))
    return value.reshape(time, lanes)


def scale_rewards(config: PPOConfig, learner: Learner, experience: Experience) -> tuple[Learner, Float[Array, "t n"]]:
    """Rewards over the running deviation of the discounted return (unchanged where that is switched off)."""
    reward = experience.reward.astype(jnp.float32)
    if not config.normalise_rewards:
        return learner, reward

    def forward(so_far: Float[Array, " n"], now: tuple[Any, Any]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        reward, start = now
        so_far = reward + config.gamma * jnp.where(start, 0.0, so_far)
        return so_far, so_far

    discounted, sums = jax.lax.scan(forward, learner.discounted, (reward, experience.start))
    returns = learner.returns.update(sums)
    return learner.replace(returns=returns, discounted=discounted), reward / returns.std


def shuffled(rng: Rng, n: int) -> Int[Array, " n"]:
    """0 ... n - 1 in random order: the order of n random words (jax.random sorts several times)."""
    return jnp.argsort(mix(rng.k0, rng.k1, rng.counter, jnp.arange(n, dtype=jnp.uint32)))


def summarise(episodes: dict[str, Any]) -> Metrics:
    """Mean return and length of the episodes that ended in a rollout (not a number where none did), and how many."""
    ended = episodes["ended"].astype(jnp.float32)
    count = jnp.sum(ended)

    def mean(of: Any) -> Any:
        return jnp.where(count > 0, jnp.sum(of * ended) / jnp.maximum(count, 1), jnp.nan)

    return {"return": mean(episodes["return"]), "length": mean(episodes["length"]), "episodes": count}
