"""The memory of large samples of draws: a loop bounds it, however many numbers a reset or a step draws."""

import functools

import jax
import jax.numpy as jnp
import pytest

from overclock.recipe.contract import rules
from overclock.recipe.contract.distributions import known_draws
from overclock.recipe.contract.fields import DrawField
from overclock.recipe.contract.sample_statistics import SampleStatistics

MOST_BYTES = 256 << 20  # a sandbox limits the memory of a candidate, which needs some for itself
CASES = 2  # many streams, and many events of one


class Drawing:
    """As much of an environment as its draws need; `method` of the generator gives each of them."""

    def __init__(self, draws):
        self.draws = draws

    def draw_reset(self, rng, params):
        return {one.name: self._drawn(rng, site, one) for site, one in enumerate(self.draws)}

    def draw_step(self, rng, state, params):
        return {name: values + 0 * state["number"] for name, values in self.draw_reset(rng, params).items()}

    def init(self, drawn, params):
        return {"number": jnp.int64(0)}

    def _drawn(self, rng, site, one):
        match one.method:
            case "permutation":
                return rng.permutation(site, one.shape[0])
            case "integers":
                return rng.integers(site, 13, one.shape).astype(jnp.int64)
            case _:
                return rng.uniform(site, 0.0, 1.0, one.shape, dtype=jnp.float64)


PROGRAMS = {
    "cards of a step": [DrawField("cards", "integers", "13", (17,))],
    "as many numbers as are looked at": [DrawField("cards", "integers", "13", (64,))],
    "draws of many kinds": [
        DrawField("order", "permutation", "52", (52,)),
        DrawField("fractions", "random", "", (16,)),
        DrawField("card", "integers", "13", ()),
    ],
    "a large draw": [DrawField("fractions", "random", "", (100_000,))],
    "a large draw that nobody knows": [
        DrawField("cards", "integers", "13", ()), DrawField("rest", "permutation", "...", (5_000,))
    ],
}  # fmt: skip


@pytest.mark.parametrize(("event", "name"), [*(("reset", name) for name in PROGRAMS), ("step", "cards of a step")])
def test_the_memory_of_a_sample_is_bounded(event, name):
    draws = PROGRAMS[name]
    facts = SampleStatistics(known_draws(draws))
    rule = functools.partial(rules.known_reset if event == "reset" else rules.known_step, facts, Drawing(draws), None)
    with jax.enable_x64(True):
        inputs = {rules.LATER: jax.ShapeDtypeStruct((CASES,), jnp.bool_)}
        if event == "step":
            inputs["number"] = jax.ShapeDtypeStruct((CASES, 16), jnp.int64)
        compiled = jax.jit(jax.vmap(rule)).lower(inputs).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < MOST_BYTES
