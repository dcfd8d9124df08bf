"""Very large samples beside the distributions that a contract names: right ones pass, and nearly right ones do not."""

import jax.numpy as jnp
import numpy as np
import pytest

from overclock.recipe.contract.distributions import known, known_draws
from overclock.recipe.contract.fields import DrawField
from overclock.recipe.contract.file import Closeness, ContractFile
from overclock.recipe.contract.sample_statistics import SampleStatistics

CONTRACT = ContractFile((), precisions={"float64": Closeness()})
LUCK = np.random.default_rng(5)


def plain(method, arguments="", shape=()):
    return DrawField("x", method, arguments, shape)


def at_site(form, arguments, shape=(), count=1, method="choice"):
    return DrawField("x", method, arguments, shape, "pond.py:3:4", form, count, "Generator", "float64")


def orders(n, k=None):
    return lambda count: LUCK.permuted(np.tile(np.arange(n), (count, 1)), axis=1)[:, :k]


def wrong(draw, sample):
    """The facts of a sample that are not as they should be, by NumPy and by JAX."""
    facts = SampleStatistics(known_draws([draw]))
    values = {"x": sample(facts.events)}
    expected, found = facts.expected(), []
    for xp in (np, jnp):
        told = facts.of(xp, values)
        outputs = facts.outputs(CONTRACT)["float64"]
        found.append([
            one.name
            for one in outputs
            if np.abs(np.asarray(told[one.name], float) - expected[one.name].astype(float)).max() > one.absolute
        ])  # fmt: skip
    assert found[0] == found[1]
    return found[0]


RIGHT = {
    "uniform": (plain("uniform", "-1.0, 1.0"), lambda n: LUCK.uniform(-1, 1, n)),
    "uniform with a bound for each": (
        plain("uniform", "low=[-3.0, -1.0], high=[3.0, 1.0]", (2,)), lambda n: LUCK.uniform([-3, -1], [3, 1], (n, 2))),
    "a constant": (plain("integers", "1"), lambda n: np.zeros(n, int)),
    "a short way from zero": (
        plain("uniform", "1000.0, 1001.0"), lambda n: LUCK.uniform(1000, 1001, n).astype(np.float32)),
    "of single precision": (
        plain("uniform", "-1.0, 1.0"), lambda n: (LUCK.integers(0, 2**24, n) * 2.0**-23 - 1).astype(np.float32)),
    "unit": (plain("random"), lambda n: LUCK.random(n)),
    "normal": (plain("normal", "1.0, scale=2.0"), lambda n: LUCK.normal(1, 2, n)),
    "integers": (plain("integers", "1, 7"), lambda n: LUCK.integers(1, 7, n)),
    "integers with the last one": (plain("integers", "0, 3, endpoint=True"), lambda n: LUCK.integers(0, 4, n)),
    "many integers": (plain("integers", "100000"), lambda n: LUCK.integers(0, 100_000, n)),
    "a choice": (plain("choice", "[3, 5, 9]"), lambda n: LUCK.choice([3, 5, 9], n)),
    "a choice by chances": (
        plain("choice", "3, p=[0.5, 0.25, 0.25]"), lambda n: LUCK.choice(3, n, p=[0.5, 0.25, 0.25])),
    "some without replacement": (plain("choice", "9, size=4, replace=False", (4,)), orders(9, 4)),
    "an order": (plain("permutation", "13", (13,)), orders(13)),
    "an index": (at_site("index", "n=13", (12,), 12), lambda n: LUCK.integers(0, 13, (n, 12))),
    "an index by chances": (at_site("index", "n=2, p=(0.9, 0.1)"), lambda n: LUCK.choice(2, n, p=[0.9, 0.1])),
    "a fraction": (at_site("unit", "n=5"), lambda n: LUCK.random(n)),
    "a bell": (at_site("normal", "", method="gauss"), lambda n: LUCK.standard_normal(n)),
    "an order at a site": (at_site("permutation", "n=6, k=6", (6,), method="shuffle"), orders(6)),
    "a value": (at_site("value", "loc=1.0, scale=2.0", method="gauss"), lambda n: LUCK.normal(1, 2, n)),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_sample_of_the_distribution_passes(name):
    assert wrong(*RIGHT[name]) == []


WRONG = {
    "numbers of sixteen bits": (
        plain("uniform", "-1.0, 1.0"), lambda n: np.round(LUCK.uniform(-1, 1, n) * 2**15) / 2**15, "fine"),
    "without its ends": (plain("uniform", "-1.0, 1.0"), lambda n: LUCK.uniform(-0.9995, 0.9995, n), "surprise"),
    "a bell without its ends": (
        plain("normal", "0.0, 1.0"), lambda n: np.clip(LUCK.normal(0, 1, n), -3.3, 3.3), "surprise"),
    "a rare value that never comes": (
        plain("choice", "3, p=[0.5, 0.0005, 0.4995]"), lambda n: LUCK.choice(3, n, p=[0.5, 0, 0.5]), "surprise"),
    "a rare value twice as often": (
        plain("choice", "3, p=[0.5, 0.002, 0.498]"), lambda n: LUCK.choice(3, n, p=[0.5, 0.004, 0.496]), "surprise"),
    "a little narrower": (plain("uniform", "-1.0, 1.0"), lambda n: LUCK.uniform(-0.97, 1, n), "distance"),
    "a rare outlier": (
        plain("uniform", "-1.0, 1.0"), lambda n: np.where(LUCK.random(n) < 1e-3, 1.5, LUCK.uniform(-1, 1, n)), "come"),
    "a wider bell": (plain("normal", "0.0, 1.0"), lambda n: LUCK.normal(0, 1.05, n), "distance"),
    "a die with a seventh face": (plain("integers", "1, 7"), lambda n: LUCK.integers(1, 8, n), "distance"),
    "a loaded die": (
        plain("integers", "1, 7"), lambda n: LUCK.choice(6, n, p=[0.18, 0.16, 0.16, 0.16, 0.16, 0.18]) + 1, "distance"),
    "a card that comes twice": (plain("permutation", "13", (13,)), lambda n: LUCK.integers(0, 13, (n, 13)), "come"),
    "two draws that are one": (
        plain("uniform", "0.0, 1.0, size=2", (2,)), lambda n: np.repeat(LUCK.random((n, 1)), 2, axis=1), "within"),
    "draws that come in pairs": (plain("random"), lambda n: np.repeat(LUCK.random(n // 2), 2), "later event"),
    "draws that come again": (
        plain("uniform", "-1.0, 1.0"),
        lambda n: np.resize(np.tile(LUCK.uniform(-1, 1, (n // 128 + 1, 64)), 2).ravel(), n), "later event"),
    "draws as large as the last": (
        plain("uniform", "-1.0, 1.0"),
        lambda n: np.repeat(LUCK.uniform(-1, 1, n // 2), 2) * LUCK.choice([-1, 1], n), "later event"),
    "two draws that are equally large": (
        plain("uniform", "-1.0, 1.0, size=2", (2,)),
        lambda n: np.repeat(LUCK.uniform(-1, 1, (n, 1)), 2, axis=1) * LUCK.choice([-1, 1], (n, 2)), "sizes within"),
    "one is as large as the other is high": (
        plain("uniform", "-1.0, 1.0, size=2", (2,)),
        lambda n: np.stack([v := LUCK.uniform(-1, 1, n), (v + 1) / 2 * LUCK.choice([-1, 1], n)], 1), "sizes within"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_sample_of_another_distribution_is_told_apart(name):
    draw, sample, says = WRONG[name]
    assert any(says in fact for fact in wrong(draw, sample))


@pytest.mark.parametrize(
    "draw",
    [
        plain("uniform", "..., ..."), plain("uniform", "2.0, 2.0"), plain("integers", "low=..., high=3"),
        plain("poisson", "3.0"),
        plain("choice", "['a', 'b']"), plain("shuffle", "...", (3,)), plain("choice", "[0.1, 0.2, 0.3, 0..."),
        at_site("permutation", "n=4, k=2, p=(0.7, 0.1, 0.1, 0.1)", (2,)),
        at_site("value", "lam=2.0", method="poisson"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_guessed(draw):
    assert known(draw) is None


def test_many_numbers_at_once_get_along_with_fewer_events():
    facts = SampleStatistics(known_draws([plain("random", "size=4096", (4096,))]))
    assert facts.events == 512
    assert len(facts.expected()["distance of x from random(size=4096)"]) == 64
