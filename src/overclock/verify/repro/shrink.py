"""From a divergence to the shortest episode that shows it.

A comparison finds that two sides part, say, at step 847 of an episode. Here that episode is played again to find the
exact step and field, and then made small in three ways, each keeping the divergence: start as late as possible (from
the reference's own state just before it: usually one action is left), leave actions out (delta debugging, Zeller and
Hildebrandt 2002), and simplify what is left: a smaller seed, zeros and round numbers in state, draws and actions. In
the end no single removal and no single simplification keeps the divergence. Nothing here is random.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from overclock.verify.contract import Precision, Twin
from overclock.verify.repro.arena import LANES, Arena, Finding, Moment
from overclock.verify.repro.episode import Episode
from overclock.verify.repro.simplify import Path, leaves, replaced, simpler
from overclock.verify.rollout.lockstep import Mode, RolloutResult
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.subject import Observed

LIMIT = 20_000  # episodes tried before the search stops with what it has


@dataclasses.dataclass(frozen=True)
class Located:
    """An episode, how it was compared, and where it first leaves the contract."""

    episode: Episode
    mode: Mode
    finding: Finding


@dataclasses.dataclass(frozen=True)
class Shrunk:
    """The shortest episode, both sides at every moment of it, and the episode it was made from."""

    precision: Precision
    shortest: Located
    moments: tuple[Moment, ...]
    original: Located
    last_matching: Moment | None  # in the original episode; None where its reset already differs
    minimal: bool  # False: the limit stopped the search
    tried: int
    some_action: Any  # a legal first one, for what needs an action where the reset alone diverges


def shrink_rollout(twin: Twin, result: RolloutResult, timeout: float = 120.0, **options: Any) -> Shrunk | None:
    """The first divergence of a comparison, made small; None where there is none."""
    if result.first_episode is None:
        return None
    return shrink(twin, result.first_episode, result.mode, result.precision, timeout, **options)


def shrink(
    twin: Twin,
    episode: Episode,
    mode: Mode,
    precision: Precision,
    timeout: float = 120.0,
    from_reset: bool = False,
    limit: int = LIMIT,
    progress: Callable[[int, int], None] = lambda tried, actions: None,
) -> Shrunk:
    """Make a diverging episode small; `progress` hears how many episodes were tried and how many actions are left.

    `from_reset` keeps the start at a reset even where one action from a given state would do, so that every state on
    the way is one that play reaches.
    """
    with Arena(twin, precision, timeout) as arena:
        if not arena.replays:  # its draws follow from the seed; recorded ones would only be misleading
            episode = dataclasses.replace(episode, draws=())
        moments, original = _located(arena, episode, mode)
        last_matching = moments[-2] if original.finding.step else None
        search = _Search(arena, original, limit, progress)
        if not from_reset and original.finding.step > 0:
            search.start_late(moments, original)
        search.minimise()
        moments, shortest = _played(arena, search.episode, search.mode)
        assert shortest is not None, "the last episode that showed the divergence no longer does"
        minimal = arena.complete and not search.stopped
        some_action = arena.some_action(moments[0])
        return Shrunk(precision, shortest, moments, original, last_matching, minimal, search.tried, some_action)


def _located(arena: Arena, episode: Episode, mode: Mode) -> tuple[tuple[Moment, ...], Located]:
    """The exact place of the first divergence, and every moment up to it."""
    moments, located = _played(arena, episode, mode)
    if located is None:
        raise CouldNotVerifyError(
            f"could not verify: the divergence in the episode with seed {episode.seed} did not show again when its "
            f"{len(episode.actions)} actions were replayed, so one side depends on more than seed, actions and draws."
        )
    return moments, located


def _played(arena: Arena, episode: Episode, mode: Mode) -> tuple[tuple[Moment, ...], Located | None]:
    moments = tuple(arena.record(episode, mode))
    for number, moment in enumerate(moments):
        if moment.findings:
            return moments[: number + 1], Located(episode.cut(number), mode, moment.findings[0])
    return moments, None


class _Search:
    """The shortest diverging episode so far. Every accepted change keeps the first divergence in the same field."""

    def __init__(self, arena: Arena, start: Located, limit: int, progress: Callable[[int, int], None]) -> None:
        self.arena, self.limit, self.progress = arena, limit, progress
        self.episode, self.field = start.episode, start.finding.field
        self.mode: Mode = start.mode
        self.tried, self.stopped = 0, False
        self.vain: set[str] = set()  # what did not show the divergence is not played twice

    def start_late(self, moments: Sequence[Moment], original: Located) -> None:
        """Skip what only leads to the divergence: begin from the reference's state as shortly before it as possible."""
        if original.mode == "per_step":
            self._begin_at(moments, original, [len(original.episode.actions) - 1])
            return
        if self.arena.forces:
            # Taken one by one from the reference's own states, steps show where a slow drift really begins.
            forced, located = _played(self.arena, self.episode, "per_step")
            if located is not None and self._begin_at(forced, located, [len(located.episode.actions) - 1]):
                return
        count = len(self.episode.actions)
        steps_back = [2**power for power in range(count.bit_length()) if 2**power < count]
        self._begin_at(moments, original, [count - steps for steps in steps_back])

    def _begin_at(self, moments: Sequence[Moment], located: Located, starts: list[int]) -> bool:
        """Begin at the first of these moments from which the divergence shows."""
        episode, finding = located.episode, located.finding
        if finding.step == 0:  # free running, the reset was inside its wider tolerance
            late = [episode]
        elif self.arena.sets_state:
            late = [_from(episode, moments[start].reference, start, seed) for start in starts for seed in self._seeds()]
        else:
            return False
        was = self.mode, self.field
        self.mode, self.field = located.mode, finding.field
        if self._improve(late):
            return True
        self.mode, self.field = was
        return False

    def minimise(self) -> None:
        """Until nothing changes: fewer actions, a smaller seed, simpler values."""
        before = None
        while self.episode != before and not self.stopped:
            before = self.episode
            self._drop_actions()
            self._improve(
                [dataclasses.replace(self.episode, seed=seed) for seed in range(min(self.episode.seed, LANES))]
            )
            nonzero = [path for path, value in self._values() if value]
            self._zero([path for path in nonzero if path[0] != "actions"])
            self._zero([path for path in nonzero if path[0] == "actions"])
            for path, value in self._values():
                self._improve([self._changed({path: candidate}) for candidate in simpler(value)])

    def _drop_actions(self) -> None:
        """Delta debugging: keep one part, or leave one part out, in ever smaller parts down to single actions."""
        parts = 2
        while count := len(self.episode.actions):
            if count == 1 and self.episode.state is not None:  # without an action nothing is compared
                return
            parts = min(parts, count)
            edges = [count * part // parts for part in range(parts + 1)]
            chunks = [list(range(first, last)) for first, last in itertools.pairwise(edges)]
            rests = [[index for index in range(count) if index not in chunk] for chunk in map(set, chunks)]
            kept = chunks + rests if parts > 2 else rests
            if self._improve([self.episode.keep(chosen) for chosen in kept]):
                parts = max(2, parts - 1)
            elif parts == count:
                return
            else:
                parts *= 2

    def _zero(self, paths: list[Path]) -> None:
        """Put zeros in all these places, or in as many of them as can be found by halving."""
        if not paths or self._improve([self._changed(dict.fromkeys(paths, 0))]) or len(paths) == 1:
            return
        self._zero(paths[: len(paths) // 2])
        self._zero(paths[len(paths) // 2 :])

    def _values(self) -> list[tuple[Path, Any]]:
        """The numbers that may become simpler, and where they stand."""
        found = list(leaves(dataclasses.asdict(self.episode)))
        if self.episode.state is not None and self.arena.masked:
            # Nobody says which first action is legal in a state that was made up.
            found = [(path, value) for path, value in found if path[0] != "state" and path[:2] != ("actions", 0)]
        return [(path, value) for path, value in found if path[0] != "seed"]

    def _changed(self, changes: dict[Path, Any]) -> Episode:
        tree = dataclasses.asdict(self.episode)
        typed = {path: type(_at(tree, path))(value) for path, value in changes.items() if _at(tree, path) is not None}
        return Episode(**replaced(tree, typed))

    def _improve(self, candidates: list[Episode]) -> bool:
        """Accept the first candidate whose first divergence is in the same field, cut off right there."""
        candidates = [
            candidate
            for candidate in candidates
            if candidate != self.episode
            and all(map(self.arena.allows, candidate.actions))
            and self._key(candidate) not in self.vain
        ]
        for start in range(0, len(candidates), LANES):
            if self.stopped or self.tried >= self.limit:
                self.stopped = True
                return False
            batch = candidates[start : start + LANES]
            self.tried += len(batch)
            self.progress(self.tried, len(self.episode.actions))
            for candidate, finding in zip(batch, self.arena.attempt(batch, self.mode), strict=True):
                if finding is not None and finding.field == self.field:
                    self.episode = candidate.cut(finding.step)
                    return True
                self.vain.add(self._key(candidate))
        return False

    def _key(self, candidate: Episode) -> str:
        return f"{self.mode} {self.field} {candidate}"

    def _seeds(self) -> list[int]:
        """Seeds to try for an episode that begins late: its random steps no longer get the draws they had."""
        own = self.episode.seed
        if self.arena.replays:
            return [own]
        return [own, *(seed for seed in range(LANES // 4) if seed != own)]


def _from(episode: Episode, before: Observed, start: int, seed: int) -> Episode:
    """What is left of an episode after its first `start` actions, from the state the reference had there."""
    rest = episode.keep(list(range(start, len(episode.actions))))
    state = {name: values[0].tolist() for name, values in before.state.items()}
    return dataclasses.replace(rest, seed=seed, state=state)


def _at(tree: Any, path: Path) -> Any:
    """What stands in a place, None where the tree has no such place any more."""
    for key in path:
        try:
            tree = tree[key]
        except (KeyError, IndexError):
            return None
    return tree
