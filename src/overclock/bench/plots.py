"""The picture of a benchmark: steps per second against batch, one line per implementation."""

import io
import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING

from overclock.bench.config import XLA
from overclock.bench.results import Throughput
from overclock.bench.tables import device_name, rate
from overclock.errors import MissingError
from overclock.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUR_COLOURS = ("#d1495b", "#edae49")
PEER_COLOURS = ("#30638e", "#66a182", "#8d6a9f", "#5c6672")
MARKERS = "osD^v"
LABEL_SHIFT = 5
CLOSE = 0.25  # lines whose ends differ by less than this factor's logarithm have colliding labels

Point = tuple[int, float, float, float]  # the batch that ran, lowest, median, highest


def plot(report: Throughput, path: Path) -> None:
    """Draw a throughput report into a file; its suffix decides the format."""
    save(draw(report), path)


def save(figure: "Figure", path: Path) -> None:
    """Write a picture; the file's suffix decides the format."""
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lower().lstrip("."))
    write_whole(path, content.getvalue())


def blank(width: float) -> "Figure":
    """A picture with nothing on it, so many inches wide."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingError("Plots need matplotlib; install it with `pip install 'overclock[report]'`.") from error
    return Figure(figsize=(width, 5.0), dpi=160, layout="constrained")


def draw(report: Throughput) -> "Figure":
    """The picture of a throughput report."""
    figure = blank(8.0)
    from matplotlib.ticker import FuncFormatter

    axes = figure.add_subplot()
    lines = lines_of(report)
    ours, peers = itertools.cycle(OUR_COLOURS), itertools.cycle(PEER_COLOURS)
    for (name, points), marker in zip(lines.items(), itertools.cycle(MARKERS), strict=False):
        is_ours = name.startswith(XLA)
        batches, low, median, high = zip(*points, strict=True)
        colour = next(ours if is_ours else peers)
        axes.fill_between(batches, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            batches, median, label=name, color=colour, marker=marker, markersize=5,
            linewidth=2.4 if is_ours else 1.4, zorder=3 if is_ours else 2,
        )  # fmt: skip
        axes.annotate(
            rate(median[-1]), (batches[-1], median[-1]), xytext=(7, label_shift(lines, name)),
            textcoords="offset points", va="center", fontsize=8, color=colour,
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("batch (environments stepped together)")
    axes.set_ylabel("environment steps per second")
    axes.set_xticks(sorted({row.batch for row in report.results}))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: rate(value)))
    axes.margins(x=0.12)
    axes.grid(which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    stored = "outputs stored" if any(row.stored for row in report.results) else "outputs not stored"
    figure.suptitle(f"{report.environment} on {device_name(report)}", fontsize=13, fontweight="bold")
    axes.set_title(
        f"random actions and auto-reset included, {stored}; line: median, band: lowest to highest of "
        f"{report.results[0].sps.repeats} calls",
        fontsize=8, color="#555555",
    )  # fmt: skip
    return figure


def label_shift(lines: dict[str, list[Point]], name: str) -> int:
    """Points by which the label at a line's end moves up or down, away from another line that ends close by."""
    (batch, _, mine, _) = lines[name][-1]
    near = [
        points[-1][2] for other, points in lines.items()
        if other != name and points[-1][0] == batch and abs(math.log(points[-1][2] / mine)) < CLOSE
    ]  # fmt: skip
    return 0 if not near else LABEL_SHIFT if mine > max(near) else -LABEL_SHIFT


def lines_of(report: Throughput) -> dict[str, list[Point]]:
    """The points of each implementation; a capped peer keeps its first row at the batch that ran."""
    lines: dict[str, dict[int, Point]] = {}
    for row in report.results:
        sps, points = row.sps, lines.setdefault(row.implementation, {})
        points.setdefault(row.run_batch, (row.run_batch, sps.lowest, sps.median, sps.highest))
    return {name: [points[batch] for batch in sorted(points)] for name, points in lines.items()}
