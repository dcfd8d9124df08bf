"""What is recorded of a draw: the number itself, or what it was made of where its range depends on the state.

A form makes the call of a generator and gives (what the call gives, what is recorded of it: to be copied):

    value         what the generator returned
    index         a position in 0 ... n - 1: of a choice, or a whole number above its lowest
    unit          u in [0, 1), from which the value follows: low + (high - low) * u, floor(u * n), a search by chances
    normal        z of the standard normal distribution: loc + scale * z
    permutation   p, with result[i] = original[p[i]]

Values are those of NumPy and Python bit for bit, and leave the generator where it would be (tested call by call).
"""

import bisect
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording.sites import generators
from overclock.recording.sites.generators import Drawing
from overclock.recording.sites.parameters import Family, Parameters, family, parameters_of

Result = tuple[Any, Any]
CHANCE_ERROR = float(np.sqrt(np.finfo(np.float64).eps))  # as NumPy lets pass
PYTHON = (generators.RANDOM, generators.PYTHON_MODULE)


def as_value(drawing: Drawing) -> Result:
    """Record what the generator returned."""
    if drawing.method == "shuffle":
        raise _no_form(drawing, "value")
    value = drawing.run()
    return value, value


def as_index(drawing: Drawing) -> Result:
    """Record positions among things that are equally many every time."""
    match family(drawing):
        case Family.WHOLE:
            value = drawing.run()
            return value, _position(value, parameters_of(drawing))
        case Family.CHOICE:
            return _chosen(drawing)
        case _:
            raise _no_form(drawing, "index")


def as_unit(drawing: Drawing) -> Result:
    """Record fractions in [0, 1), for ranges that are others every time."""
    known = parameters_of(drawing)
    match family(drawing):
        case Family.WHOLE:
            value = drawing.run()
            return value, (_position(value, known) + 0.5) / np.asarray(known.n)
        case Family.UNIFORM:
            return _uniform(drawing, known)
        case Family.CHOICE if drawing.source in PYTHON and drawing.method == "choices":
            return _choices(drawing)
        case Family.CHOICE if drawing.arguments.get("p") is not None:
            return _by_chances(drawing)
        case Family.CHOICE:
            value, index = _chosen(drawing)
            return value, (index + 0.5) / known.n
        case Family.UNIT:
            return as_value(drawing)
        case _:
            raise _no_form(drawing, "unit")


def as_normal(drawing: Drawing) -> Result:
    """Record standard normal numbers, for means and widths that are others every time."""
    if family(drawing) is not Family.NORMAL:
        raise _no_form(drawing, "normal")
    known, generator = parameters_of(drawing), drawing.generator
    if drawing.source in PYTHON:
        z = getattr(generator, drawing.method)(0.0, 1.0)
        return known.loc + z * known.scale, np.array(z)
    size = _size(drawing, known.loc, known.scale)
    z = generator.standard_normal(size)
    value = known.loc + np.multiply(known.scale, z)
    return (float(value) if size is None else value), np.array(z)


def as_permutation(drawing: Drawing) -> Result:
    """Record where each item of the result was before."""
    if family(drawing) is not Family.PERMUTATION:
        raise _no_form(drawing, "permutation")
    if drawing.method == "choice":
        return _chosen(drawing)
    generator, given = drawing.generator, drawing.arguments
    if drawing.method == "sample":
        order = generator.sample(range(len(given["population"])), given["k"])
        return [given["population"][place] for place in order], np.array(order, np.int64)
    items = given["x"]
    before, state = _copied(items), _state(generator)
    value = drawing.run()
    after = items if drawing.method == "shuffle" else value
    _restore(generator, state)
    # The same kind of container: generators have a way of their own for each.
    count = parameters_of(drawing).n
    order = np.arange(count).reshape(-1, *(1,) * (np.ndim(before) - 1)) if isinstance(before, np.ndarray) else None
    numbers = list(range(count)) if order is None else order
    drawn = getattr(generator, drawing.method)(numbers)
    found = np.asarray(numbers if drawing.method == "shuffle" else drawn).reshape(-1)
    if not all(_is(after[place], before[origin]) for place, origin in enumerate(found)):
        raise UsageError(f"The order that {drawing.method} gave at {drawing.place} cannot be repeated.")
    return value, found.astype(np.int64)


FORMS: dict[str, Callable[[Drawing], Result]] = {
    "value": as_value, "index": as_index, "unit": as_unit, "normal": as_normal, "permutation": as_permutation,
}  # fmt: skip
DTYPES = {"index": "int64", "unit": "float64", "normal": "float64", "permutation": "int64"}


def _no_form(drawing: Drawing, form: str) -> UsageError:
    return UsageError(f"A call of {drawing.method} ({drawing.place}) has no form '{form}'; correct its draw.")


def _position(value: Any, known: Parameters) -> np.ndarray:
    return (np.asarray(value, np.int64) - known.low) // known.step


def _chosen(drawing: Drawing) -> Result:
    """The item at a chosen position; generators choose a position and look it up, too."""
    given, generator = drawing.arguments, drawing.generator
    if drawing.source in PYTHON and drawing.method == "choice":
        place = generator.choice(range(len(given["seq"])))
        return given["seq"][place], np.array(place, np.int64)
    if drawing.source in PYTHON:
        population, rest = given["population"], {name: given[name] for name in ("weights", "cum_weights", "k")}
        places = generator.choices(range(len(population)), **rest)
        return [population[place] for place in places], np.array(places, np.int64)
    rest = {name: value for name, value in given.items() if name not in ("a", "axis")}
    places = generator.choice(parameters_of(drawing).n, **rest)
    return _items_at(places, given), np.array(places, np.int64)


def _by_chances(drawing: Drawing) -> Result:
    """The search of NumPy's `choice`: where a fraction falls among the cumulative chances."""
    given, generator = drawing.arguments, drawing.generator
    chances = np.asarray(given["p"], np.float64)
    if abs(chances.sum() - 1.0) > CHANCE_ERROR:
        drawing.run()  # which refuses them
    limits = chances.cumsum()
    limits /= limits[-1]
    unit = np.asarray(generator.random(given["size"]))
    places = limits.searchsorted(unit, side="right")
    return _items_at(int(places) if given["size"] is None else places, given), unit.copy()


def _items_at(places: Any, given: dict[str, Any]) -> Any:
    """What NumPy's `choice` gives for positions; of a number of items, the positions themselves."""
    items = np.asarray(given["a"])
    return places if items.ndim == 0 else items.take(np.asarray(places, np.intp), axis=given.get("axis", 0))


def _choices(drawing: Drawing) -> Result:
    given = drawing.arguments
    population, weights = given["population"], given["weights"]
    unit = [drawing.generator.random() for _ in range(given["k"])]
    limits = given["cum_weights"] or (None if weights is None else list(itertools.accumulate(weights)))
    count = len(population)
    if limits is None:
        places = [int(u * (count + 0.0)) for u in unit]
    else:
        places = [bisect.bisect(limits, u * (limits[-1] + 0.0), 0, count - 1) for u in unit]
    return [population[place] for place in places], np.array(unit)


def _uniform(drawing: Drawing, known: Parameters) -> Result:
    low, high = known.low, known.high
    if drawing.source in PYTHON:
        unit = drawing.generator.random()
        return low + (high - low) * unit, np.array(unit)
    size = _size(drawing, low, high)
    unit = drawing.generator.random(size)
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    value = low + (high - low) * unit
    return (float(value) if size is None else value), np.array(unit)


def _size(drawing: Drawing, *bounds: Any) -> Any:
    """The shape of a result: as it was asked for, or as wide as the bounds; None for a plain number."""
    if drawing.arguments["size"] is not None:
        return drawing.arguments["size"]
    shape = np.broadcast_shapes(*(np.shape(bound) for bound in bounds))
    return shape or None


def _copied(items: Any) -> Any:
    if isinstance(items, np.ndarray):
        return items.copy()
    return np.arange(items) if isinstance(items, int | np.integer) else list(items)


def _state(generator: Any) -> Any:
    if isinstance(generator, generators.PlainGenerator):
        return generators.bits(generator).state
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state(legacy=False)


def _restore(generator: Any, state: Any) -> None:
    if isinstance(generator, generators.PlainGenerator):
        generators.bits(generator).state = state
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    else:
        generator.set_state(state)


def _is(a: Any, b: Any) -> bool:
    return a is b or bool(np.array_equal(a, b))
