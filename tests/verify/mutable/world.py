"""The reference of `rules.py` in plain Python, and the twin of the two."""

from pathlib import Path
from typing import Any

import numpy as np

from overclock.env import registry
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.property.module import Case, Module, exact
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.subject import Observed, SubjectSpec

HERE = "verify.mutable"
SPEC = registry.Spec("pile-v0", f"{HERE}.rules:Pile", reference="tests:Pile", twin=f"{HERE}.world:twin")
FIELDS = ("obs", "reward", "terminated", "truncated", "state.height", "state.steps")
LIMIT, HIGH = 5, 6


def grow(height: int, action: int, die: int) -> tuple[int, bool]:
    height += die if action == 1 else 1
    return height, height >= HIGH


class PileReference:
    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.height, self.steps = (np.zeros(num_envs, np.int32) for _ in range(2))
        self.dice = [np.random.default_rng(0)] * num_envs

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 2}

    def reset(self, mask, seeds, draws=None):
        for lane in np.flatnonzero(mask):
            self.height[lane] = self.steps[lane] = 0
            self.dice[lane] = np.random.default_rng(int(seeds[lane]))
        return self._shown({}, {})

    def step(self, actions, draws=None):
        die = np.array([dice.integers(3) for dice in self.dice], np.int32)
        ended = np.zeros(self.num_envs, np.bool_)
        for lane in range(self.num_envs):
            self.height[lane], ended[lane] = grow(int(self.height[lane]), int(actions[lane]), int(die[lane]))
        self.steps += 1
        outputs = {"reward": self.height.astype(np.float64), "terminated": ended, "truncated": self.steps >= LIMIT}
        return self._shown(outputs, {"die": die})

    def set_state(self, state):
        self.height, self.steps = state["height"].copy(), state["steps"].copy()

    def _shown(self, outputs, draws):
        state = {"height": self.height.copy(), "steps": self.steps.copy()}
        return Observed({"obs": self.height.astype(np.float32), **outputs}, state, draws)


def performance(num_envs: int, **options: Any) -> JaxSubject:
    if SPEC.id not in registry._registry:
        registry.register(SPEC)
    return JaxSubject(num_envs, SPEC.id, **options)


def twin() -> Twin:
    search = (("PYTHONPATH", str(Path(__file__).parents[2])),)
    return Twin(
        SPEC.id,
        SubjectSpec(f"{HERE}.world:PileReference", (), search),
        SubjectSpec(f"{HERE}.world:performance", (), search),
        {"float32": Contract(tuple(Field(name) for name in FIELDS))},
        scenarios=str(Path(__file__).parent / "scenarios"),
        modules=f"{HERE}.world:MODULES",
    )


def grow_case(call: Any) -> Case:
    inputs = {name: np.int32(value) for name, value in call.arguments.items()}
    return Case(inputs, {"height": np.int32(call.result[0]), "ended": np.bool_(call.result[1])})


def grow_performance(env: Any, params: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    from verify.mutable.rules import PileDraw, PileState

    after, _, ended = env.transition(PileState(inputs["height"]), inputs["action"], PileDraw(inputs["die"]), params)
    return {"height": after.height, "ended": ended}


MODULES = (
    Module(
        name="grow",
        reference=(f"{HERE}.world:grow",),
        case=grow_case,
        performance=grow_performance,
        exercises=(f"{HERE}.rules:Pile.transition",),
        outputs={"float32": exact("height", "ended")},
    ),
)
