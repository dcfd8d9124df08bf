"""Level 1 of the Rust Pong: the functions of its interface, against calls recorded from PufferLib's C functions.

The cases are those of `modules.py`; serves, frames and directions of actions are parts of a step here.
"""

import dataclasses
from typing import Any

import numpy as np

from overclock.envs.pong.library import STATE
from overclock.envs.pong.modules import MODULES as IN_JAX
from overclock.verify.property.native_runner import called
from overclock.verify.sides.native_subject import NativeSubject
from overclock.verify.sides.subject import Arrays

BATCH = "overclock.envs.pong.native:NativePong"


def spaces(side: NativeSubject, _: None, inputs: Arrays) -> Arrays:
    """Size of an observation, and the number of actions or numbers in one."""
    space = side.describe()
    actions = space["n"] if space["kind"] == "discrete" else len(space["low"])
    observed = side.observe().shape[1]
    return {name: np.full(side.num_envs, size, np.int32) for name, size in (("obs", observed), ("actions", actions))}


def reset(side: NativeSubject, _: None, inputs: Arrays) -> Arrays:
    """The first state from a draw."""
    everyone = np.ones(side.num_envs, np.bool_)
    shown = side.reset(everyone, np.zeros(side.num_envs, np.int64), {"serve": inputs["serve"]})
    return {name: shown.state[name] for name in STATE}


def step(side: NativeSubject, _: None, inputs: Arrays) -> Arrays:
    """One whole step of the rules."""
    side.set_state(_in_all_fields(side, inputs))
    shown = side.step(inputs["action"], {"serve": inputs["serve"]})
    outputs = {name: shown.outputs[name] for name in ("reward", "terminated")}
    return {**{name: shown.state[name] for name in STATE}, **outputs}


def observe(side: NativeSubject, _: None, inputs: Arrays) -> Arrays:
    """The observation of what was seen; nothing else of the state matters to it."""
    side.set_state(_in_all_fields(side, inputs))
    return {"obs": side.observe()}


def time_limit(side: NativeSubject, _: None, inputs: Arrays) -> Arrays:
    """The step counter and `truncated`, which do not depend on the game."""
    everyone, serves = np.ones(side.num_envs, np.bool_), {"serve": np.zeros(side.num_envs, np.int32)}
    begun = side.reset(everyone, np.zeros(side.num_envs, np.int64), serves)
    side.set_state({**begun.state, "steps": inputs["steps"]})
    space = side.describe()
    still = np.zeros(side.num_envs if space["kind"] == "discrete" else (side.num_envs, 1), np.float32)
    shown = side.step(still if space["kind"] == "box" else still.astype(np.int32), serves)
    return {"steps": shown.state["steps"], "truncated": shown.outputs["truncated"]}


def _in_all_fields(side: NativeSubject, inputs: Arrays) -> Arrays:
    """A state with the fields of a case; others have a value that no game has."""
    odd = np.full(side.num_envs, -1)
    return {**dict.fromkeys(STATE, odd), **{name: inputs[name] for name in STATE if name in inputs}, "steps": odd * 0}


PERFORMANCE: dict[str, tuple[Any, tuple[str, ...]]] = {
    "spaces": (spaces, ("describe", "observe")),
    "reset": (reset, ("reset",)),
    "step": (step, ("step",)),
    "observe": (observe, ("observe",)),
    "time_limit": (time_limit, ("step",)),
}
MODULES = tuple(
    dataclasses.replace(
        module,
        performance=PERFORMANCE[module.name][0],
        exercises=tuple(called(BATCH, call) for call in PERFORMANCE[module.name][1]),
    )
    for module in IN_JAX
    if module.name in PERFORMANCE
)
