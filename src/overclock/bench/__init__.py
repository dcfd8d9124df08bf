"""Throughput, measured honestly: what ran, how often, on what, beside whom. docs/benchmarks.md has the method."""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.bench.breakdown import measure_breakdown
    from overclock.bench.breakdown_plot import plot_breakdown
    from overclock.bench.config import BenchConfig
    from overclock.bench.plots import plot
    from overclock.bench.report import measure
    from overclock.bench.resets import measure_resets
    from overclock.bench.tables import markdown, table
    from overclock.bench.training import measure_training

__all__ = [
    "BenchConfig", "markdown", "measure", "measure_breakdown", "measure_resets", "measure_training", "plot",
    "plot_breakdown", "table",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BenchConfig": "overclock.bench.config",
        "measure": "overclock.bench.report",
        "measure_breakdown": "overclock.bench.breakdown",
        "measure_resets": "overclock.bench.resets",
        "measure_training": "overclock.bench.training",
        "plot_breakdown": "overclock.bench.breakdown_plot",
        "plot": "overclock.bench.plots",
        **dict.fromkeys(["markdown", "table"], "overclock.bench.tables"),
    },
)
