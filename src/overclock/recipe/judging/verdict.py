"""What the judge says about a candidate at one level, and the facts a repair starts from."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from overclock.verify.text import where_text

Level = int | Literal["held-out"]
HYGIENE = 0
HELD_OUT: Literal["held-out"] = "held-out"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One level's answer. `failure` is what a repair prompt may say; a held-out failure says nothing but that."""

    level: Level
    verdict: str  # pass, fail, inconclusive, could not verify
    tests_passed: int
    tests_total: int
    failure: dict[str, Any] | None = None
    report: dict[str, Any] | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the candidate may go on."""
        return self.verdict == "pass"


def failure(level: Level, sentences: list[str], **facts: Any) -> dict[str, Any]:
    """The facts of a failure; `module`, `field` and `step` are None where they are not known."""
    known = {"module": None, "field": None, "step": None, **facts}
    return {"level": level, "sentence": sentences[0] if sentences else "", "sentences": sentences, **known}


def count(level: dict[str, Any]) -> tuple[int, int]:
    """(passed, all) of a level's result: compared outputs, scenarios and checks, fields, groups of policies."""
    if level["level"] == 1:
        outcomes = [f["passed"] for m in level["modules"] for c in m["comparisons"] for f in c["fields"]]
        outcomes.append(level["gate"]["passed"])
    elif level["level"] == 2:
        outcomes = [scenario["verdict"] == "pass" for scenario in level["scenarios"]]
        outcomes += [check["passed"] for check in level["metamorphic"]]
    elif level["level"] == 3:
        outcomes = [field["passed"] for comparison in level["comparisons"] for field in comparison["fields"]]
    else:
        outcomes = [group["verdict"] == "equivalent" for group in level["groups"]]
    return sum(outcomes), len(outcomes)


def failure_of(level: dict[str, Any], more: Sequence[str] = ()) -> dict[str, Any]:
    """What is wrong, from the result of a level that did not pass, and what was found besides."""
    facts = {1: _property, 2: _interaction, 3: _rollout, 4: _transfer}[level["level"]](level)
    sentences = [*facts["sentences"], *more] or [f"Level {level['level']} did not pass."]
    return {**facts, "sentence": sentences[0], "sentences": sentences}


def _property(level: dict[str, Any]) -> dict[str, Any]:
    sentences = []
    for module in level["modules"]:
        wrong = {f["name"]: f for c in module["comparisons"] for f in c["fields"] if not f["passed"]}
        first = next((c["first_failure"] for c in module["comparisons"] if c["first_failure"]), None)
        if first is None:
            continue
        example = "" if first["case"] is None else (
            f" For the inputs {first['inputs']} the reference gives {first['field']} = {first['reference']}, the "
            f"candidate {first['performance']}.{_worst(first)}"
        )  # fmt: skip
        where, verb = _where(first.get("precision")), "differs" if len(wrong) == 1 else "differ"
        sentences.append(f"{module['name']}: {', '.join(wrong)} {verb} from the reference{where}.{example}")
    gate = level["gate"]
    if gate.get("missing"):
        sentences.append(f"Not there: {', '.join(gate['missing'])}; keep the names of the reference's functions.")
    if gate["not_exercised"]:
        unused = ", ".join(name.rpartition(":")[2] for name in gate["not_exercised"])
        sentences.append(f"Never called by any function of the contract: {unused}; remove what is not needed.")
    first, modules = level["first_failure"], [one["name"] for one in level["modules"] if _differs(one)]
    if first is None:
        return failure(1, sentences, modules=modules)
    facts = {"module": first["module"], "field": first["field"], "inputs": first.get("inputs")}
    return failure(1, sentences, modules=modules, **facts)


def _worst(first: dict[str, Any]) -> str:
    """Which element of an array differs most, and how much may be; the others may differ in a last digit."""
    reference, performance = (np.asarray(first[side]) for side in ("reference", "performance"))
    kinds = {reference.dtype.kind, performance.dtype.kind}
    if not reference.shape or reference.shape != performance.shape or not kinds <= set("iuf"):
        return ""
    errors = np.nan_to_num(np.abs(reference.astype(float) - performance.astype(float)), nan=np.inf)
    place = [int(one) for one in np.unravel_index(np.argmax(errors), errors.shape)]
    return f" Element {place} differs most, by {errors.max():.3g}; {first['tolerance']:.3g} is allowed."


def _where(precision: str | None) -> str:
    """What is wrong in float32 alone is not found by looking at it in float64."""
    return " in float32" if precision == "float32" else ""


def _differs(module: dict[str, Any]) -> bool:
    return any(comparison["first_failure"] for comparison in module["comparisons"])


def _interaction(level: dict[str, Any]) -> dict[str, Any]:
    sentences, field, step = [], None, None
    for scenario in level["scenarios"]:
        found = scenario["first_mismatch"]
        if found is not None:
            field, step = field or found["field"], found["step"] if step is None else step
            sentences.append(
                f"In the scenario '{scenario['name']}' ({scenario['why']}) {found['field']} is {found['performance']} "
                f"after step {found['step']}{_where(found.get('precision'))}, the reference says {found['reference']}."
            )
    for check in level["metamorphic"]:
        if not check["passed"]:
            field = field or check["worst_field"]
            sentences.append(
                f"The environment does not agree with itself ({check['name']}): {check['worst_field']} is off by "
                f"{check['largest_error']:.3g} {check['unit']}."
            )
    sentences += [scenario["stale"] for scenario in level["scenarios"] if scenario["stale"]]
    if not level["scenarios"]:
        sentences.append("There are no scenarios.")
    return failure(2, sentences, field=field, step=step)


def _rollout(level: dict[str, Any]) -> dict[str, Any]:
    found = [
        {**c["first_divergence"], "precision": c.get("precision")}
        for c in level["comparisons"]
        if c["first_divergence"]
    ]
    if not found:  # flags excused too often, or what is compared beside episodes alone
        return failure(3, [f"Whole episodes agree, but {where_text(level)}."])
    first = min(found, key=lambda one: one["step"])
    sentence = (
        f"{first['field']} is {first['performance']} after step {first['step']} of the episode with seed "
        f"{first['episode_seed']}{_where(first['precision'])}, the reference says {first['reference']}."
    )
    return failure(3, [sentence], field=first["field"], step=first["step"], divergence=divergence(first))


def divergence(first: dict[str, Any]) -> dict[str, Any]:
    """A first divergence as the repair prompt names its parts."""
    named = {"seed": first["episode_seed"], "state": first["state_before"]}
    kept = ("step", "field", "reference", "performance", "error", "tolerance", "action")
    return {**{name: first[name] for name in kept}, **named}


def _transfer(level: dict[str, Any]) -> dict[str, Any]:
    return failure(4, [level["summary"]])
