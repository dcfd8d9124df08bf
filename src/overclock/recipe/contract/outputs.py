"""How closely a contract wants values to agree, and at which boundary values its rules are asked."""

import dataclasses

import numpy as np

from overclock.recipe.contract.file import Closeness, ContractFile, StateField
from overclock.recipe.contract.thresholds import FIELDS as LIMITED
from overclock.recipe.contract.thresholds import Limits
from overclock.verify.contract import Precision
from overclock.verify.property.distribution import REASON as CHANCE
from overclock.verify.property.module import Output
from overclock.verify.sides.subject import Arrays
from overclock.verify.tolerance import EXACT, WHOLE, Tolerance

BOUNDARY_STATES = 256
MOST_RELATIVE = 64 * 2.0**-23  # of a tolerance that was given as one number: a few dozen roundings of a float32
CANCELLED = 4  # times the relative part of an element's largest value: nothing is known of a function's terms
WIDER = 1.1  # boundary values reach this far beyond what was seen

Outputs = dict[Precision, tuple[Output, ...]]


def output(name: str, group: str, close: Closeness, exact: bool = False) -> Output:
    """An output with the contract's tolerance for one step; whole numbers and flags are equal."""
    allowed = EXACT if exact else close.of(f"state.{name}" if group == "state" else name, group)[0]
    if allowed and not allowed.relative:
        # Boundary values can be far larger than what play shows, and rounding grows with them.
        allowed = dataclasses.replace(allowed, relative=min(allowed.largest_absolute, MOST_RELATIVE))
    return _held(name, allowed, close.reason)


def of_function(name: str, close: Closeness, expected: np.ndarray) -> Output:
    """A result of a function that is checked alone, whose terms nobody knows: by its own elements' sizes."""
    part = max((one.relative for one in close.per_step.values()), default=0.0)
    if not part or expected.dtype.kind != "f":
        return output(name, "state", close, exact=expected.dtype.kind != "f")
    values = np.asarray(expected, np.float64).reshape(len(expected), -1)
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    whole = ((sizes == np.round(sizes)) & (sizes < WHOLE)).all(axis=0)
    absolute = tuple((CANCELLED * part * sizes.max(axis=0, initial=0.0)).tolist())
    return _held(name, Tolerance(absolute, part, tuple(whole.tolist())), close.reason)


def _held(name: str, allowed: Tolerance, reason: str) -> Output:
    return Output(name, allowed.absolute, allowed.relative, reason if allowed else "", whole=allowed.whole)


def limited(of_step: Output, limits: Limits | None) -> Output:
    """The same output, which may fall either way next to a threshold."""
    if limits is None or of_step.name not in LIMITED:
        return of_step
    reason = "; ".join(filter(None, (of_step.reason, limits.reason)))
    return dataclasses.replace(of_step, reason=reason, distance=limits.distance_after, margin=limits.margin)


def equal(contract: ContractFile, *names: str) -> Outputs:
    """Outputs that must be equal bit for bit."""
    return {precision: tuple(Output(name) for name in names) for precision in contract.precisions}


def by_chance(contract: ContractFile, names: list[str]) -> Outputs:
    """Outputs whose distributions are compared."""
    outputs = tuple(Output(name, distribution=True, reason=CHANCE) for name in names)
    return dict.fromkeys(contract.precisions, outputs)


def close_to(contract: ContractFile, *names: str, state: bool = True, flags: tuple[str, ...] = ()) -> Outputs:
    """State fields and outputs, as closely as the contract says of one step."""
    found: Outputs = {}
    for precision, close in contract.precisions.items():
        fields = [output(field.name, "state", close, field.exact) for field in contract.state] if state else []
        fields += [output(name, name, close) for name in names]
        fields += [Output(flag) for flag in flags]
        found[precision] = tuple(limited(field, close.limits) for field in fields)
    return found


def bounded(contract: ContractFile) -> bool:
    """Whether there are states to begin steps in besides those of play, in a reference that can be put there.

    Without a codec only floats are put at the boundary of what was seen: whole numbers that do not fit together may be
    a state that the rules do not know. With one, states are searched for from those that were seen.
    """
    floats = any(not field.exact and field.low is not None for field in contract.state)
    return contract.set_state and (contract.codec is not None or floats)


def boundary(contract: ContractFile) -> Arrays:
    """States whose floats lie at, beyond and between the ends of what was seen, and at zero; and a choice of action."""
    generator = np.random.default_rng(0)
    rows = [{field.name: boundary_value(field, generator) for field in contract.state} for _ in range(BOUNDARY_STATES)]
    stacked = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return {**stacked, "choice": generator.integers(0, 2**31, BOUNDARY_STATES)}


def boundary_value(field: StateField, generator: np.random.Generator) -> np.ndarray:
    """A value of a field at, beyond or between the ends of what was seen, or zero."""
    if field.low is None or field.high is None:
        return np.zeros(field.shape, field.dtype)
    if field.exact:
        return generator.integers(int(field.low), int(field.high) + 1, field.shape).astype(field.dtype)
    middle, half = (field.low + field.high) / 2, (field.high - field.low) / 2
    choices = [0.0, field.low, field.high, middle - WIDER * half, middle + WIDER * half]
    anywhere = generator.uniform(middle - WIDER * half, middle + WIDER * half, field.shape)
    at_edge = generator.choice(choices, field.shape)
    return np.where(generator.random(field.shape) < 0.5, anywhere, at_edge).astype(field.dtype)
