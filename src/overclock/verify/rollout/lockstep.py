"""Whole episodes side by side: the same actions and the same randomness on both sides, every field at every step.

Two ways to run them. *Free running* synchronises the sides once, at reset, so errors may add up as they would for a
user. *Per step* starts every step from the reference's own state, which measures the error of one step alone.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator

import numpy as np

from overclock.errors import UsageError
from overclock.verify.compare import Judged, RareEvents, judge, steering
from overclock.verify.contract import Contract, Mode, Precision, Twin
from overclock.verify.reach.compared import Compared
from overclock.verify.reach.ledger import Ledger
from overclock.verify.reach.subject_search import FoundStates
from overclock.verify.repro.episode import History
from overclock.verify.rollout.actions import ActionSource, GuidedSource, SourceMaker
from overclock.verify.rollout.result import Branches, Divergence, FieldResult, RolloutResult
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.soundness import Form, require_same_actions
from overclock.verify.sides.subject import Arrays, Observed

FOUND = "from found states, uniform"
SEEDS = 1 << 31  # of episodes: references take 32-bit seeds, some of them signed ones


def compare_rollouts(
    twin: Twin,
    episodes: int,
    mode: Mode,
    precision: Precision,
    actions: str,
    source: SourceMaker,
    seed: int | tuple[int, ...] = 0,
    num_lanes: int = 64,
    timeout: float = 120.0,
    progress: Callable[[int], None] = lambda finished: None,
) -> RolloutResult:
    """Run `episodes` episodes of both sides and compare them; `progress` hears how many are finished.

    Episodes and actions follow from `seed`; another seed (or another tuple of them) has others.
    """
    if episodes < 1:
        raise UsageError(f"episodes must be at least 1, got {episodes}.")
    num_lanes = min(num_lanes, episodes)
    with (
        ProcessSubject(twin.reference, num_lanes, "the reference", timeout) as reference,
        ProcessSubject(twin.performance_in(precision), num_lanes, "the performance side", timeout) as performance,
    ):
        return compare_sides(reference, performance, twin, episodes, mode, precision, actions, source, seed, progress)


def compare_sides(
    reference: ProcessSubject,
    performance: ProcessSubject,
    twin: Twin,
    episodes: int,
    mode: Mode,
    precision: Precision,
    actions: str,
    source: SourceMaker,
    seed: int | tuple[int, ...] = 0,
    progress: Callable[[int], None] = lambda finished: None,
    ledger: Ledger | None = None,
    uncut: int | None = None,
) -> RolloutResult:
    """The same with sides that run already, as many lanes of each, in the precision that is named.

    The `ledger` hears which branches of the reference were taken in what was compared. The first episode may last
    `uncut` steps, if given, in place of the contract's step limit.
    """
    require_same_actions(reference, performance)
    with Compared(reference, ledger) as compared:
        comparison = _Comparison(twin.contracts[precision], mode, precision, actions, compared)
        return comparison.run(reference, performance, episodes, source(reference.description), seed, progress, uncut)


def seeds_of(sequence: np.random.SeedSequence) -> Iterator[int]:
    """Seeds of episodes, without end."""
    generator = np.random.default_rng(sequence)
    while True:
        yield int(generator.integers(SEEDS))


def compare_from(
    found: FoundStates,
    reference: ProcessSubject,
    performance: ProcessSubject,
    twin: Twin,
    mode: Mode,
    precision: Precision,
    ledger: Ledger | None = None,
    actions: str = FOUND,
) -> RolloutResult:
    """Short episodes that begin in given states, with the actions that the reference took from there."""
    require_same_actions(reference, performance)
    with Compared(reference, ledger) as compared:
        comparison = _Comparison(twin.contracts[precision], mode, precision, actions, compared)
        for length in np.unique(found.lengths):
            own = np.flatnonzero(found.lengths == length)
            for chosen in np.array_split(own, math.ceil(len(own) / reference.num_envs)):
                comparison.run_from(found, chosen, reference, performance)
        return comparison.ended()


class _Comparison:
    """The lock-step loop and its bookkeeping. Lanes run episodes back to back until the quota is used up."""

    def __init__(self, contract: Contract, mode: Mode, precision: Precision, actions: str, compared: Compared) -> None:
        self.contract, self.compared = contract, compared
        self.mode: Mode = mode
        self.result = RolloutResult(mode=mode, precision=precision, actions=actions)
        self.result.limit_reason = contract.limit_reason
        self.result.rare_share = contract.rare_share
        self.result.rare_reason = "; ".join(dict.fromkeys(one.rare_reason or "" for one in contract.fields if one.rare))
        self.horizon = contract.free_running_steps if mode == "free_running" else None
        if self.horizon is not None:
            self.result.horizon, self.result.free_running_reason = self.horizon, contract.free_running_reason
        for field in contract.fields:
            self.result.fields[field.name] = FieldResult(field, field.tolerance(mode))
        self.drawn: set[str] = set()
        self._begun: Arrays | None = None  # the states that episodes were put into
        self._rare: RareEvents | None = None

    def run(
        self,
        reference: ProcessSubject,
        performance: ProcessSubject,
        episodes: int,
        action_source: ActionSource,
        seed: int | tuple[int, ...],
        progress: Callable[[int], None],
        uncut: int | None,
    ) -> RolloutResult:
        lanes = reference.num_envs
        usual = np.iinfo(np.int64).max if self.contract.step_limit is None else self.contract.step_limit
        limits = np.full(lanes, usual)
        limits[0] = max(usual, uncut or 0)
        of_episodes, of_actions = np.random.SeedSequence(seed).spawn(2)
        generator, numbers = np.random.default_rng(of_actions), seeds_of(of_episodes)
        guided = action_source if isinstance(action_source, GuidedSource) else None
        seeds = np.array([next(numbers) for _ in range(lanes)], np.int64)
        if guided is not None:
            reference.ask("trace")
            seeds[:] = [guided.begin(generator, lane, int(seeds[lane])) for lane in range(lanes)]
        counted = np.ones(lanes, np.bool_)  # lanes whose running episode belongs to the quota
        length = np.zeros(lanes, np.int64)
        started = lanes
        self.history, form = History(lanes), Form(lanes)
        self.compared.lanes(counted)
        ref = self._reset(form, reference, counted, seeds)
        perf = performance.reset(counted, seeds, ref.draws)
        self._compare(ref, perf, None, None, counted, seeds)
        while counted.any():
            before, action = ref, action_source(generator, steering(self.contract, ref, perf))
            if self.mode == "per_step":
                performance.set_state(before.state)
            self.compared.lanes(counted & self._within_horizon(before))
            ref = form.after_step(reference.step(action))
            self.drawn |= ref.draws.keys()
            self.history.step(action, ref.draws)
            perf = performance.step(action, ref.draws)
            if guided is not None:
                guided.learn(ref)
            self._compare(ref, perf, before, action, counted, seeds)
            length += 1
            ended = self._count(ref, length >= limits, counted)
            progress(self.result.episodes)
            if not ended.any():
                continue
            length[ended], limits[ended] = 0, usual
            for lane in np.flatnonzero(ended & counted):
                counted[lane] = started < episodes
                started += int(counted[lane])
                seeds[lane] = next(numbers)
                if guided is not None:
                    seeds[lane] = guided.begin(generator, int(lane), int(seeds[lane]))
            self.compared.lanes(counted)
            ref = self._reset(form, reference, ended, seeds)
            perf = performance.reset(ended, seeds, ref.draws)
            self._compare(ref, perf, None, None, counted & ended, seeds)
        if guided is not None:
            self.result.branches = Branches(**reference.ask("branches"))
        return self.ended()

    def run_from(
        self, found: FoundStates, chosen: np.ndarray, reference: ProcessSubject, performance: ProcessSubject
    ) -> None:
        """Episodes of one length from some found states, at most one per lane; further lanes repeat the last."""
        lanes, everyone = reference.num_envs, np.ones(reference.num_envs, np.bool_)
        counted, chosen = np.arange(lanes) < len(chosen), chosen[np.minimum(np.arange(lanes), len(chosen) - 1)]
        self.history, form = History(lanes), Form(lanes)
        seeds, states = found.seeds[chosen], {name: values[chosen] for name, values in found.states.items()}
        self.compared.lanes(~everyone)
        ref = self._reset(form, reference, everyone, seeds)
        performance.reset(everyone, seeds, ref.draws)
        reference.set_state(states)
        performance.set_state(states)
        ref, self._begun = Observed(ref.outputs, states, ref.draws), states
        self.result.episodes += int(counted.sum())
        for number in range(int(found.lengths[chosen[0]])):
            before, action = ref, found.actions[chosen, number]
            if self.mode == "per_step":
                performance.set_state(before.state)
            self.compared.lanes(counted & self._within_horizon(before))
            ref = form.after_step(reference.step(action))
            self.drawn |= ref.draws.keys()
            self.history.step(action, ref.draws)
            perf = performance.step(action, ref.draws)
            self._compare(ref, perf, before, action, counted, seeds)
            terminated, truncated = ref.outputs["terminated"], ref.outputs["truncated"]
            self.result.steps += int(counted.sum())
            self.result.terminated += int((terminated & counted).sum())
            self.result.truncated += int((truncated & counted).sum())
            counted = counted & ~(terminated | truncated)
        self.result.cut += int(counted.sum())

    def ended(self) -> RolloutResult:
        """The result of all that was run."""
        self.result.judge_rare_steps()
        self._require_all_seen()
        return self.result

    def _reset(self, form: Form, reference: ProcessSubject, mask: np.ndarray, seeds: np.ndarray) -> Observed:
        ref = form.after_reset(reference.reset(mask, seeds))
        self.drawn |= ref.draws.keys()
        self.history.reset(mask, ref.draws)
        return ref

    def _count(self, ref: Observed, too_long: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """Count a step and the episodes that end with it; returns the lanes that need a new one."""
        terminated, truncated = ref.outputs["terminated"], ref.outputs["truncated"]
        over = terminated | truncated
        cut = ~over & too_long
        self.result.steps += int(counted.sum())
        self.result.episodes += int(((over | cut) & counted).sum())
        self.result.terminated += int((terminated & counted).sum())
        self.result.truncated += int((truncated & counted).sum())
        self.result.cut += int((cut & counted).sum())
        return over | cut

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
        self._rare = self._rare or RareEvents(self.mode, len(steps))
        if before is None:
            self._rare.begin(counted)
        rare, worse = np.zeros(len(steps), np.bool_), np.zeros(len(steps), np.bool_)
        if before is not None:
            late = counted & ~self._within_horizon(before)
            self.result.beyond_horizon += int(late.sum())
            counted = counted & ~late
        for field in self.contract.compared:
            tolerance = field.tolerance(self.mode)
            judged = judge(self.contract, field, tolerance, ref, perf)
            if judged is None:
                continue
            result = self.result.fields.setdefault(field.name, FieldResult(field, tolerance))
            errors, wrong = np.where(counted, judged.errors, 0.0), judged.wrong & counted
            if field.name in self.contract.limit_fields:
                self.result.excused_flags += int((judged.excused & counted).sum())
                self.result.excusable_flags += int(counted.sum())
            result.compared += int(counted.sum())
            result.largest_error = max(result.largest_error, float(errors.max(initial=0.0)))
            result.add_shares(judged.shares[counted & ~judged.rare])
            apart = {True: wrong & judged.rare, False: wrong & ~judged.rare}
            rare, worse = rare | apart[True], worse | apart[False]
            for is_rare, lanes in apart.items():
                if lanes.any() and not result.knows(is_rare):
                    lane = int(np.flatnonzero(lanes)[0])
                    begun = None if self._begun is None else {k: v[lane].tolist() for k, v in self._begun.items()}
                    episode = dataclasses.replace(self.history.episode(lane, int(seeds[lane])), state=begun)
                    divergence = _divergence(
                        field.name, judged, lane, int(seeds[lane]), int(steps[lane]), before, action
                    )
                    result.keep(divergence, episode, is_rare)
        self._rare.add(rare & ~worse)
        self.result.rare_steps = self._rare.count

    def _within_horizon(self, before: Observed) -> np.ndarray:
        """The lanes whose next step is compared."""
        steps = before.state["steps"]
        return np.ones_like(steps, np.bool_) if self.horizon is None else steps < self.horizon

    def _require_all_seen(self) -> None:
        """What was never looked at cannot be equal: no verdict, unless there is a difference already."""
        for name, result in self.result.fields.items() if self.result.passed else ():
            if not result.compared:
                steps = self.result.steps
                raise CouldNotVerifyError(f"could not verify: '{name}' was never compared in {steps} steps.")
            if unknown := [draw for draw in result.field.draws if draw not in self.drawn]:
                raise CouldNotVerifyError(
                    f"could not verify: the contract says that the draw '{unknown[0]}' feeds '{name}', but the "
                    f"reference reports {', '.join(sorted(self.drawn)) or 'no draws'}."
                )


def _divergence(
    field: str, judged: Judged, lane: int, seed: int, step: int, before: Observed | None, action: np.ndarray | None
) -> Divergence:
    """What a lane shows where a field left its tolerance."""
    error, allowed = judged.worst(lane)
    return Divergence(
        field=field,
        episode_seed=seed,
        step=step,
        reference=judged.reference[lane].tolist(),
        performance=judged.performance[lane].tolist(),
        error=error,
        tolerance=allowed,
        state_before={} if before is None else {k: v[lane].tolist() for k, v in before.state.items()},
        action=None if action is None else action[lane].tolist(),
    )
