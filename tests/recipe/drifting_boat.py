"""A small reference with objects, a list of objects, and draws of `random` and `numpy.random`.

With its translation, and the contract of both.
"""

from overclock.recipe.contract.codec import codec_fields, draw_field
from overclock.recipe.contract.file import Closeness, ContractFile
from overclock.recording.shape_json import KEEP
from overclock.recording.shapes import Choice, Exactly, Many, Maybe, Number, Record
from overclock.recording.sites.recorder import Site

REFERENCE = '''"""A boat at anchor, or not, in gusts of wind."""

import random

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

WINDS = ("north", "south", "calm")
GUSTS = 4


class Boat:
    def __init__(self, position):
        self.position = position
        self.anchor = None
        self.log = object()


class Gust:
    def __init__(self, wind):
        self.wind, self.strength, self.age = wind, 0.5, 0


class Drift(gymnasium.Env):
    def __init__(self):
        boat = Box(-10.0, 10.0, (1,), np.float64)
        self.observation_space = Dict(wind=Discrete(3), gusts=Discrete(GUSTS + 1), boat=boat)
        self.action_space = Discrete(2)
        self.slack = float(np.random.randint(2, 5))  # of this kind of boat

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.boat = self.course = Boat(random.uniform(-1.0, 1.0))
        self.gusts = []
        self.wind = "calm"
        return self._seen(), {}

    def step(self, action):
        if action:
            self.boat.anchor = 2
        if len(self.gusts) < GUSTS and random.random() < 0.7:
            self.gusts.append(Gust(random.choice(WINDS)))
        for gust in self.gusts:
            push = np.random.normal(0.1, gust.strength)
            gust.strength *= 0.5
            gust.age += 1
            self.wind = gust.wind
            if self.boat.anchor is None and gust.wind != "calm":
                self.course.position += push if gust.wind == "north" else -push
        self.gusts = [gust for gust in self.gusts if gust.age < 3]
        if self.boat.anchor is not None:
            self.boat.anchor = None if self.boat.anchor == 1 else self.boat.anchor - 1
        far = abs(self.boat.position)
        return self._seen(), -far, far > self.slack, False, {}

    def _seen(self):
        return {"boat": np.array([self.boat.position]), "gusts": len(self.gusts), "wind": WINDS.index(self.wind)}
'''
LINES = REFERENCE.splitlines()

CANDIDATE = '''"""Drift."""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct

NORTH, CALM = 0, 2
GUSTS, LIFE, SLACK = 4, 3, 2.0


class DriftState(Struct):
    boat_position: Float[Array, ""]
    boat_anchor_present: Bool[Array, ""]
    boat_anchor: Int[Array, ""]
    gusts_length: Int[Array, ""]
    gusts_wind: Int[Array, "4"]
    gusts_strength: Float[Array, "4"]
    gusts_age: Int[Array, "4"]
    wind: Int[Array, ""]


class DriftReset(Struct):
    start: Float[Array, ""]


class DriftStep(Struct):
    arises: Float[Array, ""]
    blows: Int[Array, ""]
    push: Float[Array, "4"]


@dataclasses.dataclass(frozen=True)
class Drift(Environment[DriftState, Params]):
    def default_params(self) -> Params:
        return Params(max_steps=50)

    def observation_space(self, params: Params) -> Box:
        return Box((0.0, 0.0, -10.0), (2.0, 4.0, 10.0), (3,), jnp.result_type(float))

    def action_space(self, params: Params) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: Params) -> DriftReset:
        return DriftReset(start=rng.uniform(0, -1.0, 1.0))

    def draw_step(self, rng: Rng, state: DriftState, params: Params) -> DriftStep:
        push = jnp.stack([rng.normal(2 + site) for site in range(GUSTS)])
        return DriftStep(arises=rng.uniform(0), blows=rng.integers(1, 3), push=push)

    def init(self, draw: DriftReset, params: Params) -> DriftState:
        none = jnp.zeros(GUSTS, int)
        nothing, calm = jnp.asarray(0, int), jnp.asarray(CALM, int)
        strength = jnp.zeros(GUSTS, draw.start.dtype)
        return DriftState(draw.start, jnp.asarray(False), nothing, nothing, none, strength, none, calm)

    def transition(
        self, state: DriftState, action: Int[Array, ""], draw: DriftStep, params: Params
    ) -> tuple[DriftState, Float[Array, ""], Bool[Array, ""]]:
        held = state.boat_anchor_present | (action == 1)
        anchor = jnp.where(action == 1, 2, state.boat_anchor)
        arises = (state.gusts_length < GUSTS) & (draw.arises < 0.7)
        new = arises & (jnp.arange(GUSTS) == state.gusts_length)
        winds = jnp.where(new, draw.blows, state.gusts_wind)
        strength = jnp.where(new, 0.5, state.gusts_strength)
        age = jnp.where(new, 0, state.gusts_age)
        length = state.gusts_length + arises
        position, wind = state.boat_position, state.wind
        for place in range(GUSTS):
            there = place < length
            push = 0.1 + strength[place] * draw.push[place]
            moves = there & ~held & (winds[place] != CALM)
            position = jnp.where(moves, position + jnp.where(winds[place] == NORTH, push, -push), position)
            wind = jnp.where(there, winds[place], wind)
        old = jnp.arange(GUSTS) < length
        strength, age = jnp.where(old, strength * 0.5, 0.0), jnp.where(old, age + 1, 0)
        stays = old & (age < LIFE)
        order = jnp.argsort(~stays, stable=True)
        length = jnp.sum(stays)
        kept = jnp.arange(GUSTS) < length
        after = DriftState(
            boat_position=position,
            boat_anchor_present=held & (anchor != 1),
            boat_anchor=jnp.where(held & (anchor != 1), anchor - 1, 0),
            gusts_length=length,
            gusts_wind=jnp.where(kept, winds[order], 0),
            gusts_strength=jnp.where(kept, strength[order], 0.0),
            gusts_age=jnp.where(kept, age[order], 0),
            wind=wind,
        )
        far = jnp.abs(position)
        return after, -far, far > SLACK

    def observe(self, state: DriftState, params: Params) -> Float[Array, "3"]:
        return jnp.stack([state.wind * 1.0, state.gusts_length * 1.0, state.boat_position])


def make() -> tuple[Drift, Params]:
    return Drift(), Params(max_steps=50)
'''
FORGETS = CANDIDATE.replace("stays = old & (age < LIFE)", "stays = old & (age <= LIFE)")
assert FORGETS != CANDIDATE


def site(name, text, **more):
    """The site of a call, found by its text in the reference."""
    (line,) = (number for number, line in enumerate(LINES, 1) if text in line)
    return Site(name, "drift.py", line, LINES[line - 1].index(text), **more)


def contract():
    """What both sides must agree on: objects by their fields, draws by the line that makes them."""
    winds = Choice(("north", "south", "calm"))
    whole, real = Number("int64", True), Number("float64", True)
    gust = Record("drift:Gust", (("wind", winds), ("strength", real), ("age", whole)))
    boat = Record("drift:Boat", (("position", real), ("anchor", Maybe(whole)), ("log", Exactly(KEEP))))
    shapes = {"boat": boat, "gusts": Many(gust, 4), "wind": winds}
    start = site("start", "random.uniform", method="uniform", source="random", arguments=(("low", -1.0), ("high", 1.0)))
    step = (
        site("arises", "random.random", method="random", source="random"),
        site("blows", "random.choice", method="choice", source="random", form="index", dtype="int64",
             arguments=(("n", 3),)),
        site("push", "np.random.normal", method="normal", source="numpy.random", form="normal", count=4),
    )  # fmt: skip
    fused = Closeness({"state": 1e-14, "obs": 1e-14, "reward": 1e-14}, {"state": 1e-12, "obs": 1e-12, "reward": 1e-12},
                      "a multiplication and an addition may be rounded once instead of twice")  # fmt: skip
    return ContractFile(
        state=codec_fields(shapes, {"boat_position": (-2.0, 2.0)}),
        reset_draws=(draw_field(start),),
        step_draws=tuple(map(draw_field, step)),
        precisions={"float64": fused},
        codec="state.json",
        shapes=shapes,
    )
