"""The variables of an exported package's README: which levels the program passed, what they saw, and its limits."""

from collections.abc import Iterable
from typing import Any

from overclock.recipe.export.accepted import Accepted
from overclock.recipe.export.origin import Origin
from overclock.recipe.judging.verdict import kept_level
from overclock.recipe.runs.iterations import Judgement
from overclock.recipe.runs.tables import seen_words
from overclock.recipe.runs.words import level_words
from overclock.verify.rollout.result import RolloutLevel
from overclock.verify.text import worst_text

OVERFLOW = "overflow"  # the flag of a state with lists that have a capacity


def readme_facts(accepted: Accepted, origin: Origin) -> dict[str, Any]:
    """The variables of the template."""
    report, volatile = accepted.report, accepted.report.volatile
    seen = {row.level: row.report for row in volatile.verification}
    rollouts = kept_level(seen.get(3))
    assert rollouts is None or isinstance(rollouts, RolloutLevel)
    return {
        "run": volatile.run,
        "date": (volatile.ended or "").partition("T")[0],
        "agent": report.agent,
        "candidate": accepted.frozen.hash,
        "held": ", ".join(map(str, accepted.project.judging.levels)),
        "versions": volatile.versions or {},
        "levels": [
            _level(verdict, seen.get(verdict.level)) for verdict in (report.final.levels if report.final else ())
        ],
        "not_judged": [level for level in (1, 2, 3, 4) if level not in accepted.project.judging.levels],
        "errors": _errors(rollouts),
        "tolerances": report.judged_by.tolerances if report.judged_by else [],
        "warning": report.sandbox.warning,
        "limits": _limits(accepted, origin, shown_equal(rollouts, accepted.project.contract.precisions)),
    }


def _level(verdict: Judgement, report: dict[str, Any] | None) -> dict[str, str]:
    tests, seen = f"{verdict.passed} / {verdict.total}", seen_words(report)
    return {"name": level_words(verdict.level), "verdict": verdict.verdict, "tests": tests, "seen": seen}


def _errors(rollouts: RolloutLevel | None) -> list[dict[str, Any]]:
    """The comparisons of level 3, a row each."""
    return [
        {
            "actions": one.actions,
            "precision": one.precision,
            "mode": one.mode.replace("_", " "),
            "episodes": one.episodes,
            "steps": one.steps,
            "worst": worst_text(one),
        }
        for one in ([] if rollouts is None else rollouts.comparisons)
    ]


def shown_equal(rollouts: RolloutLevel | None, precisions: Iterable[str]) -> str:
    """The sentence about equality: proven where level 3 was exhaustive, or compared by playing."""
    walked = None if rollouts is None else rollouts.exhaustive
    if walked is None or not walked.proof:
        return "It was compared with the original by playing, not proven equal; the table says how much was played."
    played = [name for name in precisions if name != walked.precision]
    said = f"It is proven equal in {walked.precision}"
    return f"{said}; in {' and '.join(played)} compared by playing." if played else f"{said}; the table says for what."


def _limits(accepted: Accepted, origin: Origin, equal: str) -> list[str]:
    """What a user should know that follows from the project and its contract."""
    project = accepted.project
    contract, reference = project.contract, project.reference
    given = ", ".join(f"{name}={value!r}" for name, value in reference.arguments.items())
    limit = "no time limit" if reference.max_steps is None else f"a time limit of {reference.max_steps} steps"
    said = [
        f"It is {origin.source} made with {given or 'no arguments'} and {limit}; other arguments were not translated.",
        equal,
        "The same seed gives other episodes than in the original: random numbers have the same distributions and come "
        "from another generator.",
        "Rewards are float32. Drawing is left out, and `info` holds only what the rules here put there.",
    ]
    if contract.codec is not None:
        said.append("Observations that are tuples or dicts in the original are one array, in the order of its space.")
    if "float32" in contract.precisions and "float64" in contract.precisions:
        said.append("JAX computes in float32 unless JAX_ENABLE_X64=1 is set; the tolerances say what that costs.")
    if contract.x64:
        said.append(f"It needs float64 (JAX_ENABLE_X64=1) and refuses to play without: {contract.x64}.")
    if contract.restart:
        names = ", ".join(contract.restart)
        said.append(
            f"{names} outlive a reset of the original; here every episode begins as the first of a new instance."
        )
    if any(field.name == OVERFLOW for field in contract.state):
        said.append("Lists have a capacity: once `overflow` in the state is true, the episode is no longer right.")
    for precision, close in contract.precisions.items():
        if close.free_running_steps is not None:
            steps = close.free_running_steps
            said.append(f"In {precision} whole episodes were compared for {steps} steps; later ones step by step only.")
    return said
