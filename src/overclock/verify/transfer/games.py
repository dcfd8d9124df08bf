"""Everything level 4 plays: which policies are trained where, and all their episodes on every side.

The reference plays first; the performance side, and its copies with planted bugs, get the randomness that it used.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import numpy as np

from overclock.cores import cores
from overclock.progress import Progress
from overclock.verify.contract import Twin
from overclock.verify.sides.crew import Crew
from overclock.verify.sides.subject import SubjectSpec
from overclock.verify.transfer.evaluate import Job, Played, Table, play
from overclock.verify.transfer.plan import TransferPlan
from overclock.verify.transfer.policies import Players, PolicyName, Side, train_sides
from overclock.verify.transfer.result import Curve

VISITED_EPISODES = 20  # of every policy whose states are compared; more show little and cost much
PROCESSES = max(2, min(cores(), 16))  # of the reference, which takes long; performance sides with their bugs at once
SEED_STRIDE = 1000  # training seeds of `seed` are seed * SEED_STRIDE, + 1, ...
EVALUATION = 4  # keeps evaluation seeds apart from others made from the same number
NOTHING = "nothing"  # what untrained policies were trained on
SIDES: tuple[Side, ...] = ("performance", "reference")
# A group can only be called equivalent where this much would have been seen; that it is seen shows that what is judged
# are the rewards of episodes played for it.
SYNTHETIC_MARGINS = 2.0
SYNTHETIC = f"synthetic: rewards + {SYNTHETIC_MARGINS:g} margins per episode"

Group = tuple[str, str]  # trained on (a side or NOTHING), strength
Record = dict[PolicyName, list[Played]]


class Games:
    """What was played so far. `bugs` has the performance side with each planted bug, for the control groups only."""

    def __init__(self, twin: Twin, plan: TransferPlan, seed: int, timeout: float, progress: Progress) -> None:
        self.twin, self.plan, self.seed, self.progress = twin, plan, seed, progress
        self.sides = SIDES if plan.reference_env is not None else SIDES[:1]
        self.reference: Record = {}
        self.performance: Record = {}
        self.bugs: dict[str, Record] = {}
        self.curves: dict[str, Curve] = {}
        self.seconds: dict[str, float] = {}
        self._crew = Crew(timeout)
        fields = (field.name for field in twin.contracts[plan.precision].fields)
        states = (name.removeprefix("state.") for name in fields if name.startswith("state."))
        self.fields = tuple(name for name in states if name != "steps")

    @property
    def groups(self) -> list[Group]:
        """Untrained policies come from no side: with the same seeds both sides start from the same ones."""
        groups: list[Group] = []
        for strength, share in self.plan.strengths:
            groups += [(NOTHING, strength)] if share == 0.0 else [(side, strength) for side in self.sides]
        return groups

    @property
    def control_groups(self) -> list[Group]:
        """Policies trained on the reference, where there are any: they owe nothing to the side under test."""
        return [group for group in self.groups if group[0] in (NOTHING, self.sides[-1])]

    def train(self, groups: Sequence[Group], look: int) -> Players:
        """New policies for some groups, from seeds that no other look has."""
        started = time.perf_counter()
        first = (self.seed * SEED_STRIDE + (look - 1) * self.plan.seeds) % 2**31
        wanted: dict[Side, list[str]] = {}
        for trained_on, strength in groups:
            side = self.sides[0] if trained_on == NOTHING else cast(Side, trained_on)
            wanted.setdefault(side, []).append(strength)
        seeds = range(first, first + self.plan.seeds)
        trained = train_sides(self.twin, self.plan, wanted, seeds, self._crew, self.progress)
        if look == 1:
            self.curves = {side: one.curve for side, one in trained.items()}
        policies = {name: weights for one in trained.values() for name, weights in one.policies.items()}
        # Strong policies play longest; begun first, they leave no lanes idle at the end.
        strengths = [strength for strength, _ in self.plan.strengths]
        longest_first = sorted(policies, key=lambda name: (-strengths.index(name.strength), name.seed))
        agent = next(iter(trained.values())).agent  # of either side: policies that do not fit it are refused
        players = Players(agent, {name: policies[name] for name in longest_first})
        self._note_time("training", started)
        return players

    def play_reference(self, players: Players) -> None:
        """All episodes of new policies on the reference."""
        started = time.perf_counter()
        self.reference |= self._task("the reference", self.twin.reference, players, players.names, False, PROCESSES)()
        self._note_time("playing on the reference", started)

    def play_performance(self, players: Players, bugs: Iterable[str], margins: Mapping[str, float]) -> None:
        """The same episodes on the performance side, and those of the control groups with each bug planted.

        `margins` by strength, for the bug that is made up (SYNTHETIC): the side as it is, paying so much more.
        """
        started = time.perf_counter()
        name = "the performance side"
        tasks = {"": self._task(name, self.twin.performance_in(self.plan.precision), players, players.names, True)}
        chosen = [name for name in players.names if self.group_of(name) in self.control_groups]
        for bug in bugs:
            made_up = bug == SYNTHETIC
            side = (self.twin if made_up else self.twin.planted(bug)).performance_in(self.plan.precision)
            extra = {strength: SYNTHETIC_MARGINS * margin for strength, margin in margins.items()} if made_up else {}
            tasks[bug] = self._task(f"{name} with the bug '{bug}'", side, players, chosen, True, extra=extra)
        played = dict(zip(tasks, self._crew.together(list(tasks.values()), PROCESSES), strict=True))
        self.performance |= played.pop("")
        for bug, record in played.items():
            self.bugs.setdefault(bug, {}).update(record)
        self._note_time("playing on the performance side", started)

    def group_of(self, name: PolicyName) -> Group:
        """The group of a policy."""
        return (NOTHING if dict(self.plan.strengths)[name.strength] == 0.0 else name.side, name.strength)

    def returns(self, record: Record, *groups: Group) -> np.ndarray:
        """(policies, episodes) of some groups, in the same order for every record."""
        names = [name for name in record if self.group_of(name) in groups]
        return np.array([[episode.total for episode in record[name]] for name in names])

    def states(self, record: Record, group: Group) -> list[list[np.ndarray]]:
        """Visited states: policies, episodes, (steps, dimensions)."""
        names = [name for name in record if self.group_of(name) == group]
        return [[episode.states for episode in record[name] if episode.states is not None] for name in names]

    def dimensions(self) -> list[str]:
        """Names of the dimensions of `states`; a field with several numbers has several."""
        some = next(iter(self.reference.values()))[0]
        assert some.widths is not None
        return [
            field if width == 1 else f"{field}[{index}]"
            for field, width in zip(self.fields, some.widths, strict=True)
            for index in range(width)
        ]

    def _task(
        self,
        title: str,
        spec: SubjectSpec,
        players: Players,
        names: Sequence[PolicyName],
        recorded: bool,
        processes: int = 1,
        extra: Mapping[str, float] = MappingProxyType({}),
    ) -> Callable[[], Record]:
        place, count = {name: index for index, name in enumerate(players.names)}, self.plan.episodes
        jobs = [
            Job(
                policy=place[name],
                seed=int(seed),
                keep_states=number < VISITED_EPISODES,
                draws=self.reference[name][number].draws if recorded else None,
                extra=extra.get(name.strength, 0.0),
            )
            for name in names
            for number, seed in enumerate(self._episode_seeds(name))
        ]
        done, counting = 0, threading.Lock()  # several processes report, each from its own thread

        def report(finished: int) -> None:
            nonlocal done
            with counting:
                done += finished
                self.progress(f"episodes on {title}", done, len(jobs))

        def task() -> Record:
            table = Table(spec, title, self.fields, self.plan.step_limit)
            played = play(self._crew, table, players, jobs, processes, report)
            return {name: played[i * count : (i + 1) * count] for i, name in enumerate(names)}

        return task

    def _episode_seeds(self, name: PolicyName) -> np.ndarray:
        """Each policy has its own: with shared ones, the luck of all policies would be one piece of luck."""
        strength = [strength for strength, _ in self.plan.strengths].index(name.strength)
        entropy = (self.seed, EVALUATION, SIDES.index(name.side), strength, name.seed)
        return np.random.SeedSequence(entropy).generate_state(self.plan.episodes)

    def _note_time(self, what: str, started: float) -> None:
        self.seconds[what] = round(self.seconds.get(what, 0.0) + time.perf_counter() - started, 2)
