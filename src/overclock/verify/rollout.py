"""Whole episodes side by side: the same actions and the same randomness on both sides, every field at every step.

Two ways to run them. *Free running* synchronises the sides once, at reset, so errors may add up as they would for a
user. *Per step* starts every step from the reference's own state, which measures the error of one step alone.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from overclock.errors import UsageError
from overclock.verify.actions import ActionSource, GuidedSource, SourceMaker
from overclock.verify.compare import judge
from overclock.verify.contract import Contract, Field, Precision, Twin
from overclock.verify.episode import Episode, History
from overclock.verify.process import ProcessSubject
from overclock.verify.statistics import bound_clean_episodes
from overclock.verify.subject import Observed

Mode = Literal["free_running", "per_step"]


@dataclasses.dataclass
class Divergence:
    """The first place where a field left its tolerance."""

    field: str
    episode_seed: int
    step: int
    reference: Any
    performance: Any
    error: float
    tolerance: float
    state_before: dict[str, Any]
    action: Any


@dataclasses.dataclass
class FieldResult:
    """One field over a whole comparison."""

    field: Field
    tolerance: float
    compared: int = 0
    largest_error: float = 0.0
    first_divergence: Divergence | None = None
    episode: Episode | None = None  # the one that diverged, up to there


@dataclasses.dataclass
class RolloutResult:
    """What a comparison of episodes saw."""

    mode: Mode
    precision: Precision
    actions: str
    episodes: int = 0
    steps: int = 0
    terminated: int = 0
    truncated: int = 0
    excused_flags: int = 0  # flags that differed within the contract's margin of a threshold
    beyond_horizon: int = 0  # free-running steps not compared, past the contract's horizon
    fields: dict[str, FieldResult] = dataclasses.field(default_factory=dict)
    branches: dict[str, list[str]] | None = None  # of the reference, where the actions were guided by them

    @property
    def passed(self) -> bool:
        """Whether every field stayed inside its tolerance, over at least one episode."""
        return self.episodes > 0 and all(result.first_divergence is None for result in self.fields.values())

    @property
    def divergence_bound(self) -> float:
        """With no divergence in n episodes, the share that diverges is below this, at 95 % confidence."""
        return bound_clean_episodes(self.episodes) if self.episodes else 1.0

    @property
    def first_divergence(self) -> Divergence | None:
        """The earliest one by step."""
        return None if (first := self._first()) is None else first.first_divergence

    @property
    def first_episode(self) -> Episode | None:
        """The episode of `first_divergence`, up to there: what `shrink` starts from."""
        return None if (first := self._first()) is None else first.episode

    def _first(self) -> FieldResult | None:
        found = [(result.first_divergence.step, result) for result in self.fields.values() if result.first_divergence]
        return min(found, key=lambda pair: pair[0], default=(0, None))[1]


def compare_rollouts(
    twin: Twin,
    episodes: int,
    mode: Mode,
    precision: Precision,
    actions: str,
    source: SourceMaker,
    seed: int = 0,
    num_lanes: int = 64,
    timeout: float = 120.0,
    progress: Callable[[int], None] = lambda finished: None,
) -> RolloutResult:
    """Run `episodes` episodes of both sides and compare them; `progress` hears how many are finished."""
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, got {episodes}.")
    contract = twin.contracts[precision]
    x64 = "1" if precision == "float64" else "0"
    num_lanes = min(num_lanes, episodes)
    performance_spec = twin.performance.with_environment(JAX_ENABLE_X64=x64, JAX_PLATFORMS="cpu")
    with (
        ProcessSubject(twin.reference, num_lanes, "the reference", timeout) as reference,
        ProcessSubject(performance_spec, num_lanes, "the performance side", timeout) as performance,
    ):
        comparison = _Comparison(contract, mode, precision, actions)
        return comparison.run(reference, performance, episodes, source(reference.description), seed, progress)


class _Comparison:
    """The lock-step loop and its bookkeeping. Lanes run episodes back to back until the quota is used up."""

    def __init__(self, contract: Contract, mode: Mode, precision: Precision, actions: str) -> None:
        self.contract, self.mode = contract, mode
        self.result = RolloutResult(mode=mode, precision=precision, actions=actions)
        for field in contract.fields:
            tolerance = field.per_step if mode == "per_step" else field.free_running
            self.result.fields[field.name] = FieldResult(field=field, tolerance=tolerance)

    def run(
        self,
        reference: ProcessSubject,
        performance: ProcessSubject,
        episodes: int,
        action_source: ActionSource,
        seed: int,
        progress: Callable[[int], None],
    ) -> RolloutResult:
        lanes = reference.num_envs
        generator = np.random.default_rng(seed)
        guided = action_source if isinstance(action_source, GuidedSource) else None
        next_seed = seed + lanes
        seeds = np.arange(seed, seed + lanes, dtype=np.int64)
        if guided is not None:
            reference.ask("trace")
            seeds[:] = [guided.begin(generator, lane, int(seeds[lane])) for lane in range(lanes)]
        counted = np.ones(lanes, np.bool_)  # lanes whose running episode belongs to the quota
        started = lanes
        self.history = History(lanes)
        ref = reference.reset(counted, seeds)
        self.history.reset(counted, ref.draws)
        perf = performance.reset(counted, seeds, ref.draws)
        self._compare(ref, perf, None, None, counted, seeds)
        while counted.any():
            before, action = ref, action_source(generator, _shown(ref, perf))
            if self.mode == "per_step":
                performance.set_state(before.state)
            ref = reference.step(action)
            self.history.step(action, ref.draws)
            perf = performance.step(action, ref.draws)
            if guided is not None:
                guided.learn(ref)
            self._compare(ref, perf, before, action, counted, seeds)
            ended = ref.outputs["terminated"] | ref.outputs["truncated"]
            finished = ended & counted
            self.result.steps += int(counted.sum())
            self.result.episodes += int(finished.sum())
            self.result.terminated += int((ref.outputs["terminated"] & finished).sum())
            self.result.truncated += int((ref.outputs["truncated"] & finished).sum())
            progress(self.result.episodes)
            if not ended.any():
                continue
            for lane in np.flatnonzero(finished):
                counted[lane] = started < episodes
                started += int(counted[lane])
                seeds[lane], next_seed = next_seed, next_seed + 1
                if guided is not None:
                    seeds[lane] = guided.begin(generator, int(lane), int(seeds[lane]))
            ref = reference.reset(ended, seeds)
            self.history.reset(ended, ref.draws)
            perf = performance.reset(ended, seeds, ref.draws)
            self._compare(ref, perf, None, None, counted & ended, seeds)
        if guided is not None:
            self.result.branches = reference.ask("branches")
        return self.result

    def _compare(
        self,
        ref: Observed,
        perf: Observed,
        before: Observed | None,
        action: np.ndarray | None,
        counted: np.ndarray,
        seeds: np.ndarray,
    ) -> None:
        steps = ref.state["steps"]
        if self.mode == "free_running" and self.contract.free_running_steps is not None and before is not None:
            late = counted & (steps > self.contract.free_running_steps)
            self.result.beyond_horizon += int(late.sum())
            counted = counted & ~late
        for name, result in self.result.fields.items():
            judged = judge(self.contract, result.field, result.tolerance, ref, perf)
            if judged is None:
                continue
            errors, wrong = np.where(counted, judged.errors, 0.0), judged.wrong & counted
            self.result.excused_flags += int((judged.excused & counted).sum())
            result.compared += int(counted.sum())
            result.largest_error = max(result.largest_error, float(errors.max(initial=0.0)))
            if wrong.any() and result.first_divergence is None:
                lane = int(np.flatnonzero(wrong)[0])
                result.episode = self.history.episode(lane, int(seeds[lane]))
                result.first_divergence = Divergence(
                    field=name,
                    episode_seed=int(seeds[lane]),
                    step=int(steps[lane]),
                    reference=judged.reference[lane].tolist(),
                    performance=judged.performance[lane].tolist(),
                    error=float(errors[lane]),
                    tolerance=result.tolerance,
                    state_before={} if before is None else {k: v[lane].tolist() for k, v in before.state.items()},
                    action=None if action is None else action[lane].tolist(),
                )


def _shown(ref: Observed, perf: Observed) -> Observed:
    """What an action source sees: the reference, with the performance side's action mask where only that one has it."""
    if "action_mask" in ref.outputs or "action_mask" not in perf.outputs:
        return ref
    return dataclasses.replace(ref, outputs={**ref.outputs, "action_mask": perf.outputs["action_mask"]})
