"""Draws of a generated file: the fields they have, and the expressions that draw them."""

import math
from typing import Any

import numpy as np

from overclock.translate.ir.sites import DrawSite
from overclock.translate.jax.wrap import signature, wrapped


def leaf_shape(site: DrawSite) -> tuple[int, ...]:
    """The shape of all draws of a site in one event."""
    return site.shape if site.count == 1 else (site.count, *site.shape)


def draw_method(cls: str, when: str, sites: list[DrawSite]) -> list[str]:
    """The method that draws for a reset or a step of an environment."""
    if not sites:
        return []
    draw = f"{cls}{when.capitalize()}Draw"
    given = ["self", "rng: Rng", *([] if when == "reset" else [f"state: {cls}State"]), f"params: {cls}Params"]
    lines = [*signature(f"    def draw_{when}", given, draw), f"        return {draw}("]
    number = 0
    for site in sites:
        shape = leaf_shape(site)
        lines += wrapped(f"            {site.name}={_drawn(site, number, shape)},")
        number += max(1, math.prod(_drawn_shape(site, shape)))
    return [*lines, "        )", ""]


def _drawn_shape(site: DrawSite, shape: tuple[int, ...]) -> tuple[int, ...]:
    if site.form == "permutation":
        return (*shape[:-1], site.arguments["n"])
    return shape


def _drawn(site: DrawSite, number: int, shape: tuple[int, ...]) -> str:
    """The expression that draws for a site."""
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
                running = np.cumsum(site.arguments["p"])
                edges = [float(one) for one in (running / running[-1])[:-1]]
                return f'jnp.searchsorted(jnp.array({edges}), rng.unit({number}{size}), side="right").astype(int)'
            return f"rng.integers({number}, {site.arguments['n']}{size}).astype(int)"
    if site.method in ("uniform",):
        low, high = (_argument(site.arguments[name]) for name in ("low", "high"))
        return f"rng.uniform({number}, {low}, {high}{size})"
    loc, scale = (_argument(site.arguments[name]) for name in ("loc", "scale"))
    return f"{loc} + {scale} * rng.normal({number}{size})"


def _argument(value: Any) -> str:
    if np.ndim(value) == 0:
        return repr(float(value))
    return f"jnp.array({np.asarray(value, float).tolist()})"
