"""The picture of a breakdown: one bar per implementation and network, stacked by part."""

from pathlib import Path
from typing import TYPE_CHECKING

from overclock.bench.plots import blank, save
from overclock.bench.results import Breakdown
from overclock.bench.tables import device_name, rate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"environment": "#d1495b", "inference": "#30638e", "update": "#66a182", "transfer": "#edae49"}
LEAST_LABEL = 0.04  # of a bar; smaller parts have no room for their number


def plot_breakdown(report: Breakdown, path: Path) -> None:
    """Draw a breakdown into a file; its suffix decides the format."""
    save(draw(report), path)


def draw(report: Breakdown) -> "Figure":
    """The picture of a breakdown."""
    figure = blank(9.0)
    axes = figure.add_subplot()
    labels = []
    for place, row in enumerate(report.results):
        bottom = 0.0
        for part, colour in COLOURS.items():
            share = getattr(row.share, part)
            axes.bar(place, share, bottom=bottom, color=colour, width=0.7, label=part if place == 0 else None)
            if share >= LEAST_LABEL:
                axes.text(
                    place, bottom + share / 2, f"{share:.0%}", ha="center", va="center", color="white", fontsize=8
                )
            bottom += share
        axes.text(place, 1.01, f"{rate(row.sps)}/s", ha="center", va="bottom", fontsize=7, color="#555555")
        labels.append(f"{row.implementation}\n{rate(row.parameters)}")
    axes.set_xticks(range(len(labels)), labels, fontsize=8)
    axes.set_ylim(0, 1.08)
    axes.set_ylabel("share of an iteration")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.1))
    figure.suptitle(f"Training on {report.environment}, {device_name(report)}", fontsize=13, fontweight="bold")
    axes.set_title(report.iteration, fontsize=8, color="#555555", pad=14)
    return figure
