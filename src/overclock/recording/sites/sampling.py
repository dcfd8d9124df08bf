"""What a site might have drawn where it was not reached: a fresh record of the distribution that it describes.

Draws inside a branch are recorded in some resets only. To compare their distribution with the other side's, which
always draws, the places left open are filled with numbers that the reference would have drawn there.
"""

import random
from collections.abc import Sequence

import numpy as np

from overclock.recording.sites.generators import GENERATOR, NUMPY_MODULE, RANDOM_STATE, PlainRandomState
from overclock.recording.sites.parameters import FAMILIES, Family
from overclock.recording.sites.recorder import Site, fitting

MAKERS = {GENERATOR: np.random.default_rng, RANDOM_STATE: PlainRandomState, NUMPY_MODULE: PlainRandomState}


def sample(site: Site, seed: Sequence[int]) -> np.ndarray:
    """One record drawn from the distribution of a site; equal seeds give equal records."""
    generator, given = np.random.default_rng(list(seed)), dict(site.arguments)
    match site.form:
        case "index" if "p" in given:
            record = generator.choice(given["n"], site.shape, p=given["p"])
        case "index":
            record = generator.integers(0, given["n"], site.shape)
        case "unit":
            record = generator.random(site.shape)
        case "normal":
            record = generator.standard_normal(site.shape)
        case "permutation":
            record = generator.choice(given["n"], site.shape, replace=False, p=given.get("p"))
        case _:
            record = _value(site, generator)
    return fitting(site, np.asarray(record))


def _value(site: Site, generator: np.random.Generator) -> np.ndarray:
    given = dict(site.arguments)
    match FAMILIES.get(site.method, Family.OTHER):
        case Family.UNIFORM:
            return generator.uniform(given["low"], given["high"], site.shape)
        case Family.NORMAL:
            return generator.normal(given["loc"], given["scale"], site.shape)
        case Family.UNIT:
            return generator.random(site.shape)
        case _:
            maker = MAKERS.get(site.source, random.Random)(int(generator.integers(2**31)))
            return np.asarray(getattr(maker, site.method)(*given.pop("args", ()), **given))
