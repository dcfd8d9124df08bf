"""Policies at play on one side: closed loop, each lane an episode of its own, next episode as soon as one ends.

The reference plays first and its randomness is recorded; every other side is given it back episode by episode. So the
sides need not run in step: each acts on its own observations, with the same luck.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence

import jax
import numpy as np

from overclock.verify.sides.crew import Crew
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec
from overclock.verify.transfer.policies import Players

LANES = 256

Report = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class Job:
    """One episode to play: a policy (its place among the players), a seed, and recorded randomness where there is.

    `extra` is added to the reward of its first step, which is how a bug that must be seen is made up.
    """

    policy: int
    seed: int
    keep_states: bool
    draws: "Draws | None" = None
    extra: float = 0.0


@dataclasses.dataclass(frozen=True)
class Draws:
    """The randomness of an episode: of its reset, and of every step (nothing where steps draw nothing)."""

    reset: Arrays
    steps: tuple[Arrays, ...]
    masked: bool  # whether the side that was recorded said which actions are legal

    def at(self, step: int) -> Arrays:
        """Of a step; an episode that outlives its recording starts over, since any luck is as good by then."""
        return self.steps[step % len(self.steps)]


@dataclasses.dataclass(frozen=True)
class Played:
    """A finished episode: its return, its randomness, and its states where they were kept."""

    total: float
    length: int
    draws: Draws
    states: np.ndarray | None  # (length + 1, dimensions), the reset's included
    widths: tuple[int, ...]  # how many dimensions each state field has


@dataclasses.dataclass(frozen=True)
class Table:
    """Where episodes are played: a subject's spec, what it is called, and what is kept of its states."""

    spec: SubjectSpec
    name: str
    fields: tuple[str, ...]
    step_limit: int


def play(
    crew: Crew, table: Table, players: Players, jobs: Sequence[Job], processes: int, report: Report
) -> list[Played]:
    """Play all jobs, cut into as many processes as wished; the results are in the order of the jobs."""
    shares = [range(start, len(jobs), processes) for start in range(processes)]

    def part(share: Sequence[int]) -> list[Played]:
        # Powers of two: every other number of lanes would have to be compiled for acting.
        lanes = min(LANES, 1 << (len(share).bit_length() - 1))
        with crew.subject(table.spec, lanes, table.name) as subject:
            return _Evaluation(table, players, [jobs[index] for index in share], subject).run(report)

    parts = crew.together([functools.partial(part, share) for share in shares if share], processes)
    return [parts[index % processes][index // processes] for index in range(len(jobs))]


class _Evaluation:
    """The loop over one process. A lane without a job left goes on playing its last one, and nobody listens."""

    def __init__(self, table: Table, players: Players, jobs: Sequence[Job], subject: ProcessSubject) -> None:
        self.table, self.players, self.jobs, self.subject = table, players, jobs, subject
        lanes = self.lanes = subject.num_envs
        self.job = np.arange(lanes)  # what each lane plays
        self.live = np.ones(lanes, np.bool_)
        self.steps, self.totals = np.zeros(lanes, np.int64), np.zeros(lanes, np.float64)
        self.reset_draws: list[Arrays] = [{}] * lanes
        self.step_draws: list[list[Arrays]] = [[] for _ in range(lanes)]
        self.states, self.widths = np.zeros((lanes, 64, 0)), ()
        self.played: dict[int, Played] = {}
        # Columns of the jobs, because a loop over lanes at every step would cost more than the steps themselves.
        self.policies = np.array([job.policy for job in jobs])
        self.seeds = np.array([job.seed for job in jobs], np.int64)
        self.keeps = np.array([job.keep_states for job in jobs])
        self.extras = np.array([job.extra for job in jobs])
        given = [job.draws for job in jobs if job.draws is not None]
        self.given_resets = _stack([draws.reset for draws in given]) if given else None
        self.given_steps = given if given and given[0].steps else []

    def run(self, report: Report) -> list[Played]:
        """Until every job is played."""
        memory, next_job = self.players.first_memory(self.lanes), self.lanes
        seen = self._reset(np.ones(self.lanes, np.bool_))
        discrete = self.subject.description["kind"] == "discrete"
        dtype = np.int32 if discrete else self.subject.description["low"].dtype
        while self.live.any():
            mask, policies, seeds = seen.outputs.get("action_mask"), self.policies[self.job], self.seeds[self.job]
            memory, actions = self.players.act(policies, memory, seen.outputs["obs"], self.steps, seeds, mask)
            seen = self._step(actions.astype(dtype))
            ended = seen.outputs["terminated"] | seen.outputs["truncated"] | (self.steps >= self.table.step_limit)
            if not ended.any():
                continue
            finished = np.flatnonzero(ended & self.live)
            for lane in finished:
                self._finish(int(lane), mask is not None)
                self.live[lane] = next_job < len(self.jobs)
                if self.live[lane]:
                    self.job[lane], next_job = next_job, next_job + 1
            report(len(finished))
            if self.live.any():
                seen = self._reset(ended)
        return [self.played[index] for index in range(len(self.jobs))]

    def _reset(self, mask: np.ndarray) -> Observed:
        draws = None
        if self.given_resets is not None:
            draws = {name: values[self.job] for name, values in self.given_resets.items()}
        seen = self._checked(self.subject.reset(mask, self.seeds[self.job], draws))
        self.steps[mask], self.totals[mask] = 0, 0.0
        for lane in np.flatnonzero(mask):
            self.reset_draws[lane], self.step_draws[lane] = {n: v[lane] for n, v in seen.draws.items()}, []
        self._note(seen)
        return seen

    def _step(self, actions: np.ndarray) -> Observed:
        draws = None if self.given_resets is None else {}
        if self.given_steps:
            steps = self.steps.tolist()
            draws = _stack([self.given_steps[job].at(step) for job, step in zip(self.job, steps, strict=True)])
        seen = self._checked(self.subject.step(actions, draws), after_step=True)
        self.totals += seen.outputs["reward"] + np.where(self.steps == 0, self.extras[self.job], 0.0)
        self.steps += 1
        for lane, record in enumerate(self.step_draws) if seen.draws else ():
            record.append({name: values[lane] for name, values in seen.draws.items()})
        self._note(seen)
        return seen

    def _note(self, seen: Observed) -> None:
        """Keep the states where they are wanted."""
        rows = [np.asarray(seen.state[name], np.float64).reshape(self.lanes, -1) for name in self.table.fields]
        state = np.concatenate(rows, axis=1) if rows else np.zeros((self.lanes, 0))
        if self.states.shape[2] != state.shape[1]:
            self.states = np.zeros((*self.states.shape[:2], state.shape[1]))
        self.widths = tuple(row.shape[1] for row in rows)
        kept = self.keeps[self.job] & self.live
        if kept.any() and self.steps[kept].max() >= self.states.shape[1]:
            self.states = np.concatenate([self.states, np.zeros_like(self.states)], axis=1)
        self.states[kept, self.steps[kept]] = state[kept]

    def _finish(self, lane: int, masked: bool) -> None:
        job, length = int(self.job[lane]), int(self.steps[lane])
        given = self.jobs[job].draws
        if given is not None and masked and not given.masked:
            raise CouldNotVerifyError(
                f"could not verify: {self.table.name} says which actions are legal and the reference does not, "
                "so policies cannot play by the same rules on both."
            )
        if not np.isfinite(self.totals[lane]):
            raise CouldNotVerifyError(f"could not verify: {self.table.name} paid a reward that is not finite.")
        states = self.states[lane, : length + 1].copy() if self.jobs[job].keep_states else None
        draws = Draws(self.reset_draws[lane], tuple(self.step_draws[lane]), masked)
        self.played[job] = Played(float(self.totals[lane]), length, draws, states, self.widths)

    def _checked(self, seen: Observed, after_step: bool = False) -> Observed:
        """Refuse answers of another form before they are computed with."""
        wanted = ("obs", "reward", "terminated", "truncated") if after_step else ("obs",)
        for name in wanted:
            shapes = [np.shape(leaf) for leaf in jax.tree.leaves(seen.outputs.get(name))]
            fits = [shape[:1] == (self.lanes,) if name == "obs" else shape == (self.lanes,) for shape in shapes]
            if not fits or not all(fits):
                raise CouldNotVerifyError(
                    f"could not verify: {self.table.name} answered {self.lanes} lanes with `{name}` of shape "
                    f"{', '.join(map(str, shapes)) or 'nothing'}."
                )
        return seen


def _stack(rows: list[Arrays]) -> Arrays:
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}
