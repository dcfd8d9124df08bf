"""One module's outputs against the reference's: how far apart, is that too far, and what shows it first?"""

from typing import Any

import numpy as np

from overclock.verify.contract import Precision, gaps
from overclock.verify.property import distribution
from overclock.verify.property.module import Cases, Module, Output
from overclock.verify.sides.subject import Arrays


def compare(module: Module, cases: Cases, outputs: Arrays, precision: Precision) -> dict[str, Any]:
    """Every output of a module in one precision; `first_failure` is None where all are inside their tolerances."""
    fields, first = [], None
    for output in module.outputs[precision]:
        got = outputs.get(output.name, np.empty((len(cases), 0)))
        compare_one = _compare_samples if output.distribution else _compare_values
        field, failure = compare_one(output, cases, got)
        fields.append(field)
        first = first or failure
    sampled = [output.name for output in module.outputs[precision] if output.distribution]
    if sampled:
        field, failure = _compare_dependence(cases, outputs, sampled)
        fields.append(field)
        first = first or failure
    if first is not None:
        first = {"module": module.name, "precision": precision, **first}
    return {"precision": precision, "passed": first is None, "fields": fields, "first_failure": first}


def _compare_values(output: Output, cases: Cases, got: np.ndarray) -> tuple[dict[str, Any], dict[str, Any] | None]:
    expected = cases.expected[output.name]
    errors, wrong = errors_of(expected, got, output.absolute, output.relative)
    excused = wrong & output.near_limit(cases.inputs, cases.expected)
    errors, wrong = np.where(excused, 0.0, errors), wrong & ~excused
    field = _field(output.name, len(errors), errors.max(initial=0.0), output.absolute, not wrong.any(), output.reason)
    field |= {"relative_tolerance": output.relative, "excused": int(excused.sum())}
    if field["passed"]:
        return field, None
    case = int(np.argmax(wrong))
    return field, {
        "field": output.name,
        "case": case,
        "origin": cases.origin(case),
        "inputs": {name: values[case].tolist() for name, values in cases.inputs.items()},
        "reference": expected[case].tolist(),
        "performance": got[case].tolist() if got.shape[:1] == expected.shape[:1] else None,
        "error": float(errors[case]),
        "tolerance": output.absolute,
        "relative_tolerance": output.relative,
        "wrong": int(wrong.sum()),
        "compared": len(wrong),
    }


def _compare_samples(output: Output, cases: Cases, got: np.ndarray) -> tuple[dict[str, Any], dict[str, Any] | None]:
    expected = cases.expected[output.name]
    error, limit = distribution.distance(expected, got) if expected.shape == got.shape else (np.inf, 0.0)
    return _judged_samples(output.name, len(cases), error, limit)


def _compare_dependence(
    cases: Cases, outputs: Arrays, names: list[str]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    expected = {name: cases.expected[name] for name in names}
    got = {name: outputs[name] for name in names if name in outputs}
    same = {name: v.shape for name, v in got.items()} == {name: v.shape for name, v in expected.items()}
    error, limit = distribution.dependence(expected, got) if same else (np.inf, 0.0)
    return _judged_samples("dependence", len(cases), error, limit)


def _judged_samples(
    name: str, compared: int, error: float, limit: float
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """A distribution has no single case to show; it is wrong as a whole."""
    field = _field(name, compared, error, limit, error <= limit, distribution.REASON)
    failure = {"field": name, "case": None, "error": field["largest_error"], "tolerance": limit, "compared": compared}
    return field, None if field["passed"] else failure


def _field(name: str, compared: int, error: float, tolerance: float, passed: bool, reason: str) -> dict[str, Any]:
    return {
        "name": name,
        "compared": compared,
        "largest_error": float(error),
        "tolerance": float(tolerance),
        "reason": reason,
        "passed": bool(passed),
    }


def errors_of(
    expected: np.ndarray, got: np.ndarray, absolute: float = 0.0, relative: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Per case: the largest absolute error, and whether any element is outside its tolerance.

    An infinite gap (see `gaps`) is outside of any tolerance.
    """
    gap, values = gaps(expected, got), np.abs(expected.reshape(len(expected), -1))
    allowed = absolute + relative * np.where(np.isfinite(values), values, 0.0)
    return gap.max(axis=1, initial=0.0), np.any(np.isinf(gap), axis=1) | np.any(gap > allowed, axis=1)
