"""Where the time of training goes: environment, inference, update and transfer, for networks of several sizes.

One iteration is a rollout of a recurrent policy and what PPO learns from it. A JAX environment is compiled into one
program with them, which cannot be stopped in between; so its parts are differences of whole measurements:

- *environment*: an iteration minus the same iteration on a no-op environment with the same spaces, taken by turns;
- *update*: learning alone, from experience of the same shapes;
- *inference*: what is left. Nothing is transferred.

An environment outside JAX is stepped from Python, part after part, each waited for and timed by itself.
"""

import dataclasses
import functools
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from overclock.bench import machine
from overclock.bench.config import NATIVE, XLA, BenchConfig
from overclock.bench.report import Announce, header, silent
from overclock.bench.results import Breakdown, BreakdownRow, Parts, Skip
from overclock.env import registry
from overclock.env.environment import Environment, Params
from overclock.env.rng import Rng, Section
from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space, structure
from overclock.env.struct import Struct
from overclock.errors import MissingError
from overclock.train.networks.agent import Agent, AgentParams
from overclock.train.networks.flops import update_flops
from overclock.train.networks.peak import known_peak
from overclock.train.networks.sizes import parameters, sized
from overclock.train.ppo import (
    Experience,
    PPOConfig,
    Trainer,
    TrainState,
    explore,
    learn,
    make_agent,
    make_learner,
    make_train,
)
from overclock.vector import host_vector

SCHEMA = "overclock.bench.breakdown/1"
PARTS = tuple(field.name for field in dataclasses.fields(Parts))
REFERENCE = "reference"
MOST_SEEN = 255.0  # of a whole number in an observation of nothing

Samples = list[Parts]
"""Seconds by part, of every timed iteration."""


class StillState(Struct):
    """Two observations, of which `odd` says which is seen; they take turns, so that none can be taken for constant."""

    odd: Bool[Array, ""]
    two: Any


@dataclasses.dataclass(frozen=True)
class Still(Environment[StillState, Params]):
    """The spaces of another environment, and nothing that happens.

    Every lane sees numbers of its own, and rewards are noise that nobody learns to expect: products of equal rows, and
    of gradients that become zero, take a GPU less power, so that it would run faster than with a real environment.
    """

    like: Environment[Any, Any]

    def default_params(self) -> Params:
        return Params()

    def observation_space(self, params: Params) -> Space:
        return self.like.observation_space(self.like.default_params())

    def action_space(self, params: Params) -> Space:
        return self.like.action_space(self.like.default_params())

    def draw_reset(self, rng: Rng, params: Params) -> Any:
        return _noise(self.observation_space(params), rng, (2,))

    def draw_step(self, rng: Rng, state: StillState, params: Params) -> Float[Array, ""]:
        return rng.unit(0, dtype=jnp.float32)

    def init(self, draw: Any, params: Params) -> StillState:
        return StillState(jnp.bool_(False), draw)

    def transition(
        self, state: StillState, action: Any, draw: Any, params: Params
    ) -> tuple[StillState, Float[Array, ""], Bool[Array, ""]]:
        return state.replace(odd=~state.odd), 2 * draw - 1, jnp.bool_(False)

    def observe(self, state: StillState, params: Params) -> Any:
        return jax.tree.map(lambda leaf: jnp.where(state.odd, leaf[1], leaf[0]), state.two)


def _noise(space: Space, rng: Rng, leading: tuple[int, ...], site: int = 0) -> Any:
    """Numbers of a space, between 0 and 1 where its bounds allow that."""
    if isinstance(space, Dict):
        made = {}
        for name, inner in space.spaces:
            made[name] = _noise(inner, rng, leading, site)
            site += sum(leaf.size for leaf in jax.tree.leaves(made[name]))
        return made
    leaf = structure(space, leading)
    unit = rng.unit(site, leaf.shape, jnp.float32)
    if isinstance(space, Box):
        low, high = (np.clip(np.asarray(bound, np.float64), -MOST_SEEN, MOST_SEEN) for bound in space.bounds())
        if leaf.dtype.kind in "iu":
            return jnp.floor(low + unit * (high - low + 1)).astype(leaf.dtype)
        return jnp.clip(unit, low, high).astype(leaf.dtype)
    assert isinstance(space, Discrete | MultiDiscrete)
    return jnp.floor(unit * np.asarray(space.n if isinstance(space, Discrete) else space.nvec)).astype(leaf.dtype)


def measure_breakdown(config: BenchConfig, progress: Announce | None = None) -> Breakdown:
    """Every implementation with every size of network."""
    config.refuse_unused("breakdown")
    config.validate()
    say = progress or silent
    device = machine.find_device(config.device)
    entry = registry.spec(config.env)
    results: list[BreakdownRow] = []
    skipped: list[Skip] = []
    with jax.default_device(device):
        for millions in config.sizes:
            training = training_config(config, millions)
            for name, build in _implementations(config, entry).items():
                say(f"{name} with {millions:g} million parameters")
                try:
                    samples = build(training)
                except MissingError as error:
                    skip = Skip(name, str(error))
                    skipped += [] if skip in skipped else [skip]
                    continue
                results.append(_row(name, config, training, samples, device))
    return Breakdown(
        schema=SCHEMA, **header(config, device, "--breakdown"), environment=entry.id,
        iteration=_words(training_config(config, config.sizes[0])), results=results, skipped=skipped,
    )  # fmt: skip


def training_config(config: BenchConfig, millions: float) -> PPOConfig:
    """A GRU of that size, one pass of four minibatches over 64 steps of every lane."""
    lanes = config.batch[0]
    return PPOConfig(
        num_envs=lanes, num_steps=64, num_epochs=1, num_minibatches=min(4, lanes), anneal=False,
        precision="bf16", **sized("gru", millions),
    )  # fmt: skip


def _words(config: PPOConfig) -> str:
    return (
        f"{config.num_steps} steps of {config.num_envs:,} lanes with a GRU, then {config.num_epochs} pass of "
        f"{config.num_minibatches} minibatches over them; products in {config.precision}"
    )


def _implementations(config: BenchConfig, entry: Any) -> dict[str, Callable[[PPOConfig], Samples]]:
    static, repeats = config.static(), config.repeats
    env, params = registry.make(entry.id, **static)
    spaces = env.observation_space(params), env.action_space(params)
    found = {XLA: lambda training: jax_parts(env, training, repeats)}
    if entry.native is not None:
        found[NATIVE] = lambda training: host_parts(
            host_vector(entry.id, training.num_envs, backend="native", **static), spaces, training, repeats
        )
    if entry.id == "pong-v1":

        def reference(training: PPOConfig) -> Samples:
            from overclock.envs.pong.vector import PufferLibVector

            vector = PufferLibVector(training.num_envs, **static, threads=machine.cores())
            return host_parts(vector, spaces, training, repeats)

        found[REFERENCE] = reference
    return found


def jax_parts(env: Environment[Any, Any], config: PPOConfig, repeats: int) -> Samples:
    """Seconds of the parts of iterations in one compiled program."""
    trainer = make_train(env, config=config)
    state = trainer.init(jax.random.key(0))  # the first weights of a large network take their time: made once
    learner = jax.tree.map(jnp.copy, state.learner)  # an iteration takes its state over
    experience, memory = blank(trainer, learner.params)
    study = jax.jit(
        lambda learner, memory, experience: learn(trainer.agent, config, learner, memory, memory, experience)
    )
    nothing = make_train(Still(env), config=config)
    whole, still, update = _seconds(
        [
            _iterations(trainer, state),
            _iterations(nothing, nothing.init(jax.random.key(0))),
            lambda: study(learner, memory, experience),
        ],
        repeats,
    )
    return [Parts(a - b, b - c, c, transfer=0.0) for a, b, c in zip(whole, still, update, strict=True)]


def _iterations(trainer: Trainer, state: TrainState) -> Callable[[], Any]:
    """One iteration per call, each from where the last one ended."""

    def once() -> Any:
        nonlocal state
        state, metrics = trainer.advance(state, 1)
        return metrics

    return once


def _seconds(runs: list[Callable[[], Any]], repeats: int) -> list[list[float]]:
    """Seconds of every call; they take turns, because a GPU that gets warm slows down by more than a small part is."""
    for run in runs:
        jax.block_until_ready(run())  # compiles
        jax.block_until_ready(run())
    seconds: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, spent in zip(runs, seconds, strict=True):
            began = time.perf_counter()
            jax.block_until_ready(run())
            spent.append(time.perf_counter() - began)
    return seconds


def blank(trainer: Trainer, params: AgentParams) -> tuple[Experience, Any]:
    """Experience of the right shapes, and the memory before it."""
    config, agent = trainer.config, trainer.agent
    leading = (config.num_steps, config.num_envs)
    memory = agent.first_memory(config.num_envs)
    each = jax.vmap(lambda rng: _noise(agent.observation_space, rng, (config.num_steps,)), out_axes=1)
    obs = each(Rng.of(0).lanes(config.num_envs))  # the draws of all lanes would be too many for one stream
    first = jax.tree.map(lambda leaf: leaf[0], obs)
    flags, zeros = jnp.zeros(leading, jnp.bool_), jnp.zeros(leading, jnp.float32)
    rng = Rng.of(0).lanes(config.num_envs).of_section(Section.ACTION)
    _, action, _ = jax.eval_shape(lambda: explore(agent, params, memory, first, flags[0], None, rng))
    actions = jax.tree.map(lambda leaf: jnp.zeros((config.num_steps, *leaf.shape), leaf.dtype), action)
    return Experience(obs, flags, None, actions, zeros, zeros, flags, flags, obs), memory


class Stopwatch:
    """Seconds by part; every part waits for what it started."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(PARTS, 0.0)

    def time(self, part: str, work: Callable[..., Any], *arguments: Any) -> Any:
        """The result of some work, which counts for a part."""
        began = time.perf_counter()
        result = jax.block_until_ready(work(*arguments))
        self.seconds[part] += time.perf_counter() - began
        return result


def host_parts(vector: Any, spaces: tuple[Space, Space], config: PPOConfig, repeats: int) -> Samples:
    """Seconds of the parts of iterations with an environment outside JAX; copies of its arrays are transfer."""
    agent = make_agent(*spaces, config)
    learner = make_learner(agent, config, jax.random.key(0))
    act = jax.jit(functools.partial(_act, agent))
    study = jax.jit(functools.partial(learn, agent, config))
    memory, rng = agent.first_memory(config.num_envs), Rng.of(0).lanes(config.num_envs).of_section(Section.ACTION)
    obs, start = np.array(vector.reset()), np.ones(config.num_envs, np.bool_)
    measured = []
    for _ in range(repeats + 1):
        watch, first, rows = Stopwatch(), memory, []
        for _ in range(config.num_steps):
            seen = watch.time("transfer", jax.device_put, (obs, start))
            memory, action, played, log_prob, rng = watch.time("inference", act, learner.params, memory, *seen, rng)
            step = watch.time("environment", vector.step, watch.time("transfer", np.asarray, played))
            after = step.reward, step.terminated, step.truncated, step.final_obs, step.obs
            *after, seen_next = watch.time("transfer", lambda kept: [np.array(part) for part in kept], after)
            rows.append((obs, start, action, log_prob, *after))
            obs, start = seen_next, step.terminated | step.truncated
        experience = watch.time("transfer", _sent, rows)
        learner, memory, _ = watch.time("update", study, learner, first, memory, experience)
        measured.append(Parts(**watch.seconds))
    return measured[1:]


def _act(agent: Agent, params: Any, memory: Any, obs: Any, start: Any, rng: Rng) -> tuple[Any, ...]:
    """(memory, actions, actions as the environment takes them, their log-probabilities, randomness of the next)."""
    memory, action, log_prob = explore(agent, params, memory, obs, start, None, rng)
    return memory, action, agent.distribution.playable(action), log_prob, rng.advance()


def _sent(rows: list[tuple[Any, ...]]) -> Experience:
    """The steps as experience on the device."""
    obs, start, action, log_prob, reward, terminated, truncated, final_obs = (
        jnp.stack(column) if isinstance(column[0], jax.Array) else jax.device_put(np.stack(column))
        for column in zip(*rows, strict=True)
    )
    return Experience(obs, start, None, action, log_prob, reward, terminated, truncated, final_obs)


def _row(name: str, config: BenchConfig, training: PPOConfig, samples: Samples, device: Any) -> BreakdownRow:
    env, params = registry.make(config.env, **config.static())
    agent = make_agent(env.observation_space(params), env.action_space(params), training)
    parts = Parts(*(max(statistics.median(getattr(one, part) for one in samples), 0.0) for part in PARTS))
    seconds, playing = parts.total, parts.total - parts.update
    peak = known_peak(device, training.precision)
    flops = update_flops(agent, training) / seconds
    return BreakdownRow(
        implementation=name,
        parameters=parameters(agent),
        seconds=parts,
        samples=samples,
        share=Parts(*(getattr(parts, part) / seconds for part in PARTS)),
        sps=training.steps_per_update / seconds,
        rollout_sps=training.steps_per_update / playing if playing > 0 else None,
        flops_per_second=flops,
        mfu=None if peak is None else flops / peak,
    )
