"""An upper bound for what a translation gains: the environment's share of the time of a training run.

The share of the environment is the time of an iteration less that of the same iteration with an environment that does
nothing (of equal spaces), over the former. Only the calls of the environment differ between the two, so only they are
timed: the noise of the rest would drown the difference. Amdahl's law makes of the share what an environment k times
faster would bring. Choosing actions step by step from Python is told apart, because an environment in JAX is played
and learned from in one program, which takes most of that away too.
"""

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from overclock.errors import UsageError
from overclock.recipe.references.gymnasium_spec import close
from overclock.recipe.survey.live.loading import gymnasium, make, playing
from overclock.recipe.survey.static.source import Source
from overclock.train import PPOConfig, train_on_host

SPEEDUPS = (10.0, 100.0, math.inf)
NETWORKS = {"small": (64, 64), "2M": (1024, 1024)}  # hidden layers of actor and critic each; the second: 2.1 M weights
WORTHWHILE = 1.5  # an end-to-end gain below this hardly pays for a translation
PPO_SPACES = (gymnasium.spaces.Discrete, gymnasium.spaces.MultiDiscrete, gymnasium.spaces.Box)


@dataclasses.dataclass(frozen=True)
class Training:
    """Where the time of one training loop around the reference went, and what a faster environment would gain."""

    network: str
    parameters: int
    device: str  # where the network ran: "cpu", "gpu"
    steps_per_second: float  # of the whole loop
    environment_share: float  # 0 to 1
    acting_share: float  # choosing actions, step by step from Python
    gains: dict[float, float]  # speed-up of the environment -> speed-up of the loop
    fused_gain: float  # about: where acting costs nothing either


@dataclasses.dataclass(frozen=True)
class SpeedupEstimate:
    """What a faster environment would gain. `trainings` is empty where our trainer cannot play the environment."""

    steps_per_second: float  # of the reference alone, one instance, random actions
    trainings: tuple[Training, ...]
    worthwhile: bool | None
    sentences: tuple[str, ...]


def amdahl(share: float, speedup: float) -> float:
    """How many times faster the whole is when its part `share` is `speedup` times faster."""
    if not 0 <= share <= 1 or speedup <= 0:
        raise UsageError(f"A share lies between 0 and 1 and a speed-up above 0, got {share:g} and {speedup:g}.")
    rest = 1 - share + share / speedup
    return math.inf if rest == 0 else 1 / rest


def estimate_speedup(
    source: Source,
    networks: tuple[str, ...] = ("small", "2M"),
    num_envs: int = 8,
    num_steps: int = 64,
    updates: int = 4,
    alone_steps: int = 1000,
) -> SpeedupEstimate:
    """Train a few updates with each network and measure which share of the time the environment takes."""
    if updates < 2:
        raise UsageError(f"The first update compiles, so at least 2 are needed, got {updates}.")
    with playing(source):
        alone = _alone(source, alone_steps)
    refused = _not_playable(source)
    if refused is not None:
        return SpeedupEstimate(alone, (), None, (_speed(alone), refused))
    with playing(source):
        trainings = tuple(_training(source, name, num_envs, num_steps, updates) for name in networks)
    best = max(training.fused_gain for training in trainings)
    sentences = [_speed(alone), *(_sentence(training) for training in trainings)]
    if best < WORTHWHILE:
        sentences.append("The time goes into learning, not into the environment: a translation hardly pays here.")
    return SpeedupEstimate(alone, trainings, best >= WORTHWHILE, tuple(sentences))


def _speed(alone: float) -> str:
    return f"The reference alone makes {alone:,.0f} steps per second in one process."


def _sentence(training: Training) -> str:
    ten, hundred, ever = (training.gains[speedup] for speedup in SPEEDUPS)
    limit = "without limit" if math.isinf(ever) else f"at most {ever:.1f} times"
    return (
        f"With a network of {training.parameters:,} parameters on this machine's {training.device} the environment "
        f"takes {training.environment_share:.0%} of the training time: one that is 10 times faster makes training "
        f"{ten:.1f} times faster, 100 times faster {hundred:.1f} times, and any {limit}. Choosing actions step by "
        f"step from Python takes {training.acting_share:.0%}; without that too, as in JAX, it is about "
        f"{training.fused_gain:.1f} times."
    )


def _alone(source: Source, steps: int) -> float:
    env = make(source)
    env.action_space.seed(0)
    env.reset(seed=0)
    started = time.perf_counter()
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    seconds = time.perf_counter() - started
    close(env)
    return steps / max(seconds, 1e-9)


def _not_playable(source: Source) -> str | None:
    env = _playable(source)
    try:
        spaces = {"observations": env.observation_space, "actions": env.action_space}
    finally:
        close(env)
    for what, space in spaces.items():
        if not isinstance(space, PPO_SPACES):
            return f"The share of the environment was not measured: our trainer has no network for its {what}, {space}."
    return None


def _playable(source: Source) -> Any:
    env = make(source)
    if not isinstance(env, gymnasium.Env):
        raise UsageError(f"'{source.text}' is no gymnasium.Env, so a training loop cannot be put around it.")
    nested = isinstance(env.observation_space, gymnasium.spaces.Tuple | gymnasium.spaces.Dict)
    return gymnasium.wrappers.FlattenObservation(env) if nested else env


class _Nothing(gymnasium.Env[Any, Any]):
    """Equal spaces, no rules: what is left of a training loop when the environment is free."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space, self.action_space = observation_space, action_space
        self._obs = np.zeros(observation_space.shape or (), observation_space.dtype)[()]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        return self._obs, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self._obs, 0.0, False, False, {}


class _Timed(gymnasium.vector.SyncVectorEnv):
    """A batch that adds up the time spent inside of it."""

    seconds = 0.0
    left_at = 0.0  # the clock when it was last left

    def step(self, actions: Any) -> Any:
        started = time.perf_counter()
        result = super().step(actions)
        self.left_at = time.perf_counter()
        self.seconds += self.left_at - started
        return result


def _batch(make_env: Callable[[], Any], num_envs: int) -> _Timed:
    return _Timed([make_env] * num_envs, autoreset_mode=gymnasium.vector.AutoresetMode.SAME_STEP)


def _training(source: Source, network: str, num_envs: int, num_steps: int, updates: int) -> Training:
    config = PPOConfig(
        total_steps=num_envs * num_steps * updates, num_envs=num_envs, num_steps=num_steps, hidden=NETWORKS[network]
    )
    envs = _batch(lambda: _playable(source), num_envs)
    nothing = _nothing(envs.single_observation_space, envs.single_action_space, num_envs, num_steps)
    inside, learning = [0.0], list[float]()  # after each update

    def note(*_: int) -> None:
        inside.append(envs.seconds)
        learning.append(time.perf_counter() - envs.left_at)  # an update ends with what is learned from its steps

    try:
        run = train_on_host(envs, config, progress=note)
    finally:
        envs.close()
    # The first update compiles and is left out.
    spent, environment = np.diff(run.curve.seconds), np.diff(inside)[1:] - nothing
    share = float(np.median(np.clip(environment / spent, 0.0, 1.0)))
    learned = float(np.median(np.clip(np.array(learning[1:]) / spent, 0.0, 1.0 - share)))
    return Training(
        network=network,
        parameters=sum(leaf.size for leaf in jax.tree.leaves(run.policy.params.weights)),
        device=jax.default_backend(),
        steps_per_second=config.steps_per_update / float(np.median(spent)),
        environment_share=share,
        acting_share=1.0 - share - learned,
        gains={speedup: amdahl(share, speedup) for speedup in SPEEDUPS},
        fused_gain=amdahl(1.0 - learned, math.inf),
    )


def _nothing(observation_space: Any, action_space: Any, num_envs: int, num_steps: int) -> float:
    """The seconds that an update's steps of a batch take when the environments do nothing."""
    envs = _batch(lambda: _Nothing(observation_space, action_space), num_envs)
    try:
        envs.reset(seed=0)
        actions = envs.action_space.sample()
        for _ in range(num_steps):
            envs.step(actions)
        return envs.seconds
    finally:
        envs.close()
