"""A report as a table: for the terminal (rich) and for documents (Markdown). Both show the same cells."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from overclock.bench.config import XLA
from overclock.bench.results import Breakdown, Report, ResetComparison, ResetRow, Row, Throughput, Timed, TrainingSpeed

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = [
    "batch",
    "implementation",
    "steps/s",
    "lowest .. highest",
    "steps/call",
    "episode",
    "compile",
    "fastest of ours is",
]
RESET_COLUMNS = ["strategy", "steps/s", "lowest .. highest", "time per step", "resets shared", "compile"]
BREAKDOWN_COLUMNS = [
    "parameters", "implementation", "rollout steps/s", "training steps/s", "environment", "inference", "update",
    "transfer", "iteration", "MFU",
]  # fmt: skip
TRAINING_COLUMNS = [
    "lanes", "implementation", "steps/s", "lowest .. highest", "return", "MFU", "compile", "fastest of ours is",
]  # fmt: skip
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "K"))


def rate(sps: float) -> str:
    """A large number, mostly of steps per second, with three digits: 34.1 G, 780 K."""
    for unit, letter in UNITS:
        if sps >= unit * 0.9995:
            return f"{sps / unit:.3g} {letter}" if sps < unit * 999.5 else f"{sps / unit:,.0f} {letter}"
    return f"{sps:.3g}"


def compared(ratio: float) -> str:
    """A ratio of speeds in words: 12.5x faster, 1,950x faster, 1.2x slower."""
    larger = max(ratio, 1 / ratio)
    return f"{larger:{',.0f' if larger >= 100 else '.3g'}}x {'faster' if ratio >= 1 else 'slower'}"


def rows(report: Throughput) -> list[list[str]]:
    """The cells of a throughput report, in the order of `COLUMNS`."""
    against, cells = _best_ratios(report), []
    for row in report.results:
        ran = "" if row.run_batch == row.batch else f" (at {row.run_batch:,})"
        cells.append(
            [
                f"{row.batch:,}",
                _name(row) + ran,
                *_rates(row),
                f"{row.steps_per_call:,}",
                _or_dash(row.mean_episode_length, "{:.1f}"),
                _or_dash(row.compile_seconds, "{:.1f} s"),
                against(row),
            ]
        )
    return cells


def training_rows(report: TrainingSpeed) -> list[list[str]]:
    """The cells of a report on training, in the order of `TRAINING_COLUMNS`."""
    against = _best_ratios(report)
    return [
        [
            f"{row.batch:,}",
            _name(row),
            *_rates(row),
            _or_dash(row.return_, "{:.1f}"),
            _or_dash(row.mfu, "{:.1%}"),
            f"{row.compile_seconds:.1f} s",
            against(row),
        ]
        for row in report.results
    ]


def _best_ratios(report: Throughput | TrainingSpeed) -> Callable[[Timed], str]:
    """What to say of a row: by how much the fastest of ours beats it, or nothing."""
    best: dict[tuple[int, str], float] = {}
    for entry in report.ratios:
        key = (entry.batch, entry.peer)
        best[key] = max(entry.ratio, best.get(key, 0.0))

    def words(row: Timed) -> str:
        ratio = best.get((row.batch, row.implementation))
        return "-" if ratio is None else compared(ratio)

    return words


def _name(row: Timed) -> str:
    return row.implementation if row.implementation.startswith(XLA) else f"{row.implementation} {row.version}"


def reset_rows(report: ResetComparison) -> list[list[str]]:
    """The cells of a report on reset strategies, in the order of `RESET_COLUMNS`."""
    return [
        [
            row.strategy,
            *_rates(row),
            f"{row.cost:.2f}x",
            shared(row),
            _or_dash(row.compile_seconds, "{:.1f} s"),
        ]
        for row in report.results
    ]


def breakdown_rows(report: Breakdown) -> list[list[str]]:
    """The cells of a report on the parts of training, in the order of `BREAKDOWN_COLUMNS`."""
    return [
        [
            rate(row.parameters),
            row.implementation,
            "-" if row.rollout_sps is None else rate(row.rollout_sps),
            rate(row.sps),
            *(f"{share:.1%}" for share in vars(row.share).values()),
            f"{row.seconds.total * 1e3:.1f} ms",
            _or_dash(row.mfu, "{:.1%}"),
        ]
        for row in report.results
    ]


def shared(row: ResetRow) -> str:
    """The share of restarts that shared an episode, or why there is no such number."""
    if row.shared_share is None:
        return "n/a (stored)" if row.strategy.startswith("pool:") else "n/a"
    return f"{row.shared_share:.1%}"


def columns_and_rows(report: Report) -> tuple[list[str], list[list[str]]]:
    """The table of any kind of report."""
    match report:
        case ResetComparison():
            return RESET_COLUMNS, reset_rows(report)
        case Breakdown():
            return BREAKDOWN_COLUMNS, breakdown_rows(report)
        case TrainingSpeed():
            return TRAINING_COLUMNS, training_rows(report)
    return COLUMNS, rows(report)


def title(report: Report) -> str:
    """What was measured, where and when, in one line."""
    at = f", batch {report.batch:,}" if isinstance(report, ResetComparison) else ""
    stored = ", outputs stored" if any(getattr(row, "stored", False) for row in report.results) else ""
    where = f"{device_name(report)}, jax {report.machine.jax}"
    return f"{report.environment}{at}{stored} on {where}, {report.date[:10]}"


def notes(report: Report) -> list[str]:
    """What a reader must know of some rows, with their batches, and what was not measured: a sentence each."""
    batches: dict[tuple[str, str], list[str]] = {}
    for row in report.results:
        if isinstance(row, Timed) and row.note:
            batches.setdefault((row.implementation, row.note), []).append(f"{row.batch:,}")
    found = [f"{name} (batch {' and '.join(at)}): {note}." for (name, note), at in batches.items()]
    found += [
        f"WARNING: {row.implementation} (batch {row.batch:,}) ran out of room in {row.overflowed:,} steps, which are "
        "not the reference's (docs/translator.md, Capacities)."
        for row in report.results
        if isinstance(row, Row) and row.overflowed
    ]
    skipped = [] if isinstance(report, ResetComparison) else report.skipped
    return list(dict.fromkeys([*found, *(f"not measured: {one.implementation}: {one.reason}" for one in skipped)]))


def device_name(report: Report) -> str:
    """The device by its own name, or the processor and its cores where JAX only says 'cpu'."""
    machine = report.machine
    return f"{machine.cpu} ({machine.cores} cores)" if machine.platform == "cpu" else machine.device


def table(report: Report) -> "Table":
    """The table of a report for the terminal."""
    from rich.table import Table
    from rich.text import Text

    columns, cells = columns_and_rows(report)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        shown.add_column(name, justify="left" if name in ("implementation", "strategy") else "right")
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def markdown(report: Report) -> str:
    """For documents: the table, the machine and the command that repeats it."""
    columns, cells = columns_and_rows(report)
    rule = ["---" if name in ("implementation", "strategy") else "---:" for name in columns]
    lines = ["| " + " | ".join(line) + " |" for line in (columns, rule, *cells)]
    return "\n".join([f"{title(report)}; `{report.command}`:", "", *lines, ""])


def _rates(row: Timed | ResetRow) -> list[str]:
    sps = row.sps
    return [rate(sps.median), f"{rate(sps.lowest)} .. {rate(sps.highest)}"]


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
