"""Metamorphic checks, which need no reference: a Rust candidate must agree with itself however its lanes are run.

Unlike JAX's, all of these run one compiled program on the same numbers, so they must agree bit for bit. (There is no
eager form of the code and no scan, and resets are ours.) The grader judges the numbers by RULES.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from overclock.recipe.judging.rust.library import Library, named
from overclock.results import encode
from overclock.verify.interaction.metamorphic_rules import EXACT, STEPS, Rule, verdict
from overclock.verify.sides.subject import Arrays
from overclock.verify.tolerance import difference

LANES, FEW_LANES, THREADS = 8, 3, 4
RULES: Mapping[str, Rule] = {
    "same seed twice": Rule(0.0, EXACT, STEPS),
    "save and restore": Rule(0.0, EXACT, STEPS // 2),
    "permuted batch": Rule(0.0, EXACT, STEPS),
    "batch sizes": Rule(0.0, EXACT, STEPS),
    "batch and single": Rule(0.0, EXACT, STEPS),
    "one thread and many": Rule(0.0, EXACT, STEPS),
}


class Leg(NamedTuple):
    """One step of a batch: where it began, what was done, and what came of it."""

    states: np.ndarray
    actions: np.ndarray
    draws: np.ndarray
    outcome: Arrays


def check(library: Library, name: str, seed: int = 0) -> dict[str, Any]:
    """Run the metamorphic check `name` and judge it by RULES."""
    journey, middle = travel(library, seed), STEPS // 2
    match name:
        case "same seed twice":
            pairs = _pairs(travel(library, seed), journey)
        case "save and restore":
            pairs = _pairs(_resumed(library, journey[middle:]), journey[middle:])
        case "permuted batch":
            order = np.random.default_rng(seed).permutation(LANES)
            pairs = [_again(library, leg, order) for leg in journey]
        case "batch sizes":
            pairs = [_again(library, leg, np.arange(FEW_LANES)) for leg in journey]
        case "batch and single":
            pairs = [_again(library, leg, np.array([n % LANES])) for n, leg in enumerate(journey)]
        case "one thread and many":
            pairs = [_again(library, leg, np.arange(LANES), THREADS) for leg in journey]
        case _:
            raise ValueError(f"there is no check '{name}'")
    return encode(verdict(name, *_worst(pairs), rules=RULES))


def travel(library: Library, seed: int) -> list[Leg]:
    """Step a batch under random legal actions; lanes that end start again."""
    generator = np.random.default_rng(seed)
    keys = library.streams(np.arange(seed, seed + LANES))
    states = library.init(library.draw_reset(keys))
    legs = []
    for _ in range(STEPS):
        keys = keys + np.array([0, 0, 1], np.uint32)
        actions, draws = _actions(library, generator, states), library.draw_step(keys, states)
        leg = Leg(states, actions, draws, {})
        after, outcome = _step(library, leg)
        legs.append(leg._replace(outcome=outcome))
        states = np.where(outcome["terminated"], library.init(library.draw_reset(keys)), after)
    return legs


def _resumed(library: Library, legs: list[Leg]) -> list[Leg]:
    """The same steps, each from a state that was written to bytes and read back."""
    stored = [np.frombuffer(leg.states.tobytes(), library.state_dtype) for leg in legs]
    return [
        leg._replace(outcome=_step(library, leg._replace(states=s))[1]) for leg, s in zip(legs, stored, strict=True)
    ]


def _again(library: Library, leg: Leg, lanes: np.ndarray, threads: int = 1) -> tuple[Arrays, Arrays]:
    """Some lanes of a step as a batch of their own, beside what the whole batch showed of them."""
    part = Leg(leg.states[lanes], leg.actions[lanes], leg.draws[lanes], {})
    _, outcome = _step(library, part, threads)
    return outcome, {name: values[lanes] for name, values in leg.outcome.items()}


def _step(library: Library, leg: Leg, threads: int = 1) -> tuple[np.ndarray, Arrays]:
    after, reward, terminated = library.transition(leg.states, leg.actions, leg.draws, threads)
    mask = library.action_mask(after, threads)
    shown = {"obs": library.observe(after, threads), "reward": reward, "terminated": terminated}
    return after, {**named(after), **shown, **({} if mask is None else {"action_mask": mask})}


def _pairs(one: list[Leg], other: list[Leg]) -> list[tuple[Arrays, Arrays]]:
    return [(a.outcome, b.outcome) for a, b in zip(one, other, strict=True)]


def _worst(pairs: list[tuple[Arrays, Arrays]]) -> tuple[int, float, str]:
    """(how many were compared, the largest error, the field that has it)."""
    largest, worst = 0.0, ""
    for one, other in pairs:
        for name, values in other.items():
            error = float(difference(values, one[name]).max(initial=0.0))
            if error > largest:
                largest, worst = error, name
    return len(pairs), largest, worst


def _actions(library: Library, generator: np.random.Generator, states: np.ndarray) -> np.ndarray:
    space, mask = library.actions, library.action_mask(states)
    if mask is not None:
        return np.argmax(np.where(mask, generator.random(mask.shape), -1.0), axis=-1).astype(space.dtype)
    if space.kind == "discrete":
        return generator.integers(0, space.n, len(states)).astype(space.dtype)
    low, high = np.clip(space.low, -1e3, None), np.clip(space.high, None, 1e3)
    return generator.uniform(low, high, (len(states), *space.shape)).astype(space.dtype)
