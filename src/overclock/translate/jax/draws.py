"""Draws of a generated file: the fields they have, and the expressions that draw them."""

from typing import Any

import numpy as np

from overclock.translate.ir.sites import DrawSite
from overclock.translate.jax.line_breaking import signature, wrapped
from overclock.translate.printing.draws import cumulative_chances, leaf_shape, numbered


def draw_method(cls: str, when: str, sites: list[DrawSite]) -> list[str]:
    """The lines of the method that draws for a reset or a step (`when`); none where it draws nothing."""
    if not sites:
        return []
    draw = f"{cls}{when.capitalize()}Draw"
    given = ["self", "rng: Rng", *([] if when == "reset" else [f"state: {cls}State"]), f"params: {cls}Params"]
    lines = [*signature(f"    def draw_{when}", given, draw), f"        return {draw}("]
    for site, number in numbered(sites):
        lines += wrapped(f"            {site.name}={_drawn(site, number, leaf_shape(site))},")
    return [*lines, "        )", ""]


def _drawn(site: DrawSite, number: int, shape: tuple[int, ...]) -> str:
    size = f", shape={shape}" if shape else ""
    match site.form:
        case "unit":
            return f"rng.unit({number}{size})"
        case "normal":
            return f"rng.normal({number}{size})"
        case "permutation":
            total, several = site.arguments["n"], site.arguments["k"]
            order = f"jnp.argsort(rng.unit({number}, shape={(*shape[:-1], total)}), axis=-1)"
            return order + (f"[..., :{several}]" if several < total else "") + ".astype(int)"
        case "index":
            if "p" in site.arguments:
                edges = cumulative_chances(site.arguments["p"]).tolist()
                return f'jnp.searchsorted(jnp.array({edges}), rng.unit({number}{size}), side="right").astype(int)'
            return f"rng.integers({number}, {site.arguments['n']}{size}).astype(int)"
    if site.method == "uniform":
        low, high = (_argument(site.arguments[name]) for name in ("low", "high"))
        return f"rng.uniform({number}, {low}, {high}{size})"
    loc, scale = (_argument(site.arguments[name]) for name in ("loc", "scale"))
    return f"{loc} + {scale} * rng.normal({number}{size})"


def _argument(value: Any) -> str:
    if np.ndim(value) == 0:
        return repr(float(value))
    return f"jnp.array({np.asarray(value, float).tolist()})"
