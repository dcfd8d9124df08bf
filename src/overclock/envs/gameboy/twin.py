"""The twins of our Game Boy games: PyBoy 2.8.1 and our emulator, the same ROM and boot code, equal in every bit.

Level 1 runs the micro-ROMs of the processor's instructions and short games, level 2 the other micro-ROMs (timer,
interrupts, pictures, sound), one step per program. Levels 3 and 4 are whole episodes as an agent plays them, and
policies trained on either side.
"""

import dataclasses

from overclock.gameboy.batch_subject import SHOWN
from overclock.gameboy.game import load_game
from overclock.gameboy.programs import NATIVE, PYBOY, ProgramSubject
from overclock.gameboy.pyboy.console import import_pyboy
from overclock.vector.native import extension
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.subject import SubjectSpec

BATCH, GAME, READINGS = "overclock.gameboy.vector", "overclock.gameboy.game", "overclock.gameboy.readings"
PROGRAM_STATE = ("registers", "cycles", "areas", "frames", "unseen", "steps")
PLANTS = {
    # Mistakes of the kind that bindings and descriptions have: what reaches the consoles is not what was meant.
    "one-frame-too-many": Patch(BATCH, "description.actions.frames,", "description.actions.frames + 1,"),
    "held-too-briefly": Patch(BATCH, "description.actions.press, description", "1, description"),
    "buttons-mixed-up": Patch(GAME, "1 << BUTTONS.index(name)", "1 << (BUTTONS.index(name) ^ 1)"),
    "lives-do-not-count": Patch(READINGS, "change = np.minimum(change, 0)", "change = np.maximum(change, 0)"),
    "seeds-backwards": Patch(GAME, "return [] if first is None else list(range(first, first + size))",
                             "return [] if first is None else list(range(first, first + size))[::-1]"),
}  # fmt: skip


def maze() -> Twin:
    """The maze, as its description says: its picture, two by two pixels. Policies learn it from its RAM."""
    return _complete("maze")


def paddle() -> Twin:
    """The paddle game, seen in its RAM."""
    return _complete("paddle")


def programs() -> Twin:
    """PyBoy and our emulator, each running micro-ROMs: an action is the number of one."""
    fields = ("obs", "reward", "terminated", "truncated", *(f"state.{name}" for name in PROGRAM_STATE))
    return Twin(
        name="gameboy-programs",
        reference=SubjectSpec.of(ProgramSubject, console=PYBOY),
        performance=SubjectSpec.of(ProgramSubject, console=NATIVE),
        contracts={"float32": Contract(fields=tuple(map(Field, fields)))},
        scenarios="overclock.envs.gameboy.scenarios",
        lanes=8,
        prepare="overclock.envs.gameboy.twin:prepare",
    )


def paddle_picture() -> Twin:
    """The paddle game with its whole picture in color."""
    return _twin("paddle", "rgb")


def prepare() -> None:
    """Raise MissingError if PyBoy or the Rust extension is missing."""
    import_pyboy()
    extension()


def _complete(game: str) -> Twin:
    """A registered twin: what its levels 1, 2 and 4 run besides the episodes of level 3."""
    return dataclasses.replace(
        _twin(game),
        modules=f"overclock.envs.gameboy.modules:{game.upper()}",
        scenarios="overclock.envs.gameboy.scenarios",
        scripted_as=programs(),
        learnt_as=_twin(game, "ram", memory=False),
    )


def _twin(game: str, observation: str | None = None, memory: bool = True) -> Twin:
    """A twin; `memory` is left out for level 4, which keeps thousands of states and does not compare it."""
    options = {} if observation is None else {"observation": observation}
    values = load_game(game).readings.names
    fields = [Field(name) for name in ("obs", "reward", "terminated", "truncated")]
    shown = (*SHOWN, *values, "cycles", "steps") if memory else (*values, "steps")
    fields += [Field(f"state.{name}") for name in shown]
    return Twin(
        name=f"gameboy-{game}-v1" + (f", {observation}" if observation else ""),
        reference=SubjectSpec(
            "overclock.gameboy.pyboy.subject:PyBoyReference", (("game", game), *options.items(), ("memory", memory))
        ),
        performance=SubjectSpec(
            "overclock.gameboy.batch_subject:GameBoySubject",
            (("batch", f"{BATCH}:GameBoy{game.title()}"), ("options", options), ("draws", ["seed"])),
            module_runner="overclock.verify.property.native_runner:NativeModuleRunner",
            trainer="overclock.verify.transfer.training:NativeTrainer",
        ),
        contracts={"float32": Contract(fields=tuple(fields))},
        plants=PLANTS,
        transfer=f"overclock.envs.gameboy.transfer:{game.upper()}",
        lanes=8,
        prepare="overclock.envs.gameboy.twin:prepare",
    )
