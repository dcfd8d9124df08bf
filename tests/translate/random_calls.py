"""Functions that draw random numbers in every way there is; the tests find the draws by their lines."""

import random
from random import choice as pick

import numpy as np
from numpy.random import default_rng


def from_modules():
    return np.random.uniform(0.0, 1.0), np.random.randint(5), random.random(), pick("abc")


def seeds_itself():
    np.random.seed(7)
    random.seed(7)
    return np.random.uniform(), random.random()


def from_instances(seed):
    state, python, generator = np.random.RandomState(seed), random.Random(seed), default_rng(seed)
    return state.rand(2), python.randint(1, 6), generator.integers(3)


def over_lines(generator):
    return (
        generator
        .uniform(
            0.0,
            1.0,
        )
    )  # fmt: skip


def starred(generator, *bounds):
    return generator.uniform(*bounds)


def in_loop(generator, times):
    return [generator.random() for _ in range(times)]


def in_place(generator):
    drawn = generator.random(3)
    drawn *= 0.0
    return drawn


def by_chance(generator, low, n, p, scale):
    whole = generator.integers(low, low + n)
    one = generator.choice(n)
    weighted = generator.choice(len(p), p=p)
    between = generator.uniform(low, low + scale)
    normal = generator.normal(low, scale)
    return whole, one, weighted, between, normal


def shuffled(generator, items):
    generator.shuffle(items)
    return items


def careless(generator):
    try:
        return generator.random()
    except Exception:
        return 0.0


class Wanderer:
    """Keeps generators that nobody seeds at a reset."""

    def __init__(self):
        self.slope = np.random.uniform(1.0, 2.0)
        self.own, self.given = default_rng(), np.random.RandomState(7)
        self.place = 0.0

    def reset(self):
        self.place = self.own.normal()
        return self.place

    def step(self):
        self.place += self.given.rand() + random.random()
        return self.place
