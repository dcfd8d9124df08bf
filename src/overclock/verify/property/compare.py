"""One module's outputs against the reference's: how far apart, is that too far, and what shows it first?"""

import numpy as np

from overclock.verify.compare import margins_of, too_many_rare
from overclock.verify.contract import Precision, causes_first
from overclock.verify.property import distribution
from overclock.verify.property.module import Cases, Module, Output
from overclock.verify.property.result import (
    ComparedOutput,
    FirstFailure,
    ModuleComparison,
    WrongCase,
    WrongDistribution,
)
from overclock.verify.sides.subject import Arrays
from overclock.verify.tolerance import Absolute, Tolerance, Whole, compare_values

Compared = tuple[ComparedOutput, FirstFailure | None]


def compare(module: Module, cases: Cases, outputs: Arrays, precision: Precision) -> ModuleComparison:
    """Compare every output of a module in one precision with the reference's."""
    compared: list[Compared] = []
    for output in module.outputs[precision]:
        got = outputs.get(output.name, np.empty((len(cases), 0)))
        compare_one = _compare_samples if output.distribution else _compare_values
        compared.append(compare_one(module, precision, output, cases, got))
    sampled = [output.name for output in module.outputs[precision] if output.distribution]
    if sampled:
        compared.append(_compare_dependence(module, precision, cases, outputs, sampled))
    first = min(
        (failure for _, failure in compared if failure is not None),
        key=lambda failure: causes_first(failure.field), default=None,
    )  # fmt: skip
    fields = [field for field, _ in compared]
    return ModuleComparison(precision=precision, passed=first is None, fields=fields, first_failure=first)


def _compare_values(module: Module, precision: Precision, output: Output, cases: Cases, got: np.ndarray) -> Compared:
    expected = cases.expected[output.name]
    found = compare_values(expected, got, output.tolerance)
    excused = found.wrong & output.near_limit(cases.inputs, cases.expected)
    errors, wrong = np.where(excused, 0.0, found.errors), found.wrong & ~excused
    rare = np.zeros_like(wrong)
    if output.rare and wrong.any():
        rare = wrong & ~compare_values(expected, got, Tolerance(output.rare)).wrong
        if not too_many_rare(int(rare.sum()), len(rare), output.rare_share):
            wrong = wrong & ~rare
    shares = found.shares[~(excused | rare)].max(axis=0, initial=0.0) if output.tolerance else None
    field = ComparedOutput(
        name=output.name, compared=len(errors), largest_error=float(errors.max(initial=0.0)),
        tolerance=output.tolerance.largest_absolute, reason=output.reason, passed=not wrong.any(),
        relative_tolerance=output.relative, excused=int(excused.sum()), rare=int(rare.sum()) or None,
        wide=output.wide or None, **margins_of(shares),
    )  # fmt: skip
    if field.passed:
        return field, None
    case, (error, allowed) = int(np.argmax(wrong)), found.worst()
    return field, WrongCase(
        module=module.name,
        precision=precision,
        field=output.name,
        case=case,
        origin=cases.origin(case),
        inputs={name: values[case].tolist() for name, values in cases.inputs.items()},
        reference=expected[case].tolist(),
        performance=got[case].tolist() if got.shape[:1] == expected.shape[:1] else None,
        error=float(error[case]),
        tolerance=float(allowed[case]),
        relative_tolerance=output.relative,
        wrong=int(wrong.sum()),
        compared=len(wrong),
    )


def _compare_samples(module: Module, precision: Precision, output: Output, cases: Cases, got: np.ndarray) -> Compared:
    expected = cases.expected[output.name]
    found = distribution.distance(expected, got) if expected.shape == got.shape else (np.inf, 0.0)
    return _judged_samples(module, precision, output.name, len(cases), *found)


def _compare_dependence(
    module: Module, precision: Precision, cases: Cases, outputs: Arrays, names: list[str]
) -> Compared:
    expected = {name: cases.expected[name] for name in names}
    got = {name: outputs[name] for name in names if name in outputs}
    same = {name: v.shape for name, v in got.items()} == {name: v.shape for name, v in expected.items()}
    found = distribution.dependence(expected, got) if same else (np.inf, 0.0)
    return _judged_samples(module, precision, "dependence", len(cases), *found)


def _judged_samples(
    module: Module, precision: Precision, name: str, compared: int, error: float, limit: float
) -> Compared:
    field = ComparedOutput(
        name=name, compared=compared, largest_error=float(error), tolerance=float(limit), reason=distribution.REASON,
        passed=bool(error <= limit),
    )  # fmt: skip
    if field.passed:
        return field, None
    return field, WrongDistribution(
        module=module.name, precision=precision, field=name, error=field.largest_error, tolerance=limit,
        compared=compared,
    )  # fmt: skip


def errors_of(
    expected: np.ndarray, got: np.ndarray, absolute: Absolute = 0.0, relative: float = 0.0, whole: Whole = False
) -> tuple[np.ndarray, np.ndarray]:
    """Per case: the largest absolute error, and whether any element is outside its tolerance (see `Tolerance`).

    An infinite gap (see `gaps`) is outside of any tolerance.
    """
    found = compare_values(expected, got, Tolerance(absolute, relative, whole))
    return found.errors, found.wrong
