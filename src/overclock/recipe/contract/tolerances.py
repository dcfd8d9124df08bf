"""How closely two correct programs can agree on a reference's floats: the tolerances of a contract, with their reasons.

One set of rules for contracts that come of watching a reference (new_contract.py) and of translating it
(builtin_agent.py). Whole numbers and flags are exact in every precision. Each element of a float field may be off by a
few roundings of its own size, and by what rounding moves it in the reference itself; no other number counts. float32 is
what people run, so it is judged as well: each step from the reference's own state, and a few steps in a row.
"""

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from overclock.recipe.contract.file import OUTPUTS, Closeness
from overclock.recipe.contract.thresholds import Limits
from overclock.recording.floats import Floats
from overclock.verify.contract import Precision
from overclock.verify.tolerance import Absolute, Tolerance, Whole

EPS: Mapping[str, float] = {"float64": 2.0**-52, "float32": 2.0**-23}
TINY: Mapping[str, float] = {"float64": 2.0**-1022, "float32": 2.0**-126}  # smaller numbers may be flushed to zero
# One step is a formula of some dozen operations and library functions, each off by an ulp or two of its result.
UNITS = 64
SPREAD = 8  # times what was measured at some dozen places, which is hardly the most there is
UNMEASURED = 4 * UNITS  # units of an element's largest value, where the reference could not be asked
# float64: what 100 steps make of one, in a system that is not calm. float32: an inverted pendulum grows by 21 in 16.
HORIZON, SHORT = 100, 16
GROWTH: Mapping[str, float] = {"float64": 1e5, "float32": 16.0}
ACTED = 1000  # times what rounding an action moves in one step: what 100 of these add up to
MIXED_UNITS = 8  # roundings to float32 in one step of a reference that rounds its own state at times
LISTED = 64  # elements of a field that get a number each
ALIKE = 4.0  # elements within this factor share a number

OWN = f"an element may be off by {UNITS} roundings of its own size"
STRAYS = f"and by {SPREAD} times what rounding moves it in the reference, where terms cancel"
SIZES = f"and by {UNMEASURED} roundings of its largest value, since the reference cannot be asked how far it strays"
ROUNDING = "library functions and fused multiply-adds round differently by a few ulp"
ARITHMETIC = "numbers are float32 here and float64 in the reference"
MIXED = "the reference itself keeps this state sometimes in float32 and sometimes in float64"
ACTIONS = "the reference rounds to float32 what it computes from a float32 action alone, others may not do so there"
REWARDS = "rewards are float32 by contract"
CAST = "observations are rounded to float32, possibly to the neighbour"
WHOLES = "what was a whole number each time is equal where it is one"
THRESHOLD = "a state that one step in float32 moves by as much may land on the other side of a threshold"


@dataclasses.dataclass(frozen=True)
class Numbers:
    """What is known about the numbers of a reference.

    - `fields`: float fields of the state (`state.x`), `obs` and `reward`, as `survey_floats` describes them;
    - `listed`: those whose elements may have a number each, because their shape never changes;
    - `rounded_rewards`: a reward is no float32; `single_observations`: observations are float32;
    - `limits`: thresholds as `survey.rounding` finds them, by the names of the contract;
    - `mixed`: a float of the state changes its dtype.
    """

    fields: Mapping[str, Floats]
    listed: frozenset[str] = frozenset()
    rounded_rewards: bool = False
    single_observations: bool = False
    limits: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    mixed: bool = False


def closeness(known: Numbers) -> dict[Precision, Closeness]:
    """The tolerances in both precisions, from what is known about the reference's numbers."""
    return {"float64": _double(known), "float32": _single(known)}


def _double(known: Numbers) -> Closeness:
    step, running = _arithmetic(known, "float64")
    reasons = _reasons(known, ROUNDING)
    for name, one in known.fields.items():
        if any(one.actions):
            moved = SPREAD * np.asarray(one.actions)
            step[name] = _at_least(step[name], moved)
            running[name] = _at_least(running[name], ACTED * moved)
            reasons = [*reasons, ACTIONS] if ACTIONS not in reasons else reasons
    if known.mixed:
        reasons.append(MIXED)
        single, part = _arithmetic(known, "float32")[0], MIXED_UNITS * EPS["float32"]
        for name, one in known.fields.items():
            moved = np.asarray(single[name].absolute)
            step[name] = _at_least(step[name], moved, part)
            running[name] = _at_least(running[name], moved + part * np.asarray(one.largest), part)
    # A reward that was whole each time may be a fraction elsewhere, and is rounded then.
    rewards = known.rounded_rewards or ("reward" in step and all(known.fields["reward"].whole))
    casts = {"obs": (known.single_observations, CAST), "reward": (rewards, REWARDS)}
    for name, (applies, reason) in casts.items():
        if applies and name in step:  # half a spacing by the cast, and as much by a number that was off beforehand
            step[name], running[name] = (
                _at_least(one, np.asarray(TINY["float32"]), EPS["float32"]) for one in (step[name], running[name])
            )
            reasons.append(reason)
    return _finished(known, step, running, reasons, HORIZON)


def _single(known: Numbers) -> Closeness:
    step, running = _arithmetic(known, "float32")
    limits = Limits(dict(known.limits), _margin(known.limits, step), THRESHOLD) if known.limits else None
    return _finished(known, step, running, _reasons(known, ARITHMETIC), SHORT, limits)


def _arithmetic(known: Numbers, precision: Precision) -> tuple[dict[str, Tolerance], dict[str, Tolerance]]:
    """What rounding explains in one step, and in an episode that is synchronised at its reset."""
    step = {name: _one_step(known, name, precision) for name in known.fields}
    return step, {name: _grown(known.fields[name], one, precision) for name, one in step.items()}


def _one_step(known: Numbers, name: str, precision: Precision) -> Tolerance:
    one, eps = known.fields[name], EPS[precision]
    if one.strays is None:
        floor = UNMEASURED * eps * np.asarray(one.largest)
    else:
        # A cast to float32 may hide what is less than half a spacing; it shows where the element comes near zero.
        floor = SPREAD * eps * (np.asarray(one.strays) / EPS["float32"] + np.asarray(one.typical))
    return Tolerance(_listed(known, name, floor + TINY[precision]), _short(UNITS * eps), _whole(known, name))


def _listed(known: Numbers, name: str, floor: np.ndarray) -> Absolute:
    """One number for all elements where they are alike, or where there are too many to list."""
    if floor.size == 0:
        return 0.0
    if name not in known.listed or floor.size > LISTED or floor.max() <= ALIKE * floor.min():
        return _short(float(floor.max()))
    return tuple(map(_short, floor.tolist()))


def _whole(known: Numbers, name: str) -> Whole:
    whole = known.fields[name].whole
    if all(whole) or not any(whole) or name not in known.listed or len(whole) > LISTED:
        return bool(whole) and all(whole)
    return tuple(whole)


def _at_least(one: Tolerance, floor: np.ndarray, relative: float = 0.0) -> Tolerance:
    """The same with parts that are no smaller; `floor` has a number per element, or one for all of them."""
    near = dataclasses.replace(one, relative=max(one.relative, _short(relative)))
    if isinstance(one.absolute, tuple):
        return dataclasses.replace(near, absolute=tuple(map(_short, np.maximum(one.absolute, floor).tolist())))
    return dataclasses.replace(near, absolute=_short(max(one.absolute, float(np.max(floor, initial=0.0)))))


def _finished(
    known: Numbers,
    step: Mapping[str, Tolerance],
    running: Mapping[str, Tolerance],
    reasons: list[str],
    steps: int,
    limits: Limits | None = None,
) -> Closeness:
    """Equality where all is whole; without floats in the state nothing adds up, and a step's tolerances hold on."""
    if all(all(one.whole) for one in known.fields.values()):
        return Closeness()
    if step.keys() <= {*OUTPUTS}:
        return Closeness(_keyed(step), _keyed(step), "; ".join(reasons))
    return Closeness(_keyed(step), _keyed(running), "; ".join(reasons), steps, limits)


def _keyed(tolerances: Mapping[str, Tolerance]) -> dict[str, Tolerance]:
    """By the keys of a contract: state fields without `state.`, unless they are called as an output is."""
    short = {name: name.removeprefix("state.") for name in tolerances}
    return {name if one in OUTPUTS else one: tolerances[name] for name, one in short.items()}


def _grown(field: Floats, step: Tolerance, precision: Precision) -> Tolerance:
    """What many steps make of it: an error comes from where the element was large and stays as it becomes small."""
    growth = GROWTH[precision]
    largest = np.asarray(field.largest) if isinstance(step.absolute, tuple) else max(field.largest, default=0.0)
    absolute = growth * (np.asarray(step.absolute) + UNITS * EPS[precision] * largest)
    listed = tuple(map(_short, absolute.tolist())) if absolute.ndim else _short(float(absolute))
    return dataclasses.replace(step, absolute=listed, relative=_short(step.relative * growth))


def _reasons(known: Numbers, arithmetic: str) -> list[str]:
    measured = [one.strays is not None for one in known.fields.values() if not all(one.whole)]
    parts = [OWN, *([STRAYS] if any(measured) else []), *([] if all(measured) else [SIZES])]
    wholes = [WHOLES] if any(any(one.whole) for one in known.fields.values()) else []
    return [f"{arithmetic}: {' '.join(parts)}", *wholes]


def _margin(limits: Mapping[str, tuple[float, ...]], step: Mapping[str, Tolerance]) -> float:
    """How far one step may move a state next to one of these thresholds."""
    near = [(step[f"state.{place.partition('[')[0]}"], max(map(abs, values))) for place, values in limits.items()]
    return _short(max(one.largest_absolute + one.relative * value for one, value in near))


def _short(value: float) -> float:
    """The value with two digits, rounded up: a person reads it."""
    if not (math.isfinite(value) and value > 1e-300):
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit * (1 - 1e-12)) * unit:.2g}")
