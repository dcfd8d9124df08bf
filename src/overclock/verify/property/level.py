"""Level 1: every function of the performance side against input/output pairs recorded from the reference.

The reference plays in its own process while its functions are recorded; boundary inputs follow. The performance side
gets the inputs, in its own process and in one batch per module, and its outputs are compared here. The level also
fails when a public function of the performance side was never run: a test that misses a function says nothing of it.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from overclock.env import registry
from overclock.errors import UnknownEnvironmentError, UsageError
from overclock.progress import Progress, silent
from overclock.results import decode
from overclock.verify.contract import Precision, Twin
from overclock.verify.property.compare import compare
from overclock.verify.property.exported import functions_to_run
from overclock.verify.property.module import Cases, Module
from overclock.verify.property.recorded_reference import recorded
from overclock.verify.property.result import (
    BothCoverages,
    Coverage,
    Gate,
    ModuleComparison,
    ModuleResult,
    PropertyLevel,
)
from overclock.verify.property.runner import runner
from overclock.verify.reach.compared import SEEN
from overclock.verify.reach.ledger import Seen
from overclock.verify.rollout.actions import SourceMaker, controlled, uniform
from overclock.verify.sides.process import ProcessSubject

LANES = 8
STEPS = {"uniform": 256, "controlled": 512}  # per lane; the longer one passes CartPole's time limit of 500
OTHER_STEPS = 256
# One request for cases makes thousands of calls of the reference, and a search among them that may take a minute.
CASES_PATIENCE = 5


@dataclasses.dataclass
class Recording:
    """What the reference did: cases per module, how much of its recorded functions ran, which branches it took."""

    cases: dict[str, Cases]
    coverage: Coverage
    seen: Seen | None = None  # branches that the boundary cases took


def check_properties(
    twin: Twin,
    precisions: Sequence[Precision] | None = None,
    seed: int = 0,
    progress: Progress = silent,
    sources: Mapping[str, SourceMaker] | None = None,
    timeout: float = 120.0,
) -> PropertyLevel:
    """Record the reference, run the performance side, compare."""
    recording = record(twin, seed, progress, sources, timeout)
    return check_recorded(twin, recording, precisions, progress, timeout)


def modules_of(twin: Twin) -> tuple[Module, ...]:
    """The modules of a twin."""
    if twin.modules is None:
        raise UsageError(f"{twin.name} names no modules, so level 1 has nothing to check; set Twin.modules.")
    return registry.load(twin.modules)


def record(
    twin: Twin,
    seed: int = 0,
    progress: Progress = silent,
    sources: Mapping[str, SourceMaker] | None = None,
    timeout: float = 120.0,
) -> Recording:
    """Let the reference play with different sources of actions, then run every module's boundary inputs through it."""
    modules = modules_of(twin)
    sources = _default_sources(twin) if sources is None else sources
    spec = recorded(twin.reference, twin.modules or "", seed)
    with ProcessSubject(spec, LANES, "the reference", timeout) as reference:
        for number, (name, source) in enumerate(sources.items()):
            steps = STEPS.get(name, OTHER_STEPS)
            heard = functools.partial(_relay, progress, f"recording, {name} actions", steps)
            _play(reference, source, steps, seed + number, heard)
        reference.timeout *= CASES_PATIENCE
        cases = {}
        for done, module in enumerate(modules):
            progress("boundary values", done, len(modules))
            cases[module.name] = Cases(**reference.ask("cases", name=module.name))
        coverage = decode(Coverage, reference.ask("coverage"))
        watched = SEEN in reference.description["calls"]
        return Recording(cases, coverage, decode(Seen, reference.ask(SEEN)) if watched else None)


def check_recorded(
    twin: Twin,
    recording: Recording,
    precisions: Sequence[Precision] | None = None,
    progress: Progress = silent,
    timeout: float = 120.0,
) -> PropertyLevel:
    """Compare a performance side with a recording that may be shared by many of them."""
    modules = modules_of(twin)
    comparisons: dict[str, list[ModuleComparison]] = {module.name: [] for module in modules}
    by_xla: dict[str, str | None] = dict.fromkeys(comparisons)
    exported: dict[str, None] = {}
    ran: dict[str, set[str]] = {module.name: set() for module in modules}
    coverage = None
    for precision in precisions or tuple(twin.contracts):
        spec = runner(twin.performance_in(precision), twin.modules or "")
        with ProcessSubject(spec, 1, "the performance side", timeout) as performance:
            for done, module in enumerate(modules):
                progress(f"checking, {precision}", done, len(modules))
                cases = recording.cases[module.name]
                answer = performance.ask("run", name=module.name, inputs=cases.inputs, count=len(cases))
                ran[module.name] |= set(answer["ran"])
                by_xla[module.name] = by_xla[module.name] or answer.get("by_xla")
                comparisons[module.name].append(compare(module, cases, answer["outputs"], precision))
            said, sources = performance.ask("exported"), performance.ask("sources")
            exported |= dict.fromkeys(functions_to_run(said, sources, twin.performance.files))
            coverage = coverage or decode(Coverage, performance.ask("coverage"))
    gate = _gate(modules, list(exported), ran)
    failures = [one.first_failure for made in comparisons.values() for one in made if one.first_failure is not None]
    return PropertyLevel(
        verdict="pass" if gate.passed and not failures else "fail",
        modules=[
            _described(module, recording.cases[module.name], comparisons[module.name], by_xla[module.name])
            for module in modules
        ],
        first_failure=failures[0] if failures else None,
        gate=gate,
        coverage=BothCoverages(reference=recording.coverage, performance=coverage),
    )


def _play(
    reference: ProcessSubject, source: SourceMaker, steps: int, seed: int, progress: Callable[[int], None]
) -> None:
    """Episodes back to back in every lane."""
    generator = np.random.default_rng(seed)
    act = source(reference.description)
    seeds = generator.integers(0, 2**31, reference.num_envs)
    seen = reference.reset(np.ones(reference.num_envs, np.bool_), seeds)
    for step in range(steps):
        seen = reference.step(act(generator, seen))
        ended = seen.outputs["terminated"] | seen.outputs["truncated"]
        if ended.any():
            seeds = generator.integers(0, 2**31, reference.num_envs)
            seen = reference.reset(ended, seeds)
        progress(step + 1)


def _default_sources(twin: Twin) -> dict[str, SourceMaker]:
    """Uniform actions, and the scripted player of an environment that has one."""
    try:
        controller = registry.spec(twin.name).controller
    except UnknownEnvironmentError:
        controller = None
    return {"uniform": uniform} | ({"controlled": controlled(registry.load(controller))} if controller else {})


def _described(module: Module, cases: Cases, comparisons: list[ModuleComparison], by_xla: str | None) -> ModuleResult:
    return ModuleResult(
        name=module.name, reference=list(module.reference), exercises=list(module.exercises), recorded=cases.recorded,
        boundary=cases.boundary, calls=cases.calls, comparisons=comparisons, by_xla=by_xla,
    )  # fmt: skip


def _gate(modules: Sequence[Module], exported: list[str], ran: Mapping[str, set[str]]) -> Gate:
    """Every public function ran, and every module ran what it says it exercises."""
    everything = set().union(*ran.values())
    missed = [name for name in exported if name not in everything]
    empty = [f"{m.name}: {name}" for m in modules for name in m.exercises if name not in ran[m.name]]
    passed = bool(exported) and not missed and not empty
    return Gate(passed=passed, exported=exported, not_exercised=missed, declared_but_not_run=empty)


def _relay(progress: Progress, what: str, total: int, done: int) -> None:
    progress(what, done, total)
