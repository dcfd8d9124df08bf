"""Level 4 for a Rust candidate: its lanes as a batch for PPO's host loop, in the worker that may run it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from overclock import compile_cache
from overclock.env.spaces import Box, Discrete
from overclock.env.spaces import Space as EnvSpace
from overclock.recipe.judging.rust.library import Space
from overclock.recipe.judging.rust.subject import RustSubject
from overclock.train.host.lanes import HostLanes
from overclock.train.ppo import PPOConfig, make_agent
from overclock.vector.host import HostStep
from overclock.verify.sides.subject import Observed
from overclock.verify.transfer.training import ReferenceTrainer


class RustVector:
    """The part of a `HostVector` that training uses; it restarts no lane by itself (autoreset "off")."""

    num_players = 1
    autoreset = "off"

    def __init__(self, num_envs: int, **options: Any) -> None:
        """`options` are those of a RustSubject."""
        self.num_envs, self._subject = num_envs, RustSubject(num_envs, **options)
        library = self._subject.library
        self.observation_space, self.action_space = _space(library.observations), _space(library.actions)
        self.max_steps = library.max_steps
        self._mask: np.ndarray | None = None

    def reset(self, seeds: Sequence[int | None] | None = None, mask: np.ndarray | None = None) -> Any:
        """As `HostVector.reset`; every lane has a seed, or none has."""
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else mask
        if seeds is None:
            return self._shown(self._subject.restart(chosen))
        return self._shown(self._subject.reset(chosen, np.array(seeds, np.int64)))

    def step(self, actions: Any) -> HostStep:
        seen = self._subject.step(np.asarray(actions))
        obs, out = self._shown(seen), seen.outputs
        return HostStep(obs, out["reward"].astype(np.float32), out["terminated"], out["truncated"], obs, {})

    def action_mask(self) -> np.ndarray | None:
        return self._mask

    def _shown(self, seen: Observed) -> np.ndarray:
        self._mask = seen.outputs.get("action_mask")
        return seen.outputs["obs"]


class RustTrainer(ReferenceTrainer):
    """As the trainer on a reference, on one batch of a Rust candidate's lanes."""

    def __init__(self, num_envs: int, subject: dict[str, Any], config: dict[str, Any]) -> None:
        """`subject` has the options of a RustSubject."""
        compile_cache.enable()
        self._options, self.config = subject["arguments"], PPOConfig(**config)
        one = self._lanes(1)
        self.agent = make_agent(one.observation_space, one.action_space, self.config)

    def _lanes(self, count: int) -> HostLanes:
        return HostLanes(RustVector(count, **self._options))


def _space(space: Space) -> EnvSpace:
    """As our own environments describe it."""
    if space.kind == "discrete":
        return Discrete(space.n)
    low, high = (tuple(bound.ravel().tolist()) for bound in (space.low, space.high))
    return Box(low, high, space.shape, space.dtype)
