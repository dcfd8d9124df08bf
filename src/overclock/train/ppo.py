"""Proximal policy optimisation, whole: rollout, advantages, loss, one update, and training as a pure function.

    trainer = make_train(env, params, PPOConfig(total_steps=100_000))
    state, curve = jax.jit(trainer.train)(jax.random.key(0))        # or jax.vmap(trainer.train)(keys)

An update plays `num_steps` steps in `num_envs` lanes, then improves policy and value function on them by several
epochs of minibatches. `learn` does the second half for whoever collected the experience: the scan below, or a loop over
a Gymnasium reference (host/training.py), so both sides of a comparison learn by the same code.

`overclock.train.loop` adds progress, checkpoints and several seeds; docs/training.md explains the choices made here.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.backends import BatchBackend
from overclock.env.environment import Environment, Params
from overclock.env.overflow import OVERFLOW
from overclock.env.rng import Rng, Section
from overclock.env.struct import Struct
from overclock.errors import MissingError, UsageError
from overclock.train.curve import OVERFLOWED
from overclock.train.distributed.devices import Devices, Layout
from overclock.train.hyperparameters import PPOConfig
from overclock.train.networks.agent import Agent, AgentParams, RunningStats
from overclock.train.shuffle import shuffled
from overclock.vector.fused import device, fastest_backend
from overclock.vector.resets import Resets
from overclock.vector.statistics import EpisodeStatistics, StatisticsState
from overclock.vector.vectorize import vectorize

try:
    import optax
except ImportError as error:
    raise MissingError("Training needs Flax and Optax; run: pip install 'overclock[train]'.") from error

ADAM_EPSILON = 1e-5  # of OpenAI's baselines, which later PPOs kept
ADVANTAGE_FLOOR = 1e-8  # keeps equal advantages from being divided by zero
GAE_UNROLL = 16  # steps of a short loop that would otherwise cost more to begin than to do
Metrics = dict[str, Float[Array, ""]]


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
    """What was seen and what was done; time first."""

    obs: Any
    start: Bool[Array, "t n"]
    mask: Bool[Array, "t n actions"] | None
    action: Any
    log_prob: Float[Array, "t n"]


class Experience(Decided):
    """`num_steps` steps of `num_envs` lanes. `obs` is what was seen, `final_obs` what the step led to.

    `final_obs` is the last observation of an ended episode, never the first of the next one.
    """

    reward: Float[Array, "t n"]
    terminated: Bool[Array, "t n"]
    truncated: Bool[Array, "t n"]
    final_obs: Any


class Batch(Decided):
    """What the loss is computed from; `memory` is each sequence's first, with a time axis of length one."""

    value: Float[Array, "t n"]
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
    layout: Layout
    """Where the lanes are."""
    place: Callable[[TrainState], TrainState]
    """A state of any origin, laid out so."""
    init: Callable[[Any], TrainState]
    """`init(key) -> state`."""
    update: Callable[[TrainState], tuple[TrainState, Metrics]]
    """`update(state) -> (state, metrics)`: one rollout and what is learned from it."""
    train: Callable[[Any], tuple[TrainState, Metrics]]
    """`train(key) -> (state, metrics of every update)`: a whole run."""
    advance: Callable[[TrainState, int], tuple[TrainState, Metrics]]
    """`advance(state, n) -> (state, metrics of n updates)` in one call of the device, which takes the old state over:
    its memory becomes the new one's, and it cannot be used again."""


def make_train(
    env: Environment[Any, Any],
    params: Params | None = None,
    config: PPOConfig = PPOConfig(),
    resets: Resets | None = None,
    devices: Devices = None,
    backend: BatchBackend = "auto",
) -> Trainer:
    """Training of one environment under one configuration; `resets` and `backend` as in `vectorize`.

    `"auto"` steps by a CUDA kernel on a GPU, where one can be made (one launch instead of many), and else by XLA; on a
    GPU small MLPs are kernels, too, unless `backend` is `"xla"`.
    `devices` (how many, or which) share the lanes among them; the numbers are those of one device, up to rounding.
    """
    if env.num_players != 1:
        raise UsageError(
            f"PPO trains one player, this environment has {env.num_players}; see overclock.adapters.against."
        )
    params = cast(Params, env.default_params() if params is None else params)
    layout = Layout.of(devices, config)
    venv = EpisodeStatistics(vectorize(env, config.num_envs, "same_step", resets, backend))
    if backend == "auto" and layout.count == 1 and fastest_backend(venv.venv) == "cuda":
        venv = EpisodeStatistics(dataclasses.replace(venv.venv, backend="cuda"))
    agent = make_agent(env.observation_space(params), env.action_space(params), config)
    if backend != "xla" and layout.count == 1:
        agent = agent.with_kernels(device())

    def place(state: TrainState) -> TrainState:
        """Lanes shared out, what learns from them everywhere."""
        lanes = layout.split({**vars(state), "learner": state.learner.discounted}, 0, config.num_envs)
        learner = layout.whole(state.learner).replace(discounted=lanes.pop("learner"))
        return TrainState(learner=learner, **lanes)

    def init(key: Any) -> TrainState:
        env_key, learner_key = jax.random.split(key)
        obs, env_state = venv.reset(env_key, params)
        return place(
            TrainState(
                learner=make_learner(agent, config, learner_key),
                env=env_state,
                obs=obs,
                start=jnp.ones(config.num_envs, jnp.bool_),
                memory=agent.first_memory(config.num_envs),
            )
        )

    def step(state: TrainState, _: None) -> tuple[TrainState, tuple[Experience, dict[str, Any]]]:
        mask, rng = venv.action_mask(state.env, params), state.env.rng.of_section(Section.ACTION)
        memory, action, log_prob = explore(agent, state.learner.params, state.memory, state.obs, state.start, mask, rng)
        obs, env_state, reward, terminated, truncated, info = venv.step(
            state.env, agent.distribution.playable(action), params
        )
        experience = Experience(
            state.obs, state.start, mask, action, log_prob, reward, terminated, truncated, info["final_observation"]
        )
        state = state.replace(env=env_state, obs=obs, start=terminated | truncated, memory=memory)
        lost = {OVERFLOW: info[OVERFLOW]} if OVERFLOW in info else {}
        return state, (experience, {**info["episode"], **lost})

    def update(state: TrainState) -> tuple[TrainState, Metrics]:
        first_memory = state.memory
        state, (experience, episodes) = jax.lax.scan(step, place(state), None, config.num_steps)
        experience = layout.split(experience, 1, config.num_envs)
        learner, memory, metrics = learn(agent, config, state.learner, first_memory, state.memory, experience, layout)
        return place(state.replace(learner=learner, memory=memory)), {**summarise(episodes), **metrics}

    def advance(state: TrainState, updates: int) -> tuple[TrainState, Metrics]:
        return jax.lax.scan(lambda state, _: update(state), state, None, updates)

    def train(key: Any) -> tuple[TrainState, Metrics]:
        return advance(init(key), config.num_updates)

    return Trainer(
        env, params, config, agent, layout, place, jax.jit(init), jax.jit(update), train,
        jax.jit(advance, static_argnums=1, donate_argnums=0),
    )  # fmt: skip


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
    """Adam on gradients that are clipped by their global norm, with the configuration's schedule."""
    gradient_steps = config.num_updates * config.num_epochs * config.num_minibatches
    rate = optax.linear_schedule(config.learning_rate, 0.0, gradient_steps) if config.anneal else config.learning_rate
    return optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(rate, eps=ADAM_EPSILON))


def explore(
    agent: Agent, params: AgentParams, memory: Any, obs: Any, start: Bool[Array, " n"], mask: Any, rng: Rng
) -> tuple[Any, Any, Float[Array, " n"]]:
    """(memory, unclipped actions, their log-probabilities) of one step of every lane."""
    memory, outputs = agent.decide(params, memory, obs, start, mask)
    action = agent.distribution.sample(outputs, rng)
    return memory, action, agent.distribution.log_prob(outputs, action)


def learn(
    agent: Agent,
    config: PPOConfig,
    learner: Learner,
    first_memory: Any,
    last_memory: Any,
    experience: Experience,
    layout: Layout = Layout(),
) -> tuple[Learner, Any, Metrics]:
    """What one rollout teaches: advantages, then epochs of minibatches. (learner, memory to go on with, metrics).

    The critic sees the rollout only here, as one batch; `last_memory` gets what it remembers at the end.
    """
    learner, reward = scale_rewards(config, learner, experience)
    value, next_value, last_memory = judge(agent, learner.params, first_memory, last_memory, experience)
    advantage = gae(
        reward, value, next_value, experience.terminated, experience.truncated, config.gamma, config.gae_lambda
    )
    batch = Batch(
        experience.obs, experience.start, experience.mask, experience.action, experience.log_prob, value,
        advantage, advantage + value, jax.tree.map(lambda leaf: leaf[None], first_memory),
    )  # fmt: skip
    batch = layout.whole(batch)  # so that each device can pick its share of any minibatch
    if not agent.recurrent:  # every step is a sequence of its own
        batch = jax.tree.map(lambda leaf: leaf.reshape(1, -1, *leaf.shape[2:]), batch)

    def gradient_step(carry: tuple[Any, Any], chosen: Int[Array, " b"]) -> tuple[tuple[Any, Any], Metrics]:
        weights, optimizer = carry
        chosen = layout.split(chosen, 0, len(chosen))
        minibatch = layout.split(jax.tree.map(lambda leaf: leaf[:, chosen], batch), 1, len(chosen))
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
    learner = learner.replace(params=params, optimizer=optimizer, rng=rng, updates=learner.updates + 1)
    return learner, last_memory, metrics


def loss(
    weights: Any, agent: Agent, config: PPOConfig, params: AgentParams, batch: Batch
) -> tuple[Float[Array, ""], Metrics]:
    """PPO's clipped objective, to be minimised, and what is worth watching."""
    memory = jax.tree.map(lambda leaf: leaf[0], batch.memory)
    params, features = params.replace(weights=weights), agent.encode(batch.obs)
    _, outputs = agent.actor(params, memory["actor"] if agent.recurrent else (), features, batch.start)
    _, value = agent.critic(params, memory["critic"] if agent.recurrent else (), features, batch.start)
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

    steps = (surprise, terminated | truncated)
    return jax.lax.scan(back, jnp.zeros_like(value[0]), steps, reverse=True, unroll=GAE_UNROLL)[1]


def judge(
    agent: Agent, params: AgentParams, first_memory: Any, last_memory: Any, experience: Experience
) -> tuple[Float[Array, "t n"], Float[Array, "t n"], Any]:
    """(values of what was seen, values of what every step led to, `last_memory` with what the critic remembers).

    What a step led to is what the next one saw, given the same memory, unless the episode ended. Only the last step
    and episodes that were cut off need the critic once more; where the rules terminated, nobody asks.
    """
    first = first_memory["critic"] if agent.recurrent else ()
    memories, value = agent.critic(params, first, agent.encode(experience.obs), experience.start)
    if agent.recurrent:
        last_memory = {**last_memory, "critic": memories[-1]}
    never = jnp.zeros_like(experience.start[0])

    def outcome(memory: Any, final_obs: Any) -> Float[Array, " n"]:
        return agent.value(params, memory, final_obs, never)

    last = outcome(*jax.tree.map(lambda leaf: leaf[-1], (memories, experience.final_obs)))
    time = jnp.arange(len(value))[:, None]
    cut = experience.truncated & ~experience.terminated & (time < len(value) - 1)

    def ask(carry: tuple[Any, Any]) -> tuple[Any, Any]:
        """Each lane's first cut that is left: seldom more than one, so the loop seldom turns twice."""
        left, next_value = carry
        when = jnp.argmax(left, axis=0)
        ended = outcome(*jax.tree.map(lambda leaf: _at(leaf, when), (memories, experience.final_obs)))
        here = left & (time == when)
        return left & ~here, jnp.where(here, ended, next_value)

    next_value = jnp.concatenate([value[1:], last[None]])
    _, next_value = jax.lax.while_loop(lambda carry: jnp.any(carry[0]), ask, (cut, next_value))
    return value, next_value, last_memory


def _at(leaf: Float[Array, "t n ..."], when: Int[Array, " n"]) -> Float[Array, "n ..."]:
    """Each lane's entry at a time of its own; written so that lanes on several devices stay where they are."""
    return jnp.take_along_axis(leaf, when.reshape(1, -1, *[1] * (leaf.ndim - 2)), axis=0)[0]


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


def summarise(episodes: dict[str, Any]) -> Metrics:
    """Mean return and length of the episodes that ended in a rollout (not a number where none did), and how many.

    Where room can run out (`overflow` in the environment's info): in how many steps it had, as `overflowed`.
    """
    ended = episodes["ended"].astype(jnp.float32)
    count = jnp.sum(ended)

    def mean(of: Any) -> Any:
        return jnp.where(count > 0, jnp.sum(of * ended) / jnp.maximum(count, 1), jnp.nan)

    lost = {OVERFLOWED: jnp.sum(episodes[OVERFLOW].astype(jnp.float32))} if OVERFLOW in episodes else {}
    return {"return": mean(episodes["return"]), "length": mean(episodes["length"]), "episodes": count, **lost}
