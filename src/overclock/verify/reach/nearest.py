"""A branch tracer that also measures how near each step came to what play does not do.

    tracer = NearestTracer(files)
    ...                                             # play, inside the tracer
    tracer.play_ended()
    tracer.begin()
    with tracer:
        env.step(action)
    tracer.end()                                    # target -> how near this step came, of those it evaluated

A target is an outcome that nothing has reached, of a condition that was evaluated; what lies behind it comes next. An
outcome that play did not take is a target several times, to be taken twice, three and four times in one step: four rows
of a board that are cleared at once are another case than one.
"""

import ast
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

from overclock.verify.reach.distance import Pair, measure, measure_length
from overclock.verify.reach.pure_values import names_of
from overclock.verify.rollout.branches import Branch, BranchTracer

MOST_MEASURED = 64  # times in one step that one condition is measured
MOST_TIMES = 4  # an outcome is wanted in one step
MOST_PAIRS = 16
TRUE_WHEN = {"is true": True, "is false": False, "is exhausted": True, "gives an item": False}

Outcome = tuple[str, Branch, bool]  # file, branch, whether it jumps


class Target(NamedTuple):
    """An outcome, and how often it shall be taken in one step."""

    outcome: Outcome
    times: int = 1

    @property
    def text(self) -> str:
        """File, line, condition, what that turned out to be, and how often."""
        file, branch, jumped = self.outcome
        condition, said = branch.condition.strip("`"), branch.jumps if jumped else branch.stays
        often = f", {self.times} times in one step" if self.times > 1 else ""
        return f"{file.rpartition('/')[2]}:{branch.line} `{condition}` {said}{often}"


class Near(NamedTuple):
    """How far a step was from a target, and the numbers that it compared on the way."""

    distance: float
    pairs: list[Pair]


class NearestTracer(BranchTracer):
    """Branches as `BranchTracer` sees them, with the distance to targets."""

    def __init__(self, files: list[str]) -> None:
        super().__init__(files)
        self.times: dict[Outcome, int] = {}  # how often in one step rare outcomes were taken
        self._usual: set[Outcome] | None = None  # what play took
        self._values: dict[Outcome, list[Near]] = {}
        self._conditions: dict[tuple[str, Branch], ast.expr | None] = {}
        self._wanted: dict[tuple[str, Branch], tuple[bool, ...]] = {}  # which outcomes of a condition are measured

    def play_ended(self) -> None:
        """What is reached from now on is rare."""
        self._usual = set(self.reached)

    def begin(self) -> None:
        """A new step: forget how near the last one came."""
        self._values = {}

    def end(self) -> dict[Target, Near]:
        """How near the step came to every target that it evaluated; at distance 0 the target is reached."""
        found = {}
        for outcome, values in self._values.items():
            times = self.times.get(outcome, 0) + 1
            if len(values) < times or times > MOST_TIMES:
                continue
            values.sort(key=lambda near: near.distance)
            distance = sum(near.distance for near in values[:times])
            pairs = [pair for near in values[:times] if near.distance for pair in near.pairs]
            found[Target(outcome, times)] = Near(distance, pairs[:MOST_PAIRS])
        return found

    def took(self) -> list[Outcome]:
        """The rare outcomes that the step took."""
        return [outcome for outcome, values in self._values.items() if any(near.distance == 0 for near in values)]

    def missed(self) -> Iterator[Outcome]:
        """Outcomes that nothing has reached, of conditions that were evaluated."""
        for file, branch in {(file, branch) for file, branch, _ in self.reached}:
            for jumped in (True, False):
                if (file, branch, jumped) not in self.reached:
                    yield file, branch, jumped

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        watch, code = super()._on_call(frame, event, arg), frame.f_code
        if watch is None or self._usual is None or code.co_filename not in self._files:
            return watch
        file, branches = code.co_filename, self._entered[id(code)][1]

        def on_event(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            if event == "opcode" and (branch := branches.get(frame.f_lasti)) is not None:
                self._measure(file, branch, frame)
            watch(frame, event, arg)
            return on_event

        return on_event

    def _measure(self, file: str, branch: Branch, frame: FrameType) -> None:
        wanted = self._wanted.get((file, branch))
        if wanted is None:
            wanted = self._wanted[file, branch] = self._rare(file, branch)
        if not wanted:
            return
        known = self._values.setdefault((file, branch, wanted[0]), [])
        if len(known) >= MOST_MEASURED:
            return
        condition = self._conditions[file, branch]
        assert condition is not None
        names = names_of(frame.f_locals, frame.f_globals)
        found = (measure_length if branch.jumps == "is exhausted" else measure)(condition, names)
        if found is None:
            self._wanted[file, branch] = ()
            return
        for jumped in wanted:
            truth = TRUE_WHEN[branch.jumps if jumped else branch.stays]
            near = Near(found.to_true if truth else found.to_false, found.pairs)
            self._values.setdefault((file, branch, jumped), []).append(near)

    def _rare(self, file: str, branch: Branch) -> tuple[bool, ...]:
        """The outcomes of a condition that play did not take, if they can be measured."""
        assert self._usual is not None
        condition = self._conditions[file, branch] = condition_of(branch)
        whole = isinstance(condition, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp)  # of its own loop
        if condition is None or whole or branch.jumps not in TRUE_WHEN:
            return ()
        return tuple(jumped for jumped in (True, False) if (file, branch, jumped) not in self._usual)


def condition_of(branch: Branch) -> ast.expr | None:
    """The expression that a conditional jump tests; None where it is no expression by itself."""
    try:
        return ast.parse(f"({branch.condition.strip('`')})", mode="eval").body
    except SyntaxError:
        return None
