"""Learning curves of all seeds of a training run, as a picture.

overclock train halfcheetah --seeds 10 --json > run.json
python scripts/plot_curves.py run.json curves.png
"""

import json
import sys
from pathlib import Path

import numpy as np

from overclock.bench.plots import blank, save

COLOUR = "#30638e"


def main(report: Path, picture: Path) -> None:
    """Every seed's mean return of finished episodes, and the median over seeds."""
    run = json.loads(report.read_text(encoding="utf-8"))
    figure = blank(7.0)
    axes = figure.add_subplot()
    curves = [np.array(seed["curve"]["return"], float) for seed in run["seeds"]]
    steps = np.array(run["seeds"][0]["curve"]["steps"]) / 1e6
    for place, curve in enumerate(curves):
        axes.plot(steps, curve, color=COLOUR, alpha=0.3, linewidth=0.8, label="one seed" if place == 0 else None)
    axes.plot(steps, np.median(curves, axis=0), color=COLOUR, linewidth=2.0, label=f"median of {len(curves)} seeds")
    axes.set_xlabel("million steps")
    axes.set_ylabel("return of finished episodes")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    figure.suptitle(f"PPO on {run['env']}, {run['device']}", fontsize=13, fontweight="bold")
    axes.set_title(f"{run['steps_per_second'] / 1e6:.1f} M steps/s over all seeds", fontsize=8, color="#555555")
    save(figure, picture)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
