"""Production randomness: the expressions by which `draw_reset` and `draw_step` draw for each site.

Sites have the numbers that the JAX side gives them, so that both draw the same numbers, normal ones excepted.
"""

import math
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const
from overclock.translate.ir.sites import DrawSite
from overclock.translate.printing.draws import cumulative_chances, leaf_shape, numbered
from overclock.translate.rust.elements import Elements
from overclock.translate.rust.index import Place, Places, spread
from overclock.translate.rust.syntax import Text, field_name, joined


def drawn_fields(sites: list[DrawSite], elements: Elements) -> list[str]:
    """The fields of a draw struct, one for each site, with the expressions that draw them."""
    return [f"{field_name(site.name)}: {_site(site, first, elements)}," for site, first in numbered(sites)]


def _site(site: DrawSite, first: int, elements: Elements) -> str:
    shape = leaf_shape(site)
    if site.form != "permutation":
        return elements.filled(shape, lambda places: _drawn(site, _number(first, shape, places), places, elements))
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
    """The number of one random number of a site, at its place in the array of all of them."""
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
            edges = elements.array(cumulative_chances(arguments["p"]))
            return f"{elements.helpers.name('weighted')}(&{edges}, rng.unit_f64({at}))"
        case "index":
            return f"i64::from(rng.integers({at}, {arguments['n']}))"
        case "value" if {"low", "high"} <= arguments.keys():
            low, high = (_argument(arguments[name], places, elements) for name in ("low", "high"))
            return f"rng.uniform_f64({at}, {low.text}, {high.text})"
        case "value" if {"loc", "scale"} <= arguments.keys():
            loc, scale = (_argument(arguments[name], places, elements) for name in ("loc", "scale"))
            normal = Text(f"{elements.helpers.name('normal')}(rng, {at})")
            return joined("+", (loc, joined("*", (scale, normal)))).text
    raise UnsupportedError(f"the Rust printer has no draws by '{site.method}'")


def _argument(value: Any, places: Places, elements: Elements) -> Text:
    array = np.asarray(value, np.float64)
    return elements.element(Const(array), spread(places, array.shape))
