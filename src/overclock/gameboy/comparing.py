"""Two consoles side by side, frame by frame, with inputs, skipped frames, drawn frames and saved states from a seed."""

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from overclock.gameboy.console import BUTTONS, Console, Difference, differences

MakeConsole = Callable[[], Console]
REMEMBERED = 6  # frames whose program counters a report names


@dataclasses.dataclass(frozen=True)
class Step:
    """What happens between two comparisons: events, then `frames` frames of which the last may be drawn."""

    frames: int = 1
    render: bool = True
    press: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    save: bool = False  # keep this state, before the frames
    load: bool = False  # go back to the kept state, before the frames
    writes: tuple[tuple[int, int], ...] = ()  # addresses and bytes, before the frames


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """Where two consoles first part: after which step, how many frames that were, and what differs."""

    step: int
    frame: int
    differences: tuple[Difference, ...]
    counters: tuple[tuple[int, int], ...]  # the program counters of both after the last few steps

    def __str__(self) -> str:
        path = ", ".join(
            f"{theirs:04X}" if theirs == ours else f"{theirs:04X}/{ours:04X}" for theirs, ours in self.counters
        )
        lines = [f"first difference after frame {self.frame} (step {self.step}); PC after the last steps: {path}"]
        return "\n  ".join([*lines, *map(str, self.differences)])


def plain_steps(frames: int) -> list[Step]:
    """Every frame drawn and compared, no input."""
    return [Step() for _ in range(frames)]


def fuzzed_steps(
    seed: int, count: int, *, buttons: Sequence[str] = BUTTONS, longest: int = 24, states: bool = True
) -> list[Step]:
    """Random inputs, frame-skips and drawings, and now and then a state that is kept or gone back to."""
    rng = np.random.default_rng(seed)
    steps: list[Step] = []
    held: set[str] = set()
    kept: set[str] | None = None
    for _ in range(count):
        save, load = states and rng.random() < 0.05, kept is not None and states and rng.random() < 0.04
        if load and kept is not None:
            held = set(kept)  # the buttons that are down are part of a state
        if save:
            kept = set(held)
        down = {button for button in buttons if rng.random() < 0.25} if rng.random() < 0.7 else set(held)
        frames = int(rng.integers(1, longest + 1)) if rng.random() < 0.5 else 1
        step = Step(
            frames, bool(rng.random() < 0.6), tuple(sorted(down - held)), tuple(sorted(held - down)), save, load
        )
        held = down
        steps.append(step)
    return steps


def compare(reference: MakeConsole, ours: MakeConsole, steps: Sequence[Step]) -> Mismatch | None:
    """Run both through the steps; None if they agree about everything after every step."""
    consoles = reference(), ours()
    kept: list[bytes] = []
    frame = 0
    counters: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)
    drawn = False
    try:
        for number, step in enumerate(steps):
            if step.load and kept:
                for console, state in zip(consoles, kept, strict=True):
                    console.load(state)
            if step.save:
                kept = [console.save() for console in consoles]
            for console in consoles:
                apply_step(console, step)
            frame += step.frames
            drawn = step.render
            expected, found = (console.snapshot(drawn) for console in consoles)
            counters.append((expected.registers["PC"], found.registers["PC"]))
            wrong = tuple(differences(expected, found))
            if wrong:
                return Mismatch(number, frame, wrong, tuple(counters))
        return None
    finally:
        for console in consoles:
            console.close()


def apply_step(console: Console, step: Step) -> None:
    """Everything of a step but its states."""
    for address, value in step.writes:
        console.write(address, value)
    for button in step.press:
        console.press(button)
    for button in step.release:
        console.release(button)
    console.tick(step.frames, step.render)


def frame_by_frame(steps: Sequence[Step], until: int) -> list[Step]:
    """The same run with every frame a step of its own, up to step `until`: it tells in which frame they part."""
    found: list[Step] = []
    for step in steps[: until + 1]:
        first = dataclasses.replace(step, frames=1, render=step.render and step.frames == 1)
        later = [Step(1, step.render and number == step.frames - 2) for number in range(step.frames - 1)]
        found += [first, *later]
    return found
