"""Results of levels with few words, for tests of what is made from them."""

from overclock.verify.compare import ComparedField
from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.interaction.result import InteractionLevel, ScenarioResult
from overclock.verify.property.result import (
    BothCoverages,
    ComparedOutput,
    Gate,
    ModuleComparison,
    ModuleResult,
    PropertyLevel,
    WrongCase,
)
from overclock.verify.result import VerifyReport
from overclock.verify.rollout.result import ComparisonResult, Divergence, RolloutLevel
from overclock.verify.sides.selfcheck import ReferenceCheck


def module_comparison(*errors, precision="float64", first_failure=None):
    fields = [
        ComparedOutput(name="x", compared=1, largest_error=one, tolerance=0.0, reason="", passed=True) for one in errors
    ]
    return ModuleComparison(
        precision=precision, passed=first_failure is None, fields=fields, first_failure=first_failure
    )


def module(name, *comparisons, recorded=1, boundary=0):
    return ModuleResult(
        name=name, reference=[], exercises=[], recorded=recorded, boundary=boundary, calls=recorded,
        comparisons=list(comparisons),
    )  # fmt: skip


def properties(*modules, verdict="pass"):
    gate = Gate(passed=True, exported=[], not_exercised=[], declared_but_not_run=[])
    coverage = BothCoverages(reference=None, performance=None)
    return PropertyLevel(verdict=verdict, modules=list(modules), first_failure=None, gate=gate, coverage=coverage)


def wrong_case(module="a", field="x"):
    return WrongCase(
        module=module, precision="float64", field=field, case=0, origin="recorded", inputs={"a": 1}, reference=1,
        performance=2, error=1.0, tolerance=0.0, relative_tolerance=0.0, wrong=1, compared=1,
    )  # fmt: skip


def scenarios(*names, verdict="pass"):
    found = [
        ScenarioResult(
            name=name, why="", verdict="pass", stale=None, steps=1, fields=[], deviations=[], first_mismatch=None,
            runs=[],
        )
        for name in names
    ]  # fmt: skip
    return InteractionLevel(verdict=verdict, scenarios=found, metamorphic=[])


def walk(proof=True, **more):
    known = {
        "verdict": "pass", "precision": "float64", "states": 1200, "actions": 4, "transitions": 4800,
        "reset_states": 1, "excused_flags": 0, "first_mismatch": None, "notes": [],
        "sentence": "exhaustive: 1200 states x 4 actions, all equal",
    }  # fmt: skip
    return WalkResult(proof=proof, **{**known, **more})


def episodes(*errors, mode="per_step", precision="float64", count=7, steps=70, branches=None, first=None):
    fields = [
        ComparedField(name="obs", compared=1, largest_error=one, tolerance=0.0, reason="", passed=first is None)
        for one in errors or (0.0,)
    ]
    return ComparisonResult(
        mode=mode, precision=precision, actions="sticky", passed=first is None, episodes=count, steps=steps,
        terminated=count, truncated=0, divergence_bound=None, branches=branches, fields=fields,
        first_divergence=first,
    )  # fmt: skip


def divergence(**more):
    known = {
        "field": "state.x", "episode_seed": 77, "step": 3, "reference": 1.0, "performance": 2.0, "error": 1.0,
        "tolerance": 0.0, "state_before": {"x": 0.5}, "action": 1,
    }  # fmt: skip
    return Divergence(**{**known, **more})


def rollouts(*comparisons, exhaustive=None, verdict="pass"):
    return RolloutLevel(verdict=verdict, comparisons=list(comparisons), exhaustive=exhaustive)


def verify_report(*levels, **more):
    check = ReferenceCheck(steps=1, episodes=1, fields=[], set_state="restores", seed=0)
    known = {
        "env": "x", "reference": "y", "contract": {}, "verdict": "pass", "self_check": check, "repro": None,
        "returns_alone": None, "adequacy": None, "planted": None, "seed": 0, "command": "", "date": "", "versions": {},
    }  # fmt: skip
    return VerifyReport(levels=list(levels), **{**known, **more})
