"""Level 1 of the Game Boy games: the processor's instructions, group by group, and the calls of the batch.

An instruction is checked by the micro-ROMs that execute it with its edge values and write down results and flags. The
calls of the batch are checked by short games from given seeds.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.gameboy.batch_subject import SHOWN as SHOWN_AREAS
from overclock.gameboy.programs import INSTRUCTIONS, NATIVE, PYBOY, programs, run_program
from overclock.verify.property.calls import Call
from overclock.verify.property.module import Case, Module, exact
from overclock.verify.property.native_runner import called
from overclock.verify.sides.subject import Arrays

GROUPS = {
    "arithmetic": ("add", "adc", "sub", "sbc", "and", "xor", "or", "cp", "arithmetic_on_every_register", "daa"),
    "shifts": ("rlc", "rrc", "rl", "rr", "sla", "sra", "swap", "srl", "rotate_a"),
    "bits": ("bit", "res", "set"),
    "counting": ("inc_and_dec", "add_hl", "stack_pointer"),
    "loads": ("loads", "memory", "high_page"),
    "calls_and_stack": ("stack", "pop_af"),
    "jumps": ("jumps", "relative_jumps"),
    "stop": ("stop",),
}
SHOWN = ("registers", "cycles", "areas", "picture", "frames", "unseen")
SEEDS = (1, 2, 127, 128, 255, 256, 4_095, 65_535)
STEPS = 12  # of a short game; its actions are drawn from its seed
ACTIONS = 3  # that both games offer at least
INSIDE = (*SHOWN_AREAS, "cycles", "steps")  # of a batch's state, what is no value of the description


def instructions_run(number: int) -> Arrays:
    """What PyBoy does with a micro-ROM; this is the function that level 1 records."""
    return run_program(PYBOY, number)


def actions_offered(game: Any) -> int:
    """How many actions the description of a game on PyBoy offers."""
    return len(game.game.description.actions.buttons)


def game_played(game: Any, seed: int, actions: np.ndarray) -> dict[str, np.ndarray]:
    """What PyBoy shows of a game from a seed: the first observation, then the values after every action."""
    game.reset(seed)
    first = game.observe()
    values = [game.values()]
    seen = []
    for action in actions.tolist():
        game.step(action)
        values.append(game.values())
        seen.append(game.observe())
    description, names = game.game.description, game.game.readings.names
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in values]
    pairs = list(itertools.pairwise(rows))
    return {
        "first": first,
        "obs": np.stack(seen),
        "values": np.stack(values[1:]),
        "reward": np.array([description.reward(*pair) for pair in pairs], np.float32),
        "terminated": np.array([description.terminated(row) for row in rows[1:]]),
    }


def _instructions(group: str) -> Module:
    numbers = [
        number
        for number, rom in enumerate(programs())
        if rom.name in {f"{INSTRUCTIONS}{name}" for name in GROUPS[group]}
    ]

    def case(call: Call) -> Case | None:
        number = call.arguments["number"]
        return Case({"number": np.int32(number)}, call.result) if number in numbers else None

    def performance(side: Any, _: None, inputs: Arrays) -> Arrays:
        shown = [run_program(NATIVE, int(number)) for number in inputs["number"]]
        return {name: np.stack([one[name] for one in shown]) for name in SHOWN}

    return Module(
        name=group,
        reference=(f"{__name__}:instructions_run",),
        case=case,
        performance=performance,
        exercises=(),
        outputs={"float32": exact(*SHOWN)},
        boundary=lambda: {"number": np.array(numbers, np.int32)},
        apply=lambda _, inputs: _discard(instructions_run(int(inputs["number"]))),
    )


def _discard(_: object) -> None:
    """A call that is made for the recorder; what it returns is recorded."""


def _short_games() -> Arrays:
    """Games from seeds at the edges of their bytes, with actions drawn from the seed."""
    chosen = [np.random.default_rng(seed).integers(0, ACTIONS, STEPS) for seed in SEEDS]
    return {"seed": np.array(SEEDS, np.int32), "actions": np.stack(chosen).astype(np.int32)}


def _play(game: Any, inputs: Arrays) -> None:
    game_played(game, int(inputs["seed"]), inputs["actions"])


def _game_case(outputs: tuple[str, ...], call: Call) -> Case:
    inputs = {name: call.arguments[name] for name in ("seed", "actions")}
    return Case(inputs, {name: call.result[name] for name in outputs})


def _started(side: Any, inputs: Arrays) -> Any:
    everyone = np.ones(side.num_envs, np.bool_)
    return side.reset(everyone, np.zeros(side.num_envs, np.int64), {"seed": inputs["seed"]})


def _spaces(side: Any, _: None, inputs: Arrays) -> Arrays:
    return {"actions": np.full(side.num_envs, side.describe()["n"], np.int32)}


def _start(side: Any, _: None, inputs: Arrays) -> Arrays:
    return {"first": _started(side, inputs).outputs["obs"]}


def _observe(side: Any, _: None, inputs: Arrays) -> Arrays:
    _started(side, inputs)
    return {"first": side.observe()}


def _steps(side: Any, _: None, inputs: Arrays) -> Arrays:
    _started(side, inputs)
    shown = [side.step(np.ascontiguousarray(actions)) for actions in inputs["actions"].T]
    outputs = {name: np.stack([one.outputs[name] for one in shown], axis=1) for name in ("obs", "reward", "terminated")}
    values = [np.stack([one.state[name] for name in one.state if name not in INSIDE], axis=-1) for one in shown]
    return {**outputs, "values": np.stack(values, axis=1)}


def _calls(game: str) -> tuple[Module, ...]:
    batch = f"overclock.gameboy.vector:GameBoy{game.title()}"

    def module(
        name: str, performance: Callable[..., Arrays], outputs: tuple[str, ...], calls: tuple[str, ...]
    ) -> Module:
        return Module(
            name=name,
            reference=(f"{__name__}:game_played",),
            case=functools.partial(_game_case, outputs),
            performance=performance,
            exercises=tuple(called(batch, call) for call in calls),
            outputs={"float32": exact(*outputs)},
            boundary=_short_games,
            apply=_play,
            attributes=(),
        )

    spaces = Module(
        name="spaces",
        reference=(f"{__name__}:actions_offered",),
        case=lambda call: Case({}, {"actions": np.int32(call.result)}),
        performance=_spaces,
        exercises=(called(batch, "describe"),),
        outputs={"float32": exact("actions")},
        boundary=lambda: {"asked": np.zeros(1, np.int32)},
        apply=lambda game, _: _discard(actions_offered(game)),
        attributes=(),
    )
    return (
        spaces,
        module("start", _start, ("first",), ("reset",)),
        module("observe", _observe, ("first",), ("reset", "observe")),
        module("step", _steps, ("obs", "values", "reward", "terminated"), ("reset", "step")),
    )


MAZE = (*map(_instructions, GROUPS), *_calls("maze"))
PADDLE = (*map(_instructions, GROUPS), *_calls("paddle"))
