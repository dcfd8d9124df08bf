"""What measurements find, as dataclasses; docs/cli.md lists the fields of the JSON that is made of them."""

import dataclasses
from typing import Any, Literal, TypeVar

R = TypeVar("R")


@dataclasses.dataclass(frozen=True)
class Skip:
    """An implementation that was asked for and not measured, and why."""

    implementation: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Code:
    """The commit that a package was checked out from, and whether its files differ from it; None if it was not."""

    commit: str | None
    dirty: bool | None


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where a benchmark ran and which code made it."""

    device: str
    platform: str
    cpu: str
    cores: int
    os: str
    python: str
    overclock: str
    jax: str
    jaxlib: str
    numpy: str
    x64: bool
    commit: str | None
    dirty: bool | None


@dataclasses.dataclass(frozen=True)
class Speeds:
    """Steps per second of the repeated calls, in the order they were taken; `spread` is their range over the median."""

    median: float
    lowest: float
    highest: float
    spread: float
    repeats: int
    samples: list[float]


@dataclasses.dataclass(frozen=True)
class Facts:
    """What a runner knows after its timed calls; each is None where there is no such number.

    `overflowed` counts steps of lanes that had run out of room, which are not the reference's.
    """

    checksum: str | None
    mean_episode_length: float | None
    program_bytes: int | None
    overflowed: int | None = None


@dataclasses.dataclass(frozen=True)
class TrainingFacts:
    """What a trainer knows after its timed calls: the last mean return, None where no episode ended."""

    return_: float | None
    mean_episode_length: float | None


@dataclasses.dataclass(frozen=True)
class Memory:
    """High-water marks of this process so far; None where the platform does not tell."""

    host_peak_bytes: int | None
    device_peak_bytes: int | None


@dataclasses.dataclass(frozen=True)
class Timed:
    """One implementation at one batch, timed."""

    implementation: str
    version: str
    platform: str
    batch: int
    run_batch: int
    sps: Speeds
    steps_per_call: int
    unroll: int | None
    warmup_calls: int
    compile_seconds: float | None
    stored: bool
    random_actions: str
    autoreset: str
    note: str


@dataclasses.dataclass(frozen=True)
class Measured(Timed):
    """A timed implementation with what its runner says of itself, before it becomes a row of a report."""

    facts: Any
    memory: Memory

    def row(self, kind: type[R], **more: Any) -> R:
        """These numbers as a row of a report: the fields that it has."""
        found = {**vars(self), **vars(self.facts), **vars(self.memory), **more}
        return kind(**{field.name: found[field.name] for field in dataclasses.fields(kind)})  # pyright: ignore[reportArgumentType]


@dataclasses.dataclass(frozen=True)
class Row(Timed):
    """A row of a throughput report; `overflowed` counts steps of lanes without room, which are not the reference's."""

    checksum: str | None
    mean_episode_length: float | None
    program_bytes: int | None
    host_peak_bytes: int | None
    device_peak_bytes: int | None
    overflowed: int | None = None


@dataclasses.dataclass(frozen=True)
class TrainingRow(Timed):
    """A row of a report on training; `mfu` is the part of the device's peak arithmetic that the network used."""

    return_: float | None
    mean_episode_length: float | None
    host_peak_bytes: int | None
    device_peak_bytes: int | None
    flops_per_second: float
    mfu: float | None


@dataclasses.dataclass(frozen=True)
class ResetRow:
    """A row of a report on reset strategies: `cost` is the time of a step over that of one without resets."""

    strategy: str
    sps: Speeds
    steps_per_call: int
    unroll: int | None
    warmup_calls: int
    compile_seconds: float | None
    stored: bool
    random_actions: str
    checksum: str | None
    program_bytes: int | None
    host_peak_bytes: int | None
    device_peak_bytes: int | None
    cost: float
    shared_share: float | None


@dataclasses.dataclass(frozen=True)
class Parts:
    """Seconds, or shares, of the parts of an iteration. A part that is a difference may come out below 0."""

    environment: float
    inference: float
    update: float
    transfer: float

    @property
    def total(self) -> float:
        """The sum of all parts, in their unit."""
        return sum(vars(self).values())


@dataclasses.dataclass(frozen=True)
class BreakdownRow:
    """A row of a breakdown: the medians of the samples, their shares, and the speeds that follow from them."""

    implementation: str
    parameters: int
    seconds: Parts
    samples: list[Parts]
    share: Parts
    sps: float
    rollout_sps: float | None
    flops_per_second: float
    mfu: float | None


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Ours over a peer at the same batch: of the medians, and the extremes of the interleaved pairs of calls."""

    implementation: str
    peer: str
    batch: int
    ratio: float
    lowest: float
    highest: float


@dataclasses.dataclass(frozen=True)
class Header:
    """What every report starts with: when, where, and how to repeat it."""

    schema: str
    date: str
    command: str
    seed: int
    machine: Machine
    environment: str


@dataclasses.dataclass(frozen=True)
class Throughput(Header):
    """The report of `overclock bench`."""

    schema: Literal["overclock.bench/1"]
    step: str
    results: list[Row]
    ratios: list[Ratio]
    skipped: list[Skip]


@dataclasses.dataclass(frozen=True)
class ResetComparison(Header):
    """The report of `overclock bench --compare-resets`."""

    schema: Literal["overclock.bench.resets/1"]
    batch: int
    step: str
    results: list[ResetRow]


@dataclasses.dataclass(frozen=True)
class Breakdown(Header):
    """The report of `overclock bench --breakdown`; `iteration` says in words what was timed."""

    schema: Literal["overclock.bench.breakdown/1"]
    iteration: str
    results: list[BreakdownRow]
    skipped: list[Skip]


@dataclasses.dataclass(frozen=True)
class TrainingSpeed(Header):
    """The report of `overclock bench --training`; `training` has the hyper-parameters."""

    schema: Literal["overclock.bench.training/1"]
    step: str
    training: dict[str, Any]
    results: list[TrainingRow]
    ratios: list[Ratio]
    skipped: list[Skip]


Report = Throughput | ResetComparison | Breakdown | TrainingSpeed
