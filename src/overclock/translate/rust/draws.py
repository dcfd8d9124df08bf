"""Production randomness: the expressions by which `draw_reset` and `draw_step` draw for each site.

Sites have the numbers that the JAX side gives them, so that both draw the same numbers, normal ones excepted.
"""

import math
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const
from overclock.translate.ir.sites import DrawSite
from overclock.translate.rust.elements import Elements
from overclock.translate.rust.index import Place, Places, spread
from overclock.translate.rust.words import ADD, MUL, Text, field_name


def drawn_fields(sites: list[DrawSite], elements: Elements) -> list[str]:
    """One field of a draw struct per site."""
    lines: list[str] = []
    number = 0
    for site in sites:
        shape = site.shape if site.count == 1 else (site.count, *site.shape)
        if site.form == "permutation":
            total = site.arguments["n"]
            text = _permutations(site, number, shape, elements)
            number += math.prod(shape[:-1]) * total
        else:
            text = _numbers(site, number, shape, elements)
            number += math.prod(shape)
        lines.append(f"{field_name(site.name)}: {text},")
    return lines


def _numbers(site: DrawSite, first: int, shape: tuple[int, ...], elements: Elements) -> str:
    return elements.filled(shape, lambda places: _drawn(site, _number(first, shape, places), places, elements))


def _permutations(site: DrawSite, first: int, shape: tuple[int, ...], elements: Elements) -> str:
    total, several = site.arguments["n"], site.arguments["k"]
    if "p" in site.arguments:
        raise UnsupportedError("the Rust printer has no weighted draws without replacement")
    name = elements.helpers.name("permutation")
    outer = shape[:-1]

    def one(places: Places) -> str:
        at = _number(first, (*outer, total), [*places, Place()])
        return f"{name}::<{total}, {several}>(rng, {at})"

    return elements.filled(outer, one)


def _number(first: int, shape: tuple[int, ...], places: Places) -> str:
    """The number of the site of one draw."""
    at = Place(first)
    for axis, place in enumerate(places):
        at = at.plus(place, math.prod(shape[axis + 1 :]))
    if not at.terms:
        return at.text
    return f"{at.text} as u32" if len(at.text) == 1 else f"({at.text}) as u32"


def _drawn(site: DrawSite, at: str, places: Places, elements: Elements) -> str:
    arguments = site.arguments
    match site.form:
        case "unit":
            return f"rng.unit_f64({at})"
        case "normal":
            return f"{elements.helpers.name('normal')}(rng, {at})"
        case "index" if "p" in arguments:
            running = np.cumsum(arguments["p"])
            edges = elements.array((running / running[-1])[:-1])
            return f"{elements.helpers.name('weighted')}(&{edges}, rng.unit_f64({at}))"
        case "index":
            return f"i64::from(rng.integers({at}, {arguments['n']}))"
        case "value" if {"low", "high"} <= arguments.keys():
            low, high = (_argument(arguments[name], places, elements) for name in ("low", "high"))
            return f"rng.uniform_f64({at}, {low.text}, {high.text})"
        case "value" if {"loc", "scale"} <= arguments.keys():
            loc, scale = (_argument(arguments[name], places, elements) for name in ("loc", "scale"))
            return f"{loc.within(ADD)} + {scale.within(MUL)} * {elements.helpers.name('normal')}(rng, {at})"
    raise UnsupportedError(f"the Rust printer has no draws by '{site.method}'")


def _argument(value: Any, places: Places, elements: Elements) -> Text:
    array = np.asarray(value, np.float64)
    return elements.element(Const(array), spread(places, array.shape))
