"""Verification results in words, for the terminal and the page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from overclock.verify.reach.reached import inconclusive_text
from overclock.verify.value_text import actions_text, sides_text, state_text

if TYPE_CHECKING:
    from overclock.verify.interaction.result import ScenarioResult
    from overclock.verify.mutation.result import MutationReport
    from overclock.verify.reach.counts import SearchCounts
    from overclock.verify.result import LevelResult, VerifyReport
    from overclock.verify.rollout.result import ComparisonResult, Divergence


def made_with(report: "VerifyReport | MutationReport") -> str:
    """What computed a result, in a line: the processor, and the versions of the programs."""
    programs = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    return programs if report.processor is None else f"{report.processor}; {programs}"


def as_kernel(backend: str | None) -> str:
    """What follows the name of an environment that is a kernel."""
    return {"c": " as a C kernel", "cuda": " as a CUDA kernel"}.get(backend or "", "")


def performance_name(report: "VerifyReport") -> str:
    """What was compared with the reference: the environment, and the kernel it was where it was one."""
    return report.env + as_kernel(report.backend)


def worst_text(comparison: "ComparisonResult") -> str:
    """The largest error of a comparison and the field that has it."""
    worst = max(comparison.fields, key=lambda field: field.largest_error)
    return "0" if worst.largest_error == 0 else f"{worst.largest_error:.1e} ({worst.name})"


def divergence_text(first: "Divergence") -> str:
    """The first divergence of a comparison in a few lines: where it is, both values, the state before."""
    before = first.state_before
    reference, performance = sides_text(first.reference, first.performance)
    return (
        f"first divergence: {first.field} at step {first.step} of the episode with seed {first.episode_seed}\n"
        f"  reference {reference}, performance {performance} "
        f"(error {first.error:.3g}, tolerance {first.tolerance:.3g})\n"
        f"  state before {state_text(before) if isinstance(before, dict) else before}, action {first.action}"
    )


def level_text(level: "LevelResult") -> str:
    """What one level saw, in one line."""
    if level.verdict == "not run":
        return f"not run: {level.reason}"
    if level.level == 1:
        cases = sum(module.recorded + module.boundary for module in level.modules)
        found = f"{len(level.modules)} modules, {cases:,} recorded and boundary cases"
        if outside := [module.name for module in level.modules if module.by_xla]:
            found += f"; computed by XLA, not by the kernel: {', '.join(outside)}"
    elif level.level == 2:
        checks = f"{len(level.metamorphic)} metamorphic checks" if level.metamorphic else "no metamorphic checks"
        found = "; ".join([f"{len(level.scenarios)} scenarios, {checks}", *level.notes])
    elif level.level == 3:
        walked, found = level.exhaustive, _episodes_text(level.comparisons)
        if walked is not None and walked.verdict != "fail":
            found += f"; {walked.sentence}{' (a proof)' if walked.proof else ''}"
        if level.envelope is not None and level.envelope.verdict == "pass":
            found += f"; {level.envelope.sentence}"
        if level.outcomes is not None and level.outcomes.verdict == "pass":
            found += f"; {level.outcomes.sentence}"
        if level.search is not None:
            found += f"; {search_text(level.search)}"
        if level.reached is not None:
            found += f"; {level.reached.sentence}"
        if level.beyond_end is not None:
            found += f"; {level.beyond_end}"
    else:
        return level.summary
    where = where_text(level)
    return found if where is None else f"{found}; {where}"


def search_text(counts: "SearchCounts") -> str:
    """What the search for branches did, and what it reached that play of this level's search did not."""
    changed, missed = len(counts.reached_from_changed_states), len(counts.missed)
    said = f"search for branches: {counts.tries:,} tries, {len(counts.reached_by_play):,} outcomes reached by play, "
    said += f"{changed:,} more from changed states"
    return f"{said}, {missed:,} not reached" if missed else said


def _episodes_text(comparisons: "Sequence[ComparisonResult]") -> str:
    """How much was played and compared; what was not compared, and what was cut, is part of the news."""
    episodes, steps = sum(one.episodes for one in comparisons), sum(one.steps for one in comparisons)
    late, cut = sum(one.beyond_horizon for one in comparisons), sum(one.cut for one in comparisons)
    said = f"{episodes:,} episodes, {steps:,} steps, every contracted field"
    said += f"; {late:,} free-running steps beyond the horizon not compared" if late else " at every step"
    if rare := sum(one.rare_steps or 0 for one in comparisons):
        said += f"; {rare:,} rare events"
    return f"{said}; {cut:,} episodes cut at the step limit" if cut else said


def where_text(level: "LevelResult") -> str | None:
    """Where a level saw something wrong first; None if it saw nothing wrong."""
    if level.verdict == "not run" or level.verdict == "pass":
        return None
    if level.level == 1:
        first, gate = level.first_failure, level.gate
        if first is not None:
            return f"first failure: {first.module}.{first.field}"
        return f"not exercised: {', '.join(gate.not_exercised + gate.declared_but_not_run) or 'no function'}"
    if level.level == 2:
        wrong = [_not_passed(scenario) for scenario in level.scenarios if scenario.verdict != "pass"]
        wrong += [check.name for check in level.metamorphic if not check.passed]
        return f"not passed: {', '.join(wrong)}" if wrong else "there is no scenario"
    if level.level == 3:
        found = [one.first_divergence for one in level.comparisons if one.first_divergence is not None]
        if found:
            return f"first divergence: {found[0].field} at step {found[0].step}"
        excused = [one for one in level.comparisons if one.too_many_excused]
        if excused:
            flags = f"{excused[0].excused_flags:,} of {excused[0].excusable_flags:,} flags"
            return f"{flags} differ next to a threshold, more than rounding explains"
        parts = (level.exhaustive, level.envelope, level.outcomes)
        said = next((part.sentence for part in parts if part is not None and part.verdict != "pass"), None)
        incomplete = level.reached is not None and not level.reached.complete
        return inconclusive_text(level.reached) if said is None and level.reached and incomplete else said
    return level.summary


def _not_passed(scenario: "ScenarioResult") -> str:
    """A scenario that did not pass, and where it parts."""
    first = scenario.first_mismatch
    return scenario.name if first is None else f"{scenario.name} ({first.field} at step {first.step})"


def numbered(levels: Sequence[int]) -> str:
    """Levels in words: 'level 3', 'levels 1 to 4', 'levels 1, 3'."""
    if len(levels) == 1:
        return f"level {levels[0]}"
    together = list(levels) == list(range(levels[0], levels[-1] + 1))
    return f"levels {levels[0]} to {levels[-1]}" if together else f"levels {', '.join(map(str, levels))}"


def repro_lines(report: "VerifyReport") -> list[str]:
    """The shortest episode that shows the difference, and what replays it; none where there is no repro."""
    if report.repro is None:
        return []
    lines = [f"shortest episode: {report.repro.sentence}"]
    return lines if report.repro.command is None else [*lines, f"  replay it: {report.repro.command}"]


def cause_text(report: "VerifyReport") -> str | None:
    """What is wrong first, in half a sentence: the field of the repro, and the output that level 1 blames.

    None where no single field is known to be wrong.
    """
    blamed = next((level.first_failure for level in report.run if level.level == 1), None)
    by_level_1 = None if blamed is None else f"{blamed.module}.{blamed.field}"
    if (repro := report.repro) is None:
        return None if by_level_1 is None else f"{by_level_1} is wrong (level 1)"
    found = f"{repro.field} is wrong after {actions_text(len(repro.actions))}"
    return found if by_level_1 is None else f"{found}; level 1 blames {by_level_1}"


def closing_lines(report: "VerifyReport") -> list[str]:
    """What stands at the end, below `repro_lines`: what returns would have said, adequacy, the verdict."""
    lines = []
    if report.returns_alone is not None:
        lines.append(report.returns_alone.sentence)
    if report.adequacy is not None:
        lines.append(adequacy_text(report.adequacy))
    return [*lines, verdict_text(report)]


def adequacy_text(found: "MutationReport") -> str:
    """The last `overclock mutate` in one sentence."""
    shares = ", ".join(f"level {level} {one.share:.1%}" for level, one in found.per_level.items())
    old = " What it depends on has changed since: run it again." if found.stale else ""
    return (
        f"adequacy: {found.killed} of {found.total} planted mistakes were found ({found.score:.1%}; alone: "
        f"{shares}), `{found.command}` on {found.date[:10]}.{old}"
    )


def bound_text(report: "VerifyReport") -> str | None:
    """What clean random episodes prove, in half a sentence; None where none were played or some diverged."""
    uniform = [one for one in report.comparisons if one.actions == "uniform"]
    bounds = [one.divergence_bound for one in uniform if one.passed and one.divergence_bound is not None]
    if not uniform or len(bounds) < len(uniform):
        return None
    bound = f"at 95 % confidence fewer than {max(bounds):.2%} of random episodes diverge"
    short = [one for one in uniform if one.beyond_horizon and one.horizon is not None]
    if not short:
        return bound
    widths = " and ".join(dict.fromkeys(one.precision for one in short))
    steps = min(one.horizon for one in short if one.horizon is not None)
    return f"{bound} in what was compared: every step on its own, free running in {widths} for {steps:,} steps"


def verdict_text(report: "VerifyReport") -> str:
    """The whole report in one line."""
    bound = bound_text(report)
    if report.verdict == "pass" and bound is not None:
        return f"pass: no difference; {bound}."
    if report.verdict == "fail":
        cause = cause_text(report)
        return "fail: the two sides differ" + ("." if cause is None else f": {cause}.")
    rollouts = report.rollouts
    if report.verdict == "inconclusive" and rollouts is not None and rollouts.verdict == "inconclusive":
        return f"inconclusive: no difference found, but {where_text(rollouts)}."
    sentences = {"pass": "no difference found."}
    return f"{report.verdict}: {sentences.get(report.verdict, 'see the level that says so.')}"
