"""Level 1 of a module that comes before the environment: its functions, each against calls recorded from the reference.

Only functions of a module that take and return numbers and arrays, and draw nothing, can be recorded and asked alone;
what cannot is listed with the reason, and is checked as a part of the environment later on.
"""

import dataclasses
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.errors import UsageError
from overclock.recipe.contract.file import Closeness, ContractFile, load_contract
from overclock.recipe.contract.modules import step_from_boundary
from overclock.recipe.contract.outputs import of_function
from overclock.recipe.judging.verdict import ComparedFunction, FunctionsGate, FunctionsLevel
from overclock.recipe.project.project import ModulePlan, checkable
from overclock.verify.contract import Precision
from overclock.verify.property.calls import Call, Recorder
from overclock.verify.property.compare import compare
from overclock.verify.property.module import Case, Cases, Module, collect
from overclock.verify.property.targets import find
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec

LANES, STEPS = 4, 256
NUMBERS = "biuf"  # the kinds of arrays that are compared
RESULT = "result"


@dataclasses.dataclass(frozen=True)
class RecordedCalls:
    """What the reference's functions did, and why the others are not checked."""

    cases: dict[str, Cases]  # by 'package.module:function'
    not_checked: dict[str, str]


def record_functions(reference: SubjectSpec, plan: ModulePlan, seed: int, timeout: float) -> RecordedCalls:
    """Let the reference (of a project's twin) play while a module's functions are recorded."""
    spec = reference.wrapped_by(FunctionRecorder, functions=checkable(plan), seed=seed)
    with ProcessSubject(spec, LANES, "the reference", timeout) as worker:
        answer = worker.ask("record", steps=STEPS)
    return RecordedCalls({name: Cases(**one) for name, one in answer["cases"].items()}, answer["not_checked"])


def check_functions(
    spec: SubjectSpec, recorded: RecordedCalls, contract: ContractFile, timeout: float
) -> FunctionsLevel:
    """Every recorded function of a candidate (the worker of `function_spec`), as a result of level 1."""
    rows = [ComparedFunction(name=name.partition(":")[2], comparisons=[]) for name in recorded.cases]
    missing: list[str] = []
    for precision in contract.precisions if rows else ():
        x64 = "1" if precision == "float64" else "0"
        one_way = spec.with_environment(JAX_ENABLE_X64=x64, JAX_PLATFORMS="cpu")
        with ProcessSubject(one_way, 1, "the candidate", timeout) as worker:
            missing = worker.ask("missing", functions=[row.name for row in rows])
            for row, (name, cases) in zip(rows, recorded.cases.items(), strict=True):
                if row.name not in missing:
                    outputs = worker.ask("run", function=row.name, inputs=cases.inputs, count=len(cases))
                    module = _module(name, cases.expected, contract.precisions)
                    row.comparisons.append(compare(module, cases, outputs, precision))
    failures = [one.first_failure for row in rows for one in row.comparisons if one.first_failure is not None]
    return FunctionsLevel(
        verdict="fail" if failures or missing else "pass",
        modules=rows,
        first_failure=failures[0] if failures else None,
        gate=FunctionsGate(passed=not missing, missing=missing),
        not_checked=recorded.not_checked,
    )


def function_spec(folder: Path, module: str) -> SubjectSpec:
    """The worker that runs the functions of `<module>.py` in a candidate's folder."""
    place = str(folder.resolve())
    return dataclasses.replace(SubjectSpec.of(FunctionRunner, folder=place, module=module), files=(place,))


class FunctionRecorder:
    """Runs in the reference's process: plays, and remembers what its functions were given and gave back."""

    def __init__(self, num_envs: int, subject: dict[str, Any], functions: list[str], seed: int) -> None:
        self._seed, self._not_checked = seed, dict[str, str]()
        self._recorder = Recorder([name for name in functions if self._is_function(name)], seed)
        self._recorder.start()
        self._subject: Any = EntryPoint.from_json(subject).call(num_envs)
        self._contract = load_contract(Path(subject["arguments"]["contract"]))

    def describe(self) -> dict[str, Any]:
        """The calls that this worker answers."""
        return {"calls": ["record"]}

    def record(self, steps: int) -> dict[str, Any]:
        """Play random actions, then from boundary states; cases by function, and why others have none."""
        self._play(steps)
        step_from_boundary(self._contract, self._subject.instances[0])
        found = {}
        for name, sample in self._recorder.samples.items():
            try:
                module = _module(name, {RESULT: np.zeros(1)}, {"float64": Closeness()})
                cases = collect(module, sample.kept(), (), sample.calls)
            except (UsageError, ValueError) as error:
                self._not_checked[name] = str(error).partition("\n")[0]
            else:
                found[name] = dataclasses.asdict(cases)
        return {"cases": found, "not_checked": self._not_checked}

    def _is_function(self, name: str) -> bool:
        try:
            (place,) = find(name)
        except (UsageError, ValueError):  # a constant, a class
            return False
        return inspect.isfunction(place.found)

    def _play(self, steps: int) -> None:
        from overclock.verify.rollout.actions import uniform

        generator = np.random.default_rng(self._seed)
        act, lanes = uniform(self._subject.describe()), self._subject.num_envs
        seen: Observed = self._subject.reset(np.ones(lanes, np.bool_), generator.integers(0, 2**31, lanes))
        for _ in range(steps):
            seen = self._subject.step(act(generator, seen))
            ended = seen.outputs["terminated"] | seen.outputs["truncated"]
            if ended.any():
                seen = self._subject.reset(ended, generator.integers(0, 2**31, lanes))


class FunctionRunner:
    """Runs in a candidate's worker: one function at a time, for all cases at once."""

    def __init__(self, num_envs: int, folder: str, module: str) -> None:
        from overclock.recipe.judging.candidate import load_module
        from overclock.recipe.judging.plain_process import forget_who_asks

        forget_who_asks()
        self._module = load_module(Path(folder), module)

    def describe(self) -> dict[str, Any]:
        """The calls that this worker answers."""
        return {"calls": ["missing", "run"]}

    def missing(self, functions: list[str]) -> list[str]:
        """Which of these it does not have."""
        return [name for name in functions if not callable(getattr(self._module, name, None))]

    def run(self, function: str, inputs: Arrays, count: int) -> Arrays:
        """The outputs of one function."""
        from overclock.verify.property.runner import run_batch

        found = getattr(self._module, function)
        return run_batch(lambda env, params, given: _named(found(**given)), None, None, inputs, count)


def _module(name: str, expected: Arrays, precisions: Mapping[Precision, Closeness]) -> Module:
    """A function as level 1 knows it, as close as the contract wants states to be."""
    return Module(
        name=name.partition(":")[2],
        reference=(name,),
        case=_case,
        performance=lambda env, params, inputs: {},
        exercises=(),
        outputs={precision: tuple(of_function(one, close, values) for one, values in expected.items())
                 for precision, close in precisions.items()},
    )  # fmt: skip


def _case(call: Call) -> Case:
    if call.draws:
        raise UsageError("It draws random numbers.")
    inputs, expected = _arrays(call.arguments), _arrays(_named(call.result))
    if any(not np.array_equal(value, call.arguments_after[name], equal_nan=True) for name, value in inputs.items()):
        raise UsageError("It changes its arguments.")
    return Case(inputs, expected)


def _named(result: Any) -> dict[str, Any]:
    """A result by name: the parts of a tuple, or the whole."""
    if isinstance(result, tuple):
        return {f"{RESULT}_{number}": part for number, part in enumerate(result)}
    return {RESULT: result}


def _arrays(values: Mapping[str, Any]) -> Arrays:
    found = {}
    for name, value in values.items():
        found[name] = np.asarray(value) if not isinstance(value, dict | str | bytes | None) else np.array(None)
        if found[name].dtype.kind not in NUMBERS:
            raise UsageError(f"Its '{name}' is no array of numbers.")
    return found
