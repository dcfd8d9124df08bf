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
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, NamedTuple

from overclock.verify.reach.bytecode import Branch
from overclock.verify.reach.distance import Pair, measure, measure_length
from overclock.verify.reach.pure_values import names_of
from overclock.verify.rollout.branches import BranchTracer, TracedCode

MOST_MEASURED = 64  # times in one step that one condition is measured
MOST_TIMES = 4  # an outcome is wanted in one step
MOST_PAIRS = 16
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)  # the test of their own loop
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
        said = branch.jumps if jumped else branch.stays
        often = f", {self.times} times in one step" if self.times > 1 else ""
        return f"{file.rpartition('/')[2]}:{branch.line} `{branch.condition}` {said}{often}"


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
        self._rare: dict[int, _Rare] = {}  # by the identity of code

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
            for jumped, _, raises in branch.outcomes:
                if (file, branch, jumped) not in self.reached and not raises:
                    yield file, branch, jumped

    def forget(self, outcomes: Iterable[Outcome]) -> None:
        """Outcomes of a step that does not count were not reached."""
        for file, branch, jumped in outcomes:
            self.reached.discard((file, branch, jumped))
            for traced in self.entered:
                if traced.code.co_filename == file and branch in traced.branches.values():
                    traced.reopen(branch, jumped)

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        watch, code = super()._on_call(frame, event, arg), frame.f_code
        if self._usual is None or code.co_filename not in self._files:
            return watch
        traced = self._entered[id(code)]
        if (rare := self._rare.get(id(code))) is None:
            rare = self._rare[id(code)] = _Rare(traced, self._usual)
        if not rare.wanted:
            return watch
        frame.f_trace_lines, own = True, not traced.complete

        def on_event(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            nonlocal watch
            if event == "opcode" and (branch := traced.branches.get(frame.f_lasti)) in rare.wanted:
                self._measure(rare, branch, frame)
            if watch is not None and (own or event != "opcode"):
                watch = watch(frame, event, arg)
            if event == "line":
                looked_at = own and frame.f_trace_opcodes
                frame.f_trace_opcodes = looked_at or None in rare.lines or frame.f_lineno in rare.lines
            return on_event

        return on_event

    def _measure(self, rare: "_Rare", branch: Branch, frame: FrameType) -> None:
        wanted = rare.wanted[branch]
        if len(self._values.get((rare.file, branch, wanted[0]), ())) >= MOST_MEASURED:
            return
        names = names_of(frame.f_locals, frame.f_globals)
        found = (measure_length if branch.jumps == "is exhausted" else measure)(rare.conditions[branch], names)
        if found is None:
            rare.drop(branch)
            return
        for jumped in wanted:
            truth = TRUE_WHEN[branch.jumps if jumped else branch.stays]
            near = Near(found.to_true if truth else found.to_false, found.pairs)
            self._values.setdefault((rare.file, branch, jumped), []).append(near)


class _Rare:
    """The conditions of a function with outcomes that play did not take, as far as they can be measured."""

    def __init__(self, traced: TracedCode, usual: set[Outcome]) -> None:
        self.file = traced.code.co_filename
        self.wanted: dict[Branch, tuple[bool, ...]] = {}
        self.conditions: dict[Branch, ast.expr] = {}
        for branch in {*traced.branches.values()}:
            raising = dict(zip((True, False), branch.raises, strict=True))
            wanted = [one for one in raising if (self.file, branch, one) not in usual and not raising[one]]
            condition = condition_of(branch) if wanted and branch.jumps in TRUE_WHEN else None
            if condition is not None and not isinstance(condition, COMPREHENSIONS):
                self.wanted[branch], self.conditions[branch] = tuple(wanted), condition
        self.lines = {branch.jump_line for branch in self.wanted}

    def drop(self, branch: Branch) -> None:
        """A condition that cannot be measured is not looked at any more."""
        del self.wanted[branch]
        self.lines = {one.jump_line for one in self.wanted}


def condition_of(branch: Branch) -> ast.expr | None:
    """The expression that a conditional jump tests; None where it is no expression by itself."""
    try:
        return ast.parse(f"({branch.condition})", mode="eval").body
    except SyntaxError:
        return None
