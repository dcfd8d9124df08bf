"""Level 1 of a project: the functions of the environment contract, each against calls recorded from the reference.

Made from contract.toml alone, so that a translation can be judged function by function before anybody has written a
test. Loaded in three processes (verifier, reference, performance side); neither side is imported at the top.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overclock.recipe import contract_rules as rules
from overclock.recipe.contract_file import ContractFile, DrawField, load_contract
from overclock.recipe.contract_values import boundary, bounded, by_chance, close_to, equal
from overclock.recipe.survey import paths
from overclock.verify.calls import Call
from overclock.verify.module import Case, Module
from overclock.verify.subject import Arrays

SEEDS = 2048  # resets whose draws are compared as a distribution
SPACES = ("obs_low", "obs_high", "obs_n", "action_low", "action_high", "action_n")


def modules(argument: str) -> tuple[Module, ...]:
    """The modules of 'CLASS@CONTRACT': the reference's class ('package.module:Class') and its contract.toml."""
    cls, _, path = argument.partition("@")
    return contract_modules(cls, load_contract(Path(path)))


def contract_modules(cls: str, contract: ContractFile) -> tuple[Module, ...]:
    """One module per function of the environment contract."""
    recorded = _Recorded(contract)
    # What holds the state, and nothing else: an instance may hold large tables, and every call is copied.
    attributes = tuple(dict.fromkeys(str(paths.parse(field.read)[0]) for field in contract.state))
    depth = max((len(paths.parse(field.read)) - 1 for field in contract.state), default=0)
    at_boundary: dict[str, Any] = {}
    if bounded(contract):
        at_boundary = {"boundary": recorded.boundary, "apply": recorded.apply_state}
    by_seed: dict[str, Any] = {"boundary": _seeds, "apply": _apply_seed} if contract.reset_draws else {}
    found = [
        # Depth 1: the spaces are objects.
        Module("spaces", (f"{cls}.__init__",), _spaces_case, rules.spaces, (), equal(contract, *SPACES), depth=1,
               attributes=("observation_space", "action_space")),
        Module(
            "reset", (f"{cls}.reset",), recorded.reset_case, rules.reset, (), close_to(contract), **by_seed,
            depth=depth, attributes=attributes,
        ),
        Module(
            "transition", (f"{cls}.step",), recorded.step_case, rules.transition, (),
            close_to(contract, "reward", flags=("terminated",)), **at_boundary, depth=depth, attributes=attributes,
        ),
        Module(
            "observe", (f"{cls}.reset", f"{cls}.step"), recorded.observe_case, rules.observe, (),
            close_to(contract, "obs", state=False), **at_boundary, depth=depth, attributes=attributes,
        ),
    ]  # fmt: skip
    if contract.reset_draws:
        names = by_chance(contract, [field.name for field in contract.reset_draws])
        draw = Module(
            "draw", (f"{cls}.reset",), recorded.draw_case, rules.draw, (), names, **by_seed, attributes=attributes
        )
        found.insert(1, draw)
    return tuple(found)


def step_from_boundary(contract: ContractFile, instance: Any) -> None:
    """One step of an instance of the reference from every boundary state, where it can be put there."""
    recorded = _Recorded(contract)
    inputs = boundary(contract) if bounded(contract) else {}
    for case in range(len(inputs["choice"]) if inputs else 0):
        recorded.apply_state(instance, {name: values[case] for name, values in inputs.items()})


class _Recorded:
    """Recorded calls of a reference as cases, by the names of its contract."""

    def __init__(self, contract: ContractFile) -> None:
        self.contract = contract
        self._readers: dict[str, Any] = {}

    def draw_case(self, call: Call) -> Case:
        """What a seed leads to."""
        seed = call.arguments.get("seed")
        return Case({"seed": np.uint32(0 if seed is None else seed)}, _draws(self.contract.reset_draws, call))

    def reset_case(self, call: Call) -> Case:
        """The first state, from what was drawn for it."""
        return Case(_draws(self.contract.reset_draws, call), self._state(call.after))

    def step_case(self, call: Call) -> Case:
        """One whole step."""
        _, reward, terminated, *_ = call.result
        drawn = _draws(self.contract.step_draws, call)
        expected = {**self._state(call.after), "reward": np.float64(reward), "terminated": bool(terminated)}
        return Case({**self._state(call.before), "action": _action(call), **drawn}, expected)

    def observe_case(self, call: Call) -> Case:
        """The observation, from the state it shows."""
        return Case(self._state(call.after), {"obs": np.asarray(call.result[0])})

    def boundary(self) -> Arrays:
        """States at the ends of what was seen."""
        return boundary(self.contract)

    def apply_state(self, instance: Any, inputs: Arrays) -> None:
        """One step of an instance of the reference from a given state, with one of its actions."""
        from overclock.recipe.reference import StateReader

        space, env_id = instance.action_space, instance.spec.id
        space.seed(int(inputs["choice"]))
        if env_id not in self._readers:
            self._readers[env_id] = StateReader(self.contract, env_id, dict(instance.spec.kwargs))
        values = {field.name: inputs[field.name] for field in self.contract.state}
        self._readers[env_id].write(instance, {**values, "steps": np.array(0)})
        instance.step(space.sample())

    def _state(self, captured: Mapping[str, Any]) -> Arrays:
        fields = self.contract.state
        return {field.name: np.asarray(paths.read_captured(captured, field.read), field.dtype) for field in fields}


def _spaces_case(call: Call) -> Case:
    """Bounds and sizes of both spaces, as far as they have them."""
    expected = {}
    for name, attribute in (("obs", "observation_space"), ("action", "action_space")):
        space = call.after.get(attribute, {})
        expected |= {f"{name}_low": space.get("low", 0), f"{name}_high": space.get("high", 0)}
        expected[f"{name}_n"] = np.int64(space.get("n", 0))
    return Case({}, expected)


def _draws(fields: tuple[DrawField, ...], call: Call) -> Arrays:
    return {field.name: np.asarray(draw.value) for field, draw in zip(fields, call.draws, strict=True)}


def _action(call: Call) -> np.ndarray:
    (action,) = [value for name, value in call.arguments.items() if name != "self"]
    value = np.asarray(action)
    return value.astype(np.int32) if value.dtype.kind in "biu" else value


def _seeds() -> Arrays:
    return {"seed": np.arange(SEEDS, dtype=np.uint32)}


def _apply_seed(instance: Any, inputs: Arrays) -> None:
    instance.reset(seed=int(inputs["seed"]))
