"""Asks a candidate's worker for an inspection and judges the answer: `inspect_candidate(spec)`.

A worker that dies, hangs or answers nonsense has failed; nothing is skipped. Time is measured in this process only.
"""

import dataclasses
import math
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.recipe.judging.hygiene.finding import Finding, Limits
from overclock.recipe.judging.hygiene.judge import judge_inspection
from overclock.verify.contract import Precision
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

DEFAULT = Limits()
CLOCKS = 3
LARGEST = 1 << 17  # of the batches that are drawn
INSPECTOR = "overclock.recipe.judging.hygiene.dynamic:Inspector"  # a text, because importing it starts JAX
QUICK_COMPILE = "--xla_backend_optimization_level=0"  # many programs are compiled, and hardly run


def inspector_spec(
    folder: Path,
    precision: Precision = "float32",
    contract: bool = True,
    strays: Mapping[str, Any] | None = None,
    batches: Sequence[int] = (),
) -> SubjectSpec:
    """The worker that inspects a candidate, which computes in this precision.

    `contract`: whether it checks the environment contract as well, which says the same in every precision.
    `strays`: how far the fields may stray in one step of this precision; `batches`: as of an `Inspector`.
    """
    place = str(folder.resolve())
    environment = {
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "1" if precision == "float64" else "0",
        "XLA_FLAGS": QUICK_COMPILE,
    }
    spec = SubjectSpec.of(INSPECTOR, folder=place, contract=contract, strays=dict(strays or {}), batches=list(batches))
    return dataclasses.replace(spec, files=(place,)).with_environment(**environment)


def drawn_batches(count: int, largest: int = LARGEST) -> list[int]:
    """Sizes that nobody knows beforehand, small ones as likely as large ones."""
    generator = random.SystemRandom()
    return [round(math.exp(generator.uniform(math.log(2), math.log(largest)))) for _ in range(count)]


def inspect_candidate(spec: SubjectSpec, limits: Limits = DEFAULT, timeout: float = 120.0) -> list[Finding]:
    """Start the worker of `inspector_spec` (inside a sandbox, say) and judge its answer."""
    try:
        with ProcessSubject(spec, 1, "the candidate", timeout) as worker:
            return inspect_through(worker, limits)
    except Exception as error:  # it died or hung; or whatever nonsense makes our own reading of it raise
        return [no_answer(error)]


def inspect_through(worker: ProcessSubject, limits: Limits) -> list[Finding]:
    """Inspect through a worker that is running already; raises CouldNotVerifyError if it has ended."""
    started, before = time.monotonic(), worker.ask("clock")
    asked = time.monotonic()
    data = worker.ask("inspect")
    answered = time.monotonic()
    after = worker.ask("clock")
    shortest, longest = answered - asked, time.monotonic() - started
    return sorted([*judge_inspection(data, limits), *judge_clocks(before, after, shortest, longest, limits)])


def no_answer(error: Exception) -> Finding:
    """The finding against a candidate whose worker gives no usable answer."""
    said = str(error) if isinstance(error, CouldNotVerifyError) else f"{type(error).__name__}: {error}"
    sentence = f"The candidate's worker gave no answer that can be used: {said.removeprefix('could not verify: ')}"
    return Finding("", 0, "worker", sentence)


def judge_clocks(before: Any, after: Any, shortest: float, longest: float, limits: Limits) -> list[Finding]:
    """A finding if the worker's clocks did not advance by `shortest` to `longest` seconds between two readings."""
    for clocks in (before, after):
        if not (isinstance(clocks, list) and len(clocks) == CLOCKS and all(type(clock) is float for clock in clocks)):
            return [Finding("", 0, "answer", "The worker's clocks cannot be read, so nothing it says counts.")]
    slow = shortest * (1 - limits.clock_share) - limits.clock_seconds
    fast = longest * (1 + limits.clock_share) + limits.clock_seconds
    if all(slow <= end - start <= fast for start, end in zip(before, after, strict=True)):
        return []
    return [Finding("", 0, "clock", "The candidate's worker has clocks that run otherwise than ours.")]
