"""The report in a few sentences: what was found, what was compared, and what none of it shows."""

from collections.abc import Iterable

from overclock.bench import tables
from overclock.bench.config import CUDA, XLA, C
from overclock.bench.results import Throughput
from overclock.report.table import Kind, Table, tolerance_text
from overclock.report.walk import proof_text
from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.interaction.result import InteractionLevel
from overclock.verify.margins import margin_rows
from overclock.verify.property.result import PropertyLevel
from overclock.verify.result import RunLevel, VerifyReport
from overclock.verify.rollout.result import ComparisonResult, RolloutLevel
from overclock.verify.text import bound_text, cause_text, numbered, performance_name, where_text
from overclock.verify.transfer.result import TransferLevel


def sentences(verify: VerifyReport | None, bench: Throughput | None) -> list[str]:
    """The whole report in a few sentences."""
    said = [] if verify is None else _verified(verify)
    if bench and bench.ratios:
        largest = max(ratio.batch for ratio in bench.ratios)
        judged = {"c": C, "cuda": CUDA}.get((verify.backend if verify else None) or "", XLA)
        against = [ratio for ratio in bench.ratios if ratio.batch == largest and ratio.implementation == judged]
        factors = ", ".join(f"{_factor(ratio.ratio)} {ratio.peer}" for ratio in against)
        if factors:
            said.append(f"Speed at batch {largest:,} on {tables.device_name(bench)}, in the same run: {factors}.")
    return said


def _verified(verify: VerifyReport) -> list[str]:
    sides = (performance_name(verify), verify.reference)
    stopped = next((level for level in verify.run if level.verdict == verify.verdict), verify.run[0])
    passed = [level.level for level in verify.run if level.verdict == "pass"]
    if verify.verdict == "pass":
        said = [f"{sides[0]} equals {sides[1]} in all that was compared: {numbered(passed)} passed."]
    else:
        word = "differs from" if verify.verdict == "fail" else "was compared with"
        cause = cause_text(verify) if verify.verdict == "fail" else None
        why = _stop(stopped)
        said = [f"{sides[0]} {word} {sides[1]}: {why if cause is None else f'{cause}.'}"]
        if cause is not None:
            said.append(f"{why[0].upper()}{why[1:]}")
        if passed:
            said.append(f"{numbered(passed).capitalize()} passed.")
    left = [level.level for level in verify.levels if level.verdict == "not run"]
    if left:
        said.append(f"{numbered(left).capitalize()} {'was' if len(left) == 1 else 'were'} not run.")
    walked = exhaustive(verify)
    if walked is not None and walked.proof:
        proof = proof_text(walked)
        said.append(f"{proof[0].upper()}{proof[1:]}: {walked.states:,} states x {walked.actions:,} actions.")
    elif (bound := bound_text(verify)) is not None:
        said.append(f"{bound[0].upper()}{bound[1:]}.")
    if verify.planted is not None:
        missed = " It was not." if verify.verdict == "pass" else ""
        said.append(f"The bug '{verify.planted}' was planted on purpose, to see whether it is found.{missed}")
    return said


def _stop(level: RunLevel) -> str:
    """Why the verdict is not a pass; level 4's summary begins with its own verdict."""
    where, name = where_text(level), f"level {level.level} ({level.name})"
    verdict = "failed" if level.verdict == "fail" else f"says {level.verdict}"
    said = f"{name}: {where}" if level.level == 4 else f"{name} {verdict}; {where or 'see below'}"
    return f"{said.rstrip('.')}."


def _factor(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"


def exhaustive(verify: VerifyReport) -> WalkResult | None:
    """The walk over every state of a finite environment, where there was one."""
    return None if verify.rollouts is None else verify.rollouts.exhaustive


def compared(verify: VerifyReport) -> list[tuple[str, str]]:
    """What stood against what, and whether the reference agreed with itself."""
    planted = "" if verify.planted is None else f", with the bug '{verify.planted}' planted"
    own = verify.self_check
    found = [("reference", str(verify.reference)), ("performance side", f"{performance_name(verify)}{planted}")]
    if widths := precisions(verify):
        found.append(("compared in", " and ".join(widths)))
    verdict = "agrees with itself" if own.passed else "DIFFERS FROM ITSELF"
    return [
        *found,
        (
            "the reference itself",
            f"{verdict} in {own.runs} runs with the same randomness: {own.episodes:,} episodes, "
            f"{own.steps:,} steps, {len(own.fields)} fields; set_state: {own.set_state}",
        ),
    ]


def precisions(verify: VerifyReport) -> list[str]:
    """Float widths of the performance side that any level compared."""
    found: list[str] = []
    for level in verify.levels:
        if isinstance(level, PropertyLevel):
            found += [row.precision for module in level.modules for row in module.comparisons]
        elif isinstance(level, InteractionLevel):
            found += [row.precision for scenario in level.scenarios for row in scenario.runs]
        elif isinstance(level, RolloutLevel):
            found += [row.precision for row in level.comparisons]
    return list(dict.fromkeys(found))


def contract(verify: VerifyReport) -> Table:
    """Every compared field: how closely, and why not more closely."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for precision, fields in verify.contract.items():
        for field in fields:
            why = field.reason or "equal bit for bit"
            step, free = (tolerance_text(field.tolerance(mode)) for mode in ("per_step", "free_running"))
            row = (precision, step, free, why)
            alike.setdefault(row, []).append(field.name)
    columns: dict[str, Kind] = {
        "fields": "code", "precision": "text", "tolerance per step": "number", "free running": "number", "why": "words",
    }  # fmt: skip
    return Table(columns, [[", ".join(names), *row] for row, names in alike.items()])


def margins(verify: VerifyReport) -> Table | None:
    """How many times as much every tolerance allows as was seen; None for a report that does not say it."""
    if not verify.margins:
        return None
    columns, rows = margin_rows(verify.margins)
    kinds: dict[str, Kind] = {"value": "code", "level": "text"}
    wide = frozenset(number for number, row in enumerate(rows) if any(cell.endswith("!") for cell in row))
    return Table({name: kinds.get(name, "number") for name in columns}, rows, wide)


def not_shown(verify: VerifyReport) -> list[str]:
    """What a reader must not conclude from this report."""
    said = ["Anything the contract does not name: pictures, messages, timing."]
    where = "the performance side ran on a GPU" if verify.backend == "cuda" else "both sides ran on the CPU"
    said.append(f"Parameters other than those the reference was built with, and other devices: {where}.")
    if verify.backend in ("c", "cuda"):
        said.append(
            "Random numbers of the kernel, which XLA drew, and long rollouts in one kernel: its steps were taken one "
            "by one, but for a few of level 2's self-checks."
        )
    ran = {level.level: level for level in verify.run}
    if missing := [number for number in (1, 2, 3, 4) if number not in ran]:
        said.append(f"What {numbered(missing)} would have seen: not part of this run.")
    walked = exhaustive(verify)
    if (bound := bound_text(verify)) is not None and not (walked and walked.proof):
        said.append(f"That no episode diverges: episodes are samples, and all that follows is that {bound}.")
    if rows := verify.comparisons:
        said.append(f"Episodes unlike those that were played ({', '.join(dict.fromkeys(c.actions for c in rows))}).")
        said += _left_out(rows)
    if isinstance(transfer := ran.get(4), TransferLevel):
        unseen = transfer.controls.unseen
        example = "" if unseen is None or unseen.seen else f" (the bug '{unseen.bug}' is one)"
        said.append(
            f"Equal returns are no proof of equal rules: returns hide errors{example}; levels 1 to 3 look closer."
        )
    if verify.adequacy is not None and verify.adequacy.survivors:
        said.append(f"Mistakes like the {len(verify.adequacy.survivors)} planted ones that no level found.")
    return said


def _left_out(rows: list[ComparisonResult]) -> list[str]:
    """What was played and not compared, or not to its end, with the contract's reasons."""
    said = []
    if late := sum(c.beyond_horizon for c in rows):
        why = _reasons(c.free_running_reason for c in rows if c.beyond_horizon)
        said.append(f"{late:,} free-running steps beyond the contract's horizon; single steps cover them. {why}")
    if excused := sum(c.excused_flags for c in rows):
        why = _reasons(c.limit_reason for c in rows if c.excused_flags)
        said.append(f"{excused:,} flags within the contract's margin of a threshold, which may fall either way. {why}")
    if rare := sum(c.rare_steps or 0 for c in rows):
        why = _reasons(c.rare_reason for c in rows if c.rare_steps and c.rare_reason)
        said.append(f"{rare:,} rare events, further off than other steps may be. {why}")
    if cut := sum(c.cut for c in rows):
        said.append(f"What comes after the contract's step limit: {cut:,} episodes without an end were cut there.")
    return said


def _reasons(reasons: Iterable[str]) -> str:
    return f"The reason: {'; '.join(dict.fromkeys(reasons))}."


def name_of(verify: VerifyReport | None, bench: Throughput | None) -> str:
    """The environment that the report is about."""
    return performance_name(verify) if verify else bench.environment if bench else ""
