"""A translated environment before it is printed: its state, its draws, and three functions (reset, step, observe)."""

import dataclasses
from typing import Any

from overclock.recording.floats import Floats
from overclock.recording.room import Room
from overclock.recording.shapes import Leaf, Shape
from overclock.translate.ir.nodes import Block, Operand, Var
from overclock.translate.ir.sites import DrawSite


@dataclasses.dataclass
class Function:
    """A block with named inputs and its results."""

    block: Block
    inputs: dict[str, Var]
    results: dict[str, Operand]
    sites: list[DrawSite] = dataclasses.field(default_factory=list)
    numpy_refusal: str = ""  # why the reference's own stream of random numbers cannot be followed


@dataclasses.dataclass(frozen=True)
class Covered:
    """What of the source was translated: where its statements stand, and which tests have one outcome only."""

    lines: frozenset[tuple[str, int]] = frozenset()  # (file, line)
    decided: frozenset[tuple[str, int]] = frozenset()  # by constants of the instance


@dataclasses.dataclass
class Program:
    """A translated environment: everything that a printer needs."""

    name: str
    source: str
    files: tuple[str, ...]
    shapes: dict[str, Shape]  # of the reference's attributes that are state, by dotted path
    state: list[Leaf]
    reset: Function
    step: Function
    observe: Function
    mask: Function | None
    observation_space: Any
    action_space: Any
    max_steps: int | None
    overflow: bool  # whether a list or a loop could need more room than it has
    stored_observation: bool
    ranges: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)  # of plain numbers, as seen
    largest_reward: float = 0.0
    floats: dict[str, Floats] = dataclasses.field(default_factory=dict)  # as `survey_floats` finds them
    rounded_rewards: bool = False  # whether a reward is no float32
    mixed: bool = False  # whether a float of the state changes its dtype in the reference
    single_loss: str = ""  # what float32 loses of the reference, if it cannot reproduce its episodes
    restart: tuple[str, ...] = ()  # state that a reset of the reference leaves as it was
    assumptions: tuple[str, ...] = ()
    rooms: tuple[Room, ...] = ()  # of the lists that may become longer in a step
    covered: "Covered" = dataclasses.field(default_factory=lambda: Covered())
