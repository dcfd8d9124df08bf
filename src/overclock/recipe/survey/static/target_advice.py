"""JAX or Rust? Advice with its reasons, from the structure of the rules, what was seen of the state, and the machine.

JAX runs thousands of copies in lock-step: it likes numbers of fixed shape and dislikes everything whose length depends
on the data, because every copy then pays for the longest. Rust runs each copy by itself on the processor.
"""

import dataclasses
import math
from typing import Literal

import jax

from overclock.cores import cores
from overclock.recipe.survey.live.profile import Profile
from overclock.recipe.survey.static.source import Source
from overclock.recipe.survey.static.structure import Structure, structure

Target = Literal["jax", "rust"]
MANY_BRANCHES = 0.3  # branches per statement from which on lock-step copies mostly compute what they then discard
MANY_LINES = 3000  # rules of this length compile for minutes as one XLA program
LARGE_TABLE = 4096  # numbers in one literal
SEVERAL_CORES = 8


@dataclasses.dataclass(frozen=True)
class Hardware:
    """The GPU, if there is one, and the cores that training would run on."""

    gpu: str | None
    cores: int


@dataclasses.dataclass(frozen=True)
class Advice:
    """The recommended target with the reasons for and against it."""

    target: Target
    reasons: tuple[str, ...]
    against: tuple[str, ...]


def hardware() -> Hardware:
    """The hardware of this machine, as JAX sees it."""
    device = jax.devices()[0]
    return Hardware(device.device_kind if device.platform in ("gpu", "cuda", "rocm") else None, cores())


def advise(source: Source, profile: Profile | None = None, machine: Hardware | None = None) -> Advice:
    """Recommend a target for a reference from its rules, its profile if there is one, and the machine."""
    machine = hardware() if machine is None else machine
    if source.module is None:
        return Advice("jax", ("There is no Python source to judge by; JAX suits most environments.",), ())
    found = structure(source)
    points = [*_of_rules(found), *_of_state(profile), *_of_machine(machine)]
    score = sum(weight for weight, _ in points)
    for_jax = tuple(sentence for weight, sentence in points if weight > 0)
    for_rust = tuple(sentence for weight, sentence in points if weight < 0)
    return Advice("jax", for_jax, for_rust) if score >= 0 else Advice("rust", for_rust, for_jax)


def _of_rules(found: Structure) -> list[tuple[int, str]]:
    loops, places = _count(found.searching_loops, "loop"), _count(found.growing, "place")
    points = [
        (found.byte_level, -4,
         f"It works on bytes and bits ({found.bit_operations} bit operations, a choice among {found.longest_choice} "
         "cases): in lock-step every copy would compute every case."),
        (bool(found.recursive), -2,
         f"It is recursive ({_some(found.recursive)}), which a compiled JAX program cannot be."),
        (found.searching_loops > 0, -1 if found.searching_loops < 5 else -2,
         f"It has {loops} as long as the data says; in lock-step all copies wait for the longest."),
        (not found.searching_loops, 1, "It has no loop whose length depends on the data."),
        (found.growing > 0, -1 if found.growing < 10 else -2,
         f"It makes lists longer or shorter in {places}; in JAX each needs a largest size."),
        (found.branching > MANY_BRANCHES, -1,
         f"{found.branching:.0%} of its statements are branches; in lock-step both sides of each are computed."),
        (found.branching <= MANY_BRANCHES, 1, f"Only {found.branching:.0%} of its statements are branches."),
        (found.lines > MANY_LINES, -1,
         f"Its rules have {found.lines} lines; one XLA program of that size compiles for minutes."),
        (found.table_entries > LARGE_TABLE, -1,
         f"It reads a table of {found.table_entries} numbers, which every kernel must gather from."),
    ]  # fmt: skip
    return [(weight, sentence) for holds, weight, sentence in points if holds]


def _of_state(profile: Profile | None) -> list[tuple[int, str]]:
    if profile is None:
        return []
    odd = [one.path for one in profile.unrepresented if one.used and "None" not in one.what]
    if odd:
        return [(-1, f"Parts of its state have no fixed shape: {_some(tuple(odd))}.")]
    numbers = sum(math.prod(field.shape) for field in profile.fields)
    return [(2, f"Its state is {_count(numbers, 'number')} of fixed shape.")] if profile.fields else []


def _of_machine(machine: Hardware) -> list[tuple[int, str]]:
    if machine.gpu is not None:
        return [(2, f"There is a GPU ({machine.gpu}), on which JAX plays and learns in one program.")]
    if machine.cores >= SEVERAL_CORES:
        return [(-1, f"There is no GPU but {machine.cores} cores, which a Rust batch keeps busy.")]
    return []


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
