"""Pictures that stand outside of a page too: errors of a chaotic system, and the learning curves of every seed."""

import math
from typing import TYPE_CHECKING

from overclock.bench.plots import OUR_COLOURS, PEER_COLOURS, blank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from overclock.verify.rollout.result import EnvelopeResult
    from overclock.verify.transfer.result import TransferLevel

OURS, THEIRS, FAINT = OUR_COLOURS[0], PEER_COLOURS[0], "#555555"
NAMES = {0.5: "the median episode", 0.9: "nine in ten episodes stay below", 1.0: "the worst episode (not judged)"}
SMALLEST = 1e-18  # where a logarithmic axis has no place for zero


def draw_envelope(found: "EnvelopeResult", title: str = "") -> "Figure":
    """Level 3's `envelope`: free running per share of the episodes, and single steps."""
    figure = blank(9.0)
    figure.set_size_inches(9.0, 6.2)
    grid = figure.subplots(2, 2)
    steps = found.curve_steps
    for axes, curve in zip(grid.flat, found.curves, strict=False):
        low, high = _positive(curve.reference_low), _positive(curve.reference_high)
        axes.fill_between(steps, low, high, color=THEIRS, alpha=0.45, linewidth=0, label="copies of the reference")
        if curve.judged_steps:
            allowed = [found.slack * value for value in high]
            axes.plot(steps, allowed, color=FAINT, linewidth=1, linestyle=":", label=f"allowed ({found.slack:g} x)")
        axes.plot(steps, _positive(curve.performance), color=OURS, linewidth=1.2, label="performance side")
        axes.set_xscale("log")  # errors grow in the first hundred steps, and stay as they are for hundreds more
        _logarithmic(axes, f"free running: {NAMES[curve.share]}")
    last = grid.flat[3]
    for curve, alpha in zip(found.per_step_curves, (1.0, 0.65, 0.35), strict=True):
        label = NAMES[curve.share].partition(" (")[0].removeprefix("the ")
        last.plot(steps, _positive(curve.performance), color=OURS, alpha=alpha, linewidth=1.2, label=label)
    last.axhline(found.per_step, color=FAINT, linewidth=1, linestyle=":", label="allowed")
    _logarithmic(last, "one step from the reference's own state")
    for axes in grid[1]:
        axes.set_xlabel("step of the episode")
    figure.supylabel(f"error of {found.field.removeprefix('state.')}", fontsize=9)
    if title:
        figure.suptitle(title, fontsize=12, fontweight="bold")
    return figure


def draw_curves(level: "TransferLevel", title: str) -> "Figure":
    """Level 4's curves: return against environment steps, a thin line per seed and a thick one for their mean."""
    figure = blank(8.0)
    figure.set_size_inches(8.0, 4.2)
    axes = figure.add_subplot()
    for (side, curve), colour in zip(sorted(level.curves.items()), (OURS, THEIRS), strict=False):
        for line in curve.seeds:
            axes.plot(curve.steps, _numbers(line), color=colour, alpha=0.35, linewidth=0.8)
        name = "the reference" if side == "reference" else "the performance side"
        label = f"trained on {name}, {len(curve.seeds)} seeds"
        axes.plot(curve.steps, _numbers(curve.mean), color=colour, linewidth=2.2, label=label)
    axes.set_xlabel("environment steps")
    axes.set_ylabel("return of finished episodes")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=12, fontweight="bold")
    return figure


def _logarithmic(axes: "Axes", title: str) -> None:
    axes.set_yscale("log")
    axes.set_title(title, fontsize=9)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7, loc="best")


def _positive(values: "Sequence[float]") -> list[float]:
    """For a logarithmic axis, which has no zero; not-a-number stays."""
    return [value if math.isnan(value) else max(value, SMALLEST) for value in values]


def _numbers(values: "Sequence[float | None]") -> list[float]:
    return [float("nan") if value is None else value for value in values]
