"""What the judge says about a candidate at one level, and the facts a repair starts from."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from overclock.errors import UsageError
from overclock.results import Values, absent, decode
from overclock.verify.interaction.result import InteractionLevel
from overclock.verify.property.result import FirstFailure, ModuleComparison, PropertyLevel, WrongCase
from overclock.verify.repro.result import ReproSummary
from overclock.verify.result import RunLevel
from overclock.verify.rollout.result import Divergence, RolloutLevel
from overclock.verify.text import where_text

Level = int | Literal["held-out"]
HYGIENE = 0
HELD_OUT: Literal["held-out"] = "held-out"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedFunction:
    """One function of a module that comes before the environment, compared in every precision."""

    name: str
    comparisons: list[ModuleComparison]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FunctionsGate:
    """Whether the candidate has every function that was recorded of the reference."""

    passed: bool
    not_exercised: list[str] = dataclasses.field(default_factory=list)
    missing: list[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FunctionsLevel:
    """Level 1 of a module that comes before the environment; `not_checked` says why the other functions are not."""

    level: Literal[1] = 1
    name: Literal["functions"] = "functions"
    verdict: Literal["pass", "fail"]
    modules: list[ComparedFunction]
    first_failure: FirstFailure | None
    gate: FunctionsGate
    not_checked: dict[str, str]


JudgedLevel = FunctionsLevel | RunLevel


@dataclasses.dataclass(frozen=True, kw_only=True)
class SurveyedReference:
    """What the survey says of a reference that an agent wrote from a specification."""

    survey: Values


@dataclasses.dataclass(frozen=True, kw_only=True)
class DivergenceFacts:
    """A first divergence as the repair prompt names its parts."""

    step: int
    field: str
    reference: object
    performance: object
    error: float
    tolerance: float
    action: object
    seed: int
    state: Values


@dataclasses.dataclass(frozen=True, kw_only=True)
class Failure:
    """What is wrong with a candidate, in sentences; `module`, `field` and `step` are None where they are not known.

    `modules` are all those of level 1 that differ. `inputs` are those of the first wrong case, None elsewhere.
    """

    level: Level
    sentence: str
    sentences: list[str]
    module: str | None = None
    field: str | None = None
    step: int | None = None
    modules: list[str] | None = absent()
    inputs: Values | None = absent()
    divergence: DivergenceFacts | None = absent()
    repro: ReproSummary | None = absent()


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One level's answer. `failure` is what a repair prompt may say; a held-out failure says nothing but that."""

    level: Level
    verdict: str  # pass, fail, inconclusive, could not verify
    tests_passed: int
    tests_total: int
    failure: Failure | None = None
    report: JudgedLevel | SurveyedReference | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the candidate may go on."""
        return self.verdict == "pass"


def failure(level: Level, sentences: list[str], **facts: Any) -> Failure:
    """A failure at a level, told by its first sentence where one must do."""
    return Failure(level=level, sentence=sentences[0] if sentences else "", sentences=sentences, **facts)


def verdict_of(facts: Values, report: Any = None) -> Verdict:
    """A verdict from what the journal says of it, and from the report of its level as JSON values."""
    names = ("level", "verdict", "tests_passed", "tests_total", "failure")
    return dataclasses.replace(decode(Verdict, {name: facts[name] for name in names}), report=kept_level(report))


def kept_level(report: Any) -> JudgedLevel | None:
    """The result of a level from its report as JSON values; None where it is not that of a level."""
    try:
        return decode(JudgedLevel, report) if isinstance(report, Mapping) else None
    except UsageError:  # of an earlier version
        return None


def count(level: JudgedLevel) -> tuple[int, int]:
    """(passed, all) of a level's result: compared outputs, scenarios and checks, fields, groups of policies."""
    if isinstance(level, PropertyLevel | FunctionsLevel):
        outcomes = [field.passed for comparison in _comparisons(level) for field in comparison.fields]
        outcomes.append(level.gate.passed)
    elif isinstance(level, InteractionLevel):
        outcomes = [scenario.verdict == "pass" for scenario in level.scenarios]
        outcomes += [check.passed for check in level.metamorphic]
    elif isinstance(level, RolloutLevel):
        outcomes = [field.passed for comparison in level.comparisons for field in comparison.fields]
        outcomes += [] if level.reached is None else [level.reached.complete]
        outcomes += [] if level.outcomes is None else [level.outcomes.verdict == "pass"]
    else:
        outcomes = [group.verdict == "equivalent" for group in level.groups]
    return sum(outcomes), len(outcomes)


def failure_of(level: JudgedLevel, more: Sequence[str] = ()) -> Failure:
    """What is wrong, from the result of a level that did not pass, and what was found besides."""
    if isinstance(level, PropertyLevel | FunctionsLevel):
        found = _property(level)
    elif isinstance(level, InteractionLevel):
        found = _interaction(level)
    elif isinstance(level, RolloutLevel):
        found = _rollout(level)
    else:
        found = failure(4, [level.summary])
    sentences = [*found.sentences, *more] or [f"Level {level.level} did not pass."]
    return dataclasses.replace(found, sentence=sentences[0], sentences=sentences)


def _comparisons(level: PropertyLevel | FunctionsLevel) -> list[ModuleComparison]:
    return [comparison for module in level.modules for comparison in module.comparisons]


def first_failures(level: PropertyLevel | FunctionsLevel) -> dict[str, FirstFailure]:
    """The first failure of every module that differs, by the module's name."""
    found: dict[str, FirstFailure] = {}
    for module in level.modules:
        for comparison in module.comparisons:
            if comparison.first_failure is not None:
                found.setdefault(module.name, comparison.first_failure)
    return found


def _property(level: PropertyLevel | FunctionsLevel) -> Failure:
    sentences, firsts = [], first_failures(level)
    for module in level.modules:
        first = firsts.get(module.name)
        if first is None:
            continue
        wrong = dict.fromkeys(field.name for c in module.comparisons for field in c.fields if not field.passed)
        example = (
            f" For the inputs {first.inputs} the reference gives {first.field} = {first.reference}, the "
            f"candidate {first.performance}.{_worst(first)}"
        ) if isinstance(first, WrongCase) else ""  # fmt: skip
        where, verb = _where(first.precision), "differs" if len(wrong) == 1 else "differ"
        sentences.append(f"{module.name}: {', '.join(wrong)} {verb} from the reference{where}.{example}")
    gate = level.gate
    if isinstance(gate, FunctionsGate) and gate.missing:
        sentences.append(f"Not there: {', '.join(gate.missing)}; keep the names of the reference's functions.")
    if gate.not_exercised:
        unused = ", ".join(name.rpartition(":")[2] for name in gate.not_exercised)
        sentences.append(f"Never called by any function of the contract: {unused}; remove what is not needed.")
    first, modules = level.first_failure, list(firsts)
    if first is None:
        return failure(1, sentences, modules=modules)
    inputs = first.inputs if isinstance(first, WrongCase) else None
    return failure(1, sentences, modules=modules, module=first.module, field=first.field, inputs=inputs)


def _worst(first: WrongCase) -> str:
    """Which element of an array is furthest beyond what is allowed; the others may differ in a last digit."""
    reference, performance = np.asarray(first.reference), np.asarray(first.performance)
    kinds = {reference.dtype.kind, performance.dtype.kind}
    if not reference.shape or reference.shape != performance.shape or not kinds <= set("iuf"):
        return ""
    errors = np.nan_to_num(np.abs(reference.astype(float) - performance.astype(float)), nan=np.inf)
    with np.errstate(invalid="ignore"):
        worst = np.argmin(np.nan_to_num(np.abs(errors - first.error), nan=0.0))  # infinite ones are all the same
    place = [int(one) for one in np.unravel_index(worst, errors.shape)]
    return f" Element {place} is off by {first.error:.3g}; {first.tolerance:.3g} is allowed there."


def _where(precision: str | None) -> str:
    """What is wrong in float32 alone is not found by looking at it in float64."""
    return " in float32" if precision == "float32" else ""


def _interaction(level: InteractionLevel) -> Failure:
    sentences, field, step = [], None, None
    for scenario in level.scenarios:
        found = scenario.first_mismatch
        if found is not None:
            field, step = field or found.field, found.step if step is None else step
            sentences.append(
                f"In the scenario '{scenario.name}' ({scenario.why}) {found.field} is {found.performance} "
                f"after step {found.step}{_where(found.precision)}, the reference says {found.reference}."
            )
    for check in level.metamorphic:
        if not check.passed:
            field = field or check.worst_field
            sentences.append(
                f"The environment does not agree with itself ({check.name}): {check.worst_field} is off by "
                f"{check.largest_error:.3g} {check.unit}."
            )
    sentences += [scenario.stale for scenario in level.scenarios if scenario.stale]
    if not level.scenarios:
        sentences.append("There are no scenarios.")
    return failure(2, sentences, field=field, step=step)


def _rollout(level: RolloutLevel) -> Failure:
    found = [(one.first_divergence, one.precision) for one in level.comparisons if one.first_divergence is not None]
    if not found and level.verdict == "inconclusive" and level.reached is not None:
        said = [f"No comparison took {one.text}." for one in level.reached.missing]
        said += [f"{one[0].upper()}{one[1:]}." for one in level.reached.unusable]
        return failure(3, ["Whole episodes agree, but branches of the reference were not compared.", *said])
    outcomes = level.outcomes
    if not found and outcomes is not None and outcomes.verdict == "fail":
        first = outcomes.first
        where = {} if first is None else {"field": first.field, "step": first.step}
        return failure(3, [f"Every step is right on its own, but {outcomes.sentence}."], **where)
    if not found:  # flags excused too often, or what is compared beside episodes alone
        return failure(3, [f"Whole episodes agree, but {where_text(level)}."])
    first, precision = min(found, key=lambda one: one[0].step)
    sentence = (
        f"{first.field} is {first.performance} after step {first.step} of the episode with seed "
        f"{first.episode_seed}{_where(precision)}, the reference says {first.reference}."
    )
    return failure(3, [sentence], field=first.field, step=first.step, divergence=divergence(first))


def divergence(first: Divergence) -> DivergenceFacts:
    """A first divergence as the repair prompt names its parts."""
    return DivergenceFacts(
        step=first.step, field=first.field, reference=first.reference, performance=first.performance,
        error=first.error, tolerance=first.tolerance, action=first.action, seed=first.episode_seed,
        state=first.state_before,
    )  # fmt: skip
